#include "explore/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>

namespace deputy::explore {
namespace {

constexpr const char* kSchema = R"(
pragma journal_mode = wal;
pragma synchronous = normal;
create table if not exists run (key text primary key, parameters text not null,
                                workload text not null, status text not null,
                                reason text not null) without rowid;
create table if not exists value (key text not null, name text not null, value real not null,
                                  primary key (key, name)) without rowid;
)";
constexpr int kApplication = 0x44505831;  // "DPX1"

}  // namespace

struct Store::Impl {
  std::string path;
  int lock = -1;
  sqlite3* db = nullptr;
  std::map<std::string, sqlite3_stmt*> prepared;

  ~Impl() {
    for (const auto& [sql, statement] : prepared) sqlite3_finalize(statement);
    if (db) sqlite3_close(db);
    if (lock >= 0) ::close(lock);
  }

  base::Error error(const char* remedy = "check the file, or name another with --db") const {
    return {base::ErrorKind::kIo, path, db ? sqlite3_errmsg(db) : "no memory", remedy};
  }

  base::Status execute(const char* sql) {
    if (sqlite3_exec(db, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return error();
    return {};
  }

  // From the database that is attached as `other`, in one transaction that an error leaves open.
  base::Status take_over(const std::string& from) {
    DEPUTY_TRY(execute("begin immediate"));
    // What died here and not there. Runs that died have no values.
    DEPUTY_TRY(
        execute("delete from main.run where status in ('crashed', 'hung') and key in "
                "(select key from other.run where status not in ('crashed', 'hung'))"));
    sqlite3_stmt* unequal = bind(
        "select count(*) from main.run as a join other.run as b on a.key = b.key "
        "where b.status not in ('crashed', 'hung') and (a.status != b.status or "
        "exists (select name, value from main.value where key = a.key except select name, value "
        "from other.value where key = a.key) or "
        "exists (select name, value from other.value where key = a.key except select name, value "
        "from main.value where key = a.key))",
        {});
    if (!unequal || sqlite3_step(unequal) != SQLITE_ROW) return error();
    const auto count = sqlite3_column_int64(unequal, 0);
    sqlite3_reset(unequal);
    if (count > 0)
      return base::Error{
          base::ErrorKind::kMismatch, from,
          fmt::format("{} of its runs came to another end here, under the same key", count),
          "one of the two files was changed, or the simulator does not repeat itself"};
    DEPUTY_TRY(
        execute("insert into main.value select * from other.value where key not in (select key "
                "from main.run) and "
                "key in (select key from other.run)"));
    DEPUTY_TRY(execute("insert or ignore into main.run select * from other.run"));
    return execute("commit");
  }

  // The statement with its parameters bound, ready for the first step; null when SQLite refuses.
  sqlite3_stmt* bind(const char* sql, std::initializer_list<std::string> texts) {
    sqlite3_stmt*& statement = prepared[sql];
    if (!statement && sqlite3_prepare_v2(db, sql, -1, &statement, nullptr) != SQLITE_OK)
      return nullptr;
    sqlite3_reset(statement);
    int i = 0;
    for (const std::string& text : texts)
      sqlite3_bind_text(statement, ++i, text.data(), static_cast<int>(text.size()),
                        SQLITE_TRANSIENT);
    return statement;
  }
};

namespace {

std::string text_of(sqlite3_stmt* statement, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
  return text ? std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement, column)))
              : "";
}

}  // namespace

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

base::Result<Store> Store::open(const std::string& path) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  const auto folder = std::filesystem::path(path).parent_path();
  std::error_code ignored;
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
  // A lock of the process, which its children do not inherit and its death ends.
  impl->lock = ::open((path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (impl->lock < 0)
    return base::Error{base::ErrorKind::kIo, path + ".lock", "cannot be written",
                       "check the folder"};
  struct flock whole {};
  whole.l_type = F_WRLCK, whole.l_whence = SEEK_SET;
  if (fcntl(impl->lock, F_SETLK, &whole) != 0)
    return base::Error{base::ErrorKind::kIo, path, "another process is working with it",
                       "wait for that, or name another file with --db"};
  if (sqlite3_open(path.c_str(), &impl->db) != SQLITE_OK) return impl->error();
  sqlite3_busy_timeout(impl->db, 10000);  // somebody may look at the file meanwhile
  sqlite3_stmt* id = impl->bind("pragma application_id", {});
  if (!id || sqlite3_step(id) != SQLITE_ROW) return impl->error();
  const int application = sqlite3_column_int(id, 0);
  sqlite3_reset(id);
  sqlite3_stmt* tables = impl->bind("select count(*) from sqlite_master", {});
  if (!tables || sqlite3_step(tables) != SQLITE_ROW) return impl->error();
  const bool fresh = sqlite3_column_int(tables, 0) == 0;
  sqlite3_reset(tables);
  if (!fresh && application != kApplication)
    return base::Error{base::ErrorKind::kIo, path,
                       "holds something else, not an exploration's results",
                       "name another file with --db"};
  // The mark first: a process that dies between the two leaves an empty file.
  DEPUTY_TRY(impl->execute(fmt::format("pragma application_id = {}", kApplication).c_str()));
  DEPUTY_TRY(impl->execute(kSchema));
  return Store(std::move(impl));
}

base::Result<std::optional<StoredRun>> Store::find(const std::string& key) {
  sqlite3_stmt* run =
      impl_->bind("select parameters, workload, status, reason from run where key = ?", {key});
  if (!run) return impl_->error();
  const int found = sqlite3_step(run);
  if (found == SQLITE_DONE) return std::optional<StoredRun>();
  if (found != SQLITE_ROW) return impl_->error();
  StoredRun out{key, text_of(run, 0), text_of(run, 1), text_of(run, 2), text_of(run, 3), {}};
  sqlite3_reset(run);
  sqlite3_stmt* value = impl_->bind("select name, value from value where key = ?", {key});
  if (!value) return impl_->error();
  while (sqlite3_step(value) == SQLITE_ROW)
    out.values[text_of(value, 0)] = sqlite3_column_double(value, 1);
  sqlite3_reset(value);
  return std::optional<StoredRun>(std::move(out));
}

base::Status Store::add(const StoredRun& run) {
  DEPUTY_TRY(impl_->execute("begin immediate"));
  sqlite3_stmt* row = impl_->bind("insert or ignore into run values (?, ?, ?, ?, ?)",
                                  {run.key, run.parameters, run.workload, run.status, run.reason});
  bool good = row && sqlite3_step(row) == SQLITE_DONE;
  for (const auto& [name, number] : run.values) {
    if (!good) break;
    sqlite3_stmt* value =
        impl_->bind("insert or ignore into value values (?, ?, ?)", {run.key, name});
    good = value && sqlite3_bind_double(value, 3, number) == SQLITE_OK &&
           sqlite3_step(value) == SQLITE_DONE;
  }
  if (good) return impl_->execute("commit");
  const base::Error error = impl_->error("is the disk full?");
  (void)impl_->execute("rollback");
  return error;
}

base::Status Store::merge(const std::string& path) {
  std::error_code ec;
  if (std::filesystem::equivalent(path, impl_->path, ec)) return {};
  if (!std::filesystem::exists(path, ec))
    return base::Error{base::ErrorKind::kIo, path, "there is no such file", "check the path"};
  DEPUTY_TRY(Store::open(path));  // is it one, and does nobody write it?
  sqlite3_stmt* attach = impl_->bind("attach database ? as other", {path});
  if (!attach || sqlite3_step(attach) != SQLITE_DONE) return impl_->error();
  sqlite3_reset(attach);
  const base::Status taken = impl_->take_over(path);
  if (!taken.ok())
    (void)impl_->execute(
        "rollback");  // without it the file could not be detached; there may be nothing to undo
  const base::Status detached = impl_->execute("detach database other");
  DEPUTY_TRY(taken);
  return detached;
}

base::Status Store::forget_dead() {
  return impl_->execute("delete from run where status in ('crashed', 'hung')");
}

base::Result<std::size_t> Store::size() {
  sqlite3_stmt* count = impl_->bind("select count(*) from run", {});
  if (!count || sqlite3_step(count) != SQLITE_ROW) return impl_->error();
  const auto out = static_cast<std::size_t>(sqlite3_column_int64(count, 0));
  sqlite3_reset(count);
  return out;
}

}  // namespace deputy::explore
