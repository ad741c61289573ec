// What the table was when somebody last agreed with it, and what departs from that.
#include <fmt/format.h>

#include <cmath>

#include "base/config.h"
#include "tools/validate.h"

namespace deputy::tools {
namespace {

struct FileRow {
  std::string id;
  double reference = 0, ours = 0;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.id, Field{.name = "id", .doc = "of the row"});
    v(s.reference, Field{.name = "reference", .doc = "the reference's number"});
    v(s.ours, Field{.name = "ours", .doc = "our number"});
  }
};

std::string drift_of(const ValidationRow& row, const Baseline& baseline) {
  const auto it = baseline.find(row.anchor.id);
  if (it == baseline.end()) return "not in the baseline";
  ValidationRow before = row;
  before.reference = it->second.reference, before.ours = it->second.ours;
  if (before.verdict() != row.verdict())
    return fmt::format("was {} with {:.6g}", verdict_text(before.verdict()), before.ours);
  // Absolute for what is about zero.
  const double change =
      100 * std::abs(row.ours - before.ours) / std::max(std::abs(before.ours), 1e-9);
  if (change > kDriftPercent)
    return fmt::format("was {:.6g}, {:+.1f} %", before.ours, 100 * (row.ours / before.ours - 1));
  return "";
}

}  // namespace

base::Result<Baseline> load_baseline(const std::string& path) {
  DEPUTY_ASSIGN(auto config, base::Config::from_file(path));
  Baseline out;
  for (int i = 0; config.has_group(fmt::format("rows.{}", i)); ++i) {
    FileRow row;
    DEPUTY_TRY(config.load(fmt::format("rows.{}", i), row));
    out[row.id] = {row.reference, row.ours};
  }
  DEPUTY_TRY(config.finish());
  return out;
}

std::string baseline_text(const Baseline& baseline) {
  std::string out =
      "# Written by `deputy validate --update`: what each row of docs/validation.md "
      "measured.\nrows:\n";
  for (const auto& [id, row] : baseline)
    out += fmt::format("  - {{id: {}, reference: {:.8g}, ours: {:.8g}}}\n", id, row.reference,
                       row.ours);
  return out;
}

void update_baseline(Baseline& baseline, const std::vector<ValidationSection>& sections) {
  Baseline out;
  for (const ValidationSection& section : sections)
    for (const ValidationRow& row : section.rows) {
      if (row.run)
        out[row.anchor.id] = {row.reference, row.ours};
      else if (const auto it = baseline.find(row.anchor.id); it != baseline.end())
        out.insert(*it);
    }
  baseline = std::move(out);
}

std::size_t find_drift(std::vector<ValidationSection>& sections, const Baseline& baseline) {
  std::size_t count = 0;
  for (ValidationSection& section : sections)
    for (ValidationRow& row : section.rows) {
      if (!row.run) continue;
      row.drift = drift_of(row, baseline);
      count += !row.drift.empty();
    }
  return count;
}

}  // namespace deputy::tools
