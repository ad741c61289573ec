#include "tests/system/deputy_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/source_dir.h"

// libsystemc refers to it; Catch2's main() is used instead.
extern "C" int sc_main(int, char**) { return 0; }

namespace deputy::test {
namespace fs = std::filesystem;

TempFolder::TempFolder() {
  std::string name = (fs::temp_directory_path() / "deputy-test-XXXXXX").string();
  if (!mkdtemp(name.data())) std::abort();
  path_ = name;
}
TempFolder::~TempFolder() {
  std::error_code ec;
  fs::remove_all(path_, ec);
}

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string project_file(const std::string& name) { return tests::source_dir() + "/" + name; }

std::string shared_data(const std::string& name) {
  const std::string path = project_file("../shared/data/" + name);
  if (fs::exists(path)) return path;
  std::fprintf(stderr, "SKIPPED: needs the golden data at %s\n", path.c_str());
  return "";
}

Outcome run_deputy(const std::vector<std::string>& arguments) {
  TempFolder folder;
  const std::string out = folder.file("out"), err = folder.file("err");
  const pid_t pid = fork();
  if (pid == 0) {
    if (!std::freopen(out.c_str(), "w", stdout) || !std::freopen(err.c_str(), "w", stderr))
      _exit(127);
    std::vector<char*> argv{const_cast<char*>("deputy")};
    for (const auto& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
    argv.push_back(nullptr);
    execv(DEPUTY_BINARY, argv.data());
    _exit(127);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_text(out), read_text(err)};
}

}  // namespace deputy::test
