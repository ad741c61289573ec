// Runs the real `deputy` program, as a user would.
#pragma once

#include <string>
#include <vector>

namespace deputy::test {

struct Outcome {
  int exit_code = -1;  ///< -1: killed by a signal
  std::string out, err;
};
Outcome run_deputy(const std::vector<std::string>& arguments);

/// A fresh folder below the system's temporary folder, removed with its contents at destruction.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string read_text(const std::string& path);
void write_text(const std::string& path, const std::string& text);

/// The project's own file, from the top folder.
std::string project_file(const std::string& name);
/// The golden data beside the project, or "" (with a line on stderr saying what is skipped) when
/// absent.
std::string shared_data(const std::string& name);

}  // namespace deputy::test
