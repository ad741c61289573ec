#include "api/compiled_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "api/cache_entry.h"

namespace deputy::api {
namespace {

namespace fs = std::filesystem;
constexpr const char* kEnding = ".dce";
constexpr const char* kTemporary = ".writing";

class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() { close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }
  bool ok() const { return fd_ >= 0; }
  bool close() {
    const bool good = fd_ < 0 || ::close(fd_) == 0;
    fd_ = -1;
    return good;
  }

 private:
  int fd_;
};

base::Error io(const std::string& path, const std::string& what) {
  return {base::ErrorKind::kIo, path, what + ": " + std::strerror(errno),
          "check the folder's permissions and free space"};
}

bool write_all(int fd, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return true;
}

// An open file keeps its contents when another process renames over it or removes it.
base::Result<std::vector<std::uint8_t>> read_open(const File& file, const std::string& path) {
  struct stat status;
  if (fstat(file.fd(), &status) != 0) return io(path, "cannot read the entry");
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(status.st_size));
  std::size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t n = ::read(file.fd(), bytes.data() + at, bytes.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io(path, "cannot read the entry");
    if (n == 0) break;
    at += static_cast<std::size_t>(n);
  }
  bytes.resize(at);
  return bytes;
}

// Writes and renames once; `lost` when the unfinished file was removed under our hands.
base::Status publish(const std::string& folder, const std::string& target,
                     std::span<const std::uint8_t> bytes, bool& lost) {
  static std::atomic<unsigned> count{0};
  const std::string part = fmt::format("{}.{}.{}{}", target, getpid(), count++, kTemporary);
  lost = false;
  File file(::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file.ok()) return io(part, "cannot write the entry");
  // A lock that ends with the process tells an unfinished file from an abandoned one.
  flock(file.fd(), LOCK_EX);
  if (!write_all(file.fd(), bytes) || fsync(file.fd()) != 0) {
    const base::Error error = io(part, "cannot write the entry");
    ::unlink(part.c_str());
    return error;
  }
  if (::rename(part.c_str(), target.c_str()) != 0) {
    lost = errno == ENOENT;
    const base::Error error = io(target, "cannot move the entry into place");
    ::unlink(part.c_str());
    return error;
  }
  File directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.ok()) fsync(directory.fd());
  return {};
}

// True when nobody is writing it.
bool abandoned(const std::string& path) {
  File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file.ok() && flock(file.fd(), LOCK_EX | LOCK_NB) == 0;
}

struct OnDisk {
  std::string path, key;
  std::uint64_t bytes = 0;
  timespec used{};
};

// Least recently used first. Entries that vanish meanwhile are left out.
base::Result<std::vector<OnDisk>> scan(const std::string& folder,
                                       std::vector<std::string>* temporary) {
  std::vector<OnDisk> out;
  std::error_code ec;
  fs::directory_iterator it(folder, ec);
  if (ec == std::errc::no_such_file_or_directory) return out;
  for (; !ec && it != fs::directory_iterator(); it.increment(ec)) {
    const std::string path = it->path().string(), name = it->path().filename().string();
    if (temporary && name.ends_with(kTemporary)) temporary->push_back(path);
    struct stat status;
    if (!name.ends_with(kEnding) || ::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
      continue;
    out.push_back({path, name.substr(0, name.size() - std::strlen(kEnding)),
                   static_cast<std::uint64_t>(status.st_size), status.st_mtim});
  }
  if (ec)
    return base::Error{base::ErrorKind::kIo, folder,
                       "cannot read the cache folder: " + ec.message(), "check the path"};
  std::sort(out.begin(), out.end(), [](const OnDisk& a, const OnDisk& b) {
    if (a.used.tv_sec != b.used.tv_sec) return a.used.tv_sec < b.used.tv_sec;
    return a.used.tv_nsec != b.used.tv_nsec ? a.used.tv_nsec < b.used.tv_nsec : a.key < b.key;
  });
  return out;
}

CacheEntry examine(const OnDisk& entry) {
  CacheEntry out{entry.key, "", entry.bytes, ""};
  File file(::open(entry.path.c_str(), O_RDONLY | O_CLOEXEC));
  const auto bytes =
      file.ok() ? read_open(file, entry.path)
                : base::Result<std::vector<std::uint8_t>>(io(entry.path, "cannot open the entry"));
  if (!bytes.ok()) {
    out.problem = bytes.error().message;
    return out;
  }
  const EntryView view = parse_entry(*bytes);
  out.problem = view.problem;
  out.model = view.model;
  if (out.problem.empty() && hex(view.key) != entry.key)
    out.problem = "it is another program's entry";
  return out;
}

}  // namespace

std::string CompiledCache::path(const std::string& key) const {
  return folder_ + "/" + key + kEnding;
}

CompiledCache::Found CompiledCache::find(const Digest& key) const {
  const std::string at = path(hex(key));
  File file(::open(at.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.ok()) {
    if (errno == ENOENT || errno == ENOTDIR) return {};
    return {false, {}, std::string("cannot open the entry: ") + std::strerror(errno)};
  }
  const auto bytes = read_open(file, at);
  if (!bytes.ok()) return {false, {}, bytes.error().message};
  const EntryView view = parse_entry(*bytes);
  if (!view.problem.empty()) return {false, {}, view.problem};
  if (view.key != key) return {false, {}, "it is another program's entry"};
  futimens(file.fd(), nullptr);  // a folder that is only readable keeps no order of use
  return {true, {view.payload.begin(), view.payload.end()}, ""};
}

base::Status CompiledCache::store(const Digest& key, const std::string& model,
                                  std::span<const std::uint8_t> payload) const {
  std::error_code ec;
  fs::create_directories(folder_, ec);
  if (ec)
    return base::Error{base::ErrorKind::kIo, folder_,
                       "cannot create the cache folder: " + ec.message(),
                       "check the path and its permissions"};
  const std::string name = hex(key);
  const std::vector<std::uint8_t> entry = format_entry(key, model, payload);
  bool lost = true;
  base::Status status;
  for (int attempt = 0; lost && attempt < 3; ++attempt)
    status = publish(folder_, path(name), entry, lost);
  DEPUTY_TRY(status);
  DEPUTY_TRY(shrink(limit_, name, false));
  return {};
}

base::Result<std::vector<CacheEntry>> CompiledCache::list() const {
  DEPUTY_ASSIGN(const auto entries, scan(folder_, nullptr));
  std::vector<CacheEntry> out;
  for (const OnDisk& entry : entries) out.push_back(examine(entry));
  return out;
}

base::Result<CompiledCache::Pruned> CompiledCache::prune(std::uint64_t limit) const {
  return shrink(limit, "", true);
}

// `keep` is the key of an entry that stays; `damaged`: verify all and remove what is not right, and
// leftovers.
base::Result<CompiledCache::Pruned> CompiledCache::shrink(std::uint64_t limit,
                                                          const std::string& keep,
                                                          bool damaged) const {
  std::vector<std::string> temporary;
  DEPUTY_ASSIGN(const auto entries, scan(folder_, &temporary));
  Pruned out;
  if (damaged)
    for (const std::string& path : temporary)
      if (abandoned(path) && ::unlink(path.c_str()) == 0) ++out.leftovers;
  std::uint64_t total = 0;
  for (const OnDisk& entry : entries) total += entry.bytes;
  for (const OnDisk& entry : entries) {
    const bool over = total > limit && entry.key != keep;
    if (!over && !(damaged && !examine(entry).problem.empty())) continue;
    // Another process may have removed it first.
    if (::unlink(entry.path.c_str()) != 0 && errno != ENOENT)
      return io(entry.path, "cannot remove the entry");
    total -= entry.bytes;
    ++out.entries, out.bytes += entry.bytes;
  }
  return out;
}

base::Result<CompiledFile> compile_cached(
    const CompiledCache* cache, const KeyParts& parts,
    const std::function<base::Result<arch::Executable>()>& compile) {
  CompiledFile out;
  Digest key{};
  if (cache) {
    key = compile_key(parts);
    out.cache = {"miss", hex(key), ""};
    CompiledCache::Found found = cache->find(key);
    if (found.hit) {
      // The digest says that it is what was stored; this, that it was sound.
      const auto executable = arch::read_executable(found.payload, out.cache.key);
      if (executable.ok()) {
        out.bytes = std::move(found.payload);
        out.cache.state = "hit";
        return out;
      }
      found.problem = executable.error().message;
    }
    if (!found.problem.empty())
      out.cache.state = "damaged",
      out.cache.text = fmt::format("the cached program {} was not used: {}; compiled again",
                                   out.cache.key.substr(0, 12), found.problem);
  }
  DEPUTY_ASSIGN(const arch::Executable executable, compile());
  out.bytes = arch::write_executable(executable);
  if (!cache) return out;
  if (const base::Status status = cache->store(key, parts.model_name, out.bytes); !status.ok()) {
    if (out.cache.state == "miss") out.cache.state = "unwritable";
    out.cache.text += (out.cache.text.empty() ? "" : "; ") +
                      ("the program was compiled but not cached: " + status.error().text());
  }
  return out;
}

}  // namespace deputy::api
