// The include rules of docs/architecture.md as a table, and the checker that reads a file against
// them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace deputy::house {

struct Violation {
  std::string file;  ///< relative to the project's top folder
  int line = 0;
  std::string message;
};

/// Checks one file's text. `file` is its path from the top folder, with '/' separators.
std::vector<Violation> check_includes(const std::string& file, const std::string& text);

/// Every C++ file of the project below `top` (build output and hidden folders left out), sorted.
std::vector<std::string> project_sources(const std::filesystem::path& top);

}  // namespace deputy::house
