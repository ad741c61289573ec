#include "tools/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/check.h"
#include "tools/json_text.h"

namespace deputy::tools {
namespace {

// Terminal columns of UTF-8 text: continuation bytes take none. Enough for the Latin text printed
// here.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string scaled(double value, double step, const std::array<std::string_view, 5>& units) {
  std::size_t unit = 0;
  while (std::abs(value) >= step && unit + 1 < units.size()) value /= step, ++unit;
  const int decimals = std::abs(value) >= 100 ? 1 : std::abs(value) >= 10 ? 2 : 3;
  if (unit == 0 && value == std::floor(value)) return fmt::format("{:.0f} {}", value, units[0]);
  return fmt::format("{:.{}f} {}", value, decimals, units[unit]);
}

}  // namespace

Table::Table(std::vector<std::string> titles) {
  for (auto& title : titles) {
    right_.push_back(title.starts_with('>'));
    titles_.push_back(right_.back() ? title.substr(1) : title);
  }
}

void Table::row(std::vector<std::string> cells) {
  DEPUTY_CHECK(cells.size() == titles_.size(), "a table row has the wrong number of cells");
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < titles_.size(); ++c) {
    std::size_t width = width_of(titles_[c]);
    for (const auto& row : rows_) width = std::max(width, width_of(row[c]));
    widths.push_back(width);
  }
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text = " ";
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::string pad(widths[c] - width_of(cells[c]), ' ');
      text += " " + (right_[c] ? pad + cells[c] : cells[c] + pad) + " ";
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  };
  line(titles_);
  std::vector<std::string> rule;
  for (auto width : widths) rule.emplace_back(width, '-');
  line(rule);
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    std::vector<std::string> cells = rows_[r];
    for (std::size_t c = 0; r > 0 && c < blank_ && rows_[r][c] == rows_[r - 1][c]; ++c)
      cells[c].clear();
    line(cells);
  }
  return out;
}

std::string Table::json(const std::string& format) const {
  auto rows = nlohmann::ordered_json::array();
  for (const auto& row : rows_) {
    rows.emplace_back();
    for (std::size_t c = 0; c < row.size(); ++c) rows.back()[titles_[c]] = row[c];
  }
  return json_text(format, {{"rows", rows}});
}

std::string human_bytes(double bytes) {
  return scaled(bytes, 1024, {"B", "KiB", "MiB", "GiB", "TiB"});
}
std::string percent(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "-";
}
std::string human_count(double count) {
  std::string text = scaled(count, 1000, {"", "k", "M", "G", "T"});
  if (text.ends_with(' ')) text.pop_back();
  return text;
}
std::string human_time(double ns) { return scaled(ns, 1000, {"ns", "us", "ms", "s", "ks"}); }
std::string human_energy(double nj) {
  if (nj != 0 && std::abs(nj) < 1) return fmt::format("{:.1f} pJ", nj * 1000);
  return scaled(nj, 1000, {"nJ", "uJ", "mJ", "J", "kJ"});
}

}  // namespace deputy::tools
