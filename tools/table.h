// Plain-text tables for the terminal: columns aligned, numbers to the right.
#pragma once

#include <string>
#include <vector>

namespace deputy::tools {

class Table {
 public:
  /// A column title; a leading '>' right-aligns the column.
  explicit Table(std::vector<std::string> titles);
  void row(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  /// Lines indented by two spaces, titles underlined, each ending in a newline.
  std::string text() const;

 private:
  std::vector<std::string> titles_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

std::string human_bytes(double bytes);        ///< "1.50 MiB"
std::string human_count(double count);        ///< "2.66 M"
std::string human_time(double nanoseconds);   ///< "1.234 ms"
std::string human_energy(double nanojoules);  ///< "1.234 uJ"

}  // namespace deputy::tools
