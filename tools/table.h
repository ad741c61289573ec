// Plain-text tables for the terminal: columns aligned, numbers to the right.
#pragma once

#include <cstddef>
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
  /// "rows": an object a row: title -> cell, as text (json_text.h).
  std::string json(const std::string& format) const;
  /// In text(), cells of the first `columns` columns that repeat the row above, each with those
  /// before it, are left blank.
  void blank_repeats(std::size_t columns) { blank_ = columns; }

 private:
  std::vector<std::string> titles_;
  std::vector<bool> right_;
  std::size_t blank_ = 0;
  std::vector<std::vector<std::string>> rows_;
};

std::string human_bytes(double bytes);           ///< "1.50 MiB"
std::string human_count(double count);           ///< "2.66 M"
std::string human_time(double nanoseconds);      ///< "1.234 ms"
std::string human_energy(double nanojoules);     ///< "1.234 uJ"
std::string percent(double part, double whole);  ///< "12.3 %"; "-" of nothing

}  // namespace deputy::tools
