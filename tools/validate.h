// `deputy validate`: every number that has a reference outside the model, in one table
// (docs/validation.md).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/anchors.h"

namespace deputy::tools {

enum class Verdict : std::uint8_t { kMet, kNotMet, kInformation, kNotRun };
const char* verdict_text(Verdict verdict);

/// One row of the table.
struct ValidationRow {
  AnchorRow anchor;
  std::string unit;
  double reference = 0;  ///< 0: none
  double ours = 0;
  bool run = false;     ///< `ours` is a number
  std::string why_not;  ///< when it was not run
  std::string drift;    ///< how it departs from the baseline; empty: it does not
  /// Percent that ours is off the reference; 0 without one.
  double error() const { return reference > 0 ? 100 * (ours / reference - 1) : 0; }
  Verdict verdict() const;
};

struct ValidationSection {
  std::string title, source;
  std::vector<ValidationRow> rows;
};

/// What was measured when the baseline was written: rows by id.
struct BaselineRow {
  double reference = 0, ours = 0;
};
using Baseline = std::map<std::string, BaselineRow>;

struct ValidateOptions {
  std::vector<std::string> anchors;  ///< anchor files; empty: those of configs/anchors/index.yaml
  std::string data;    ///< folder with model files; empty: rows with a model are not run
  bool quick = false;  ///< only rows that are marked quick
};

/// Ours may differ by so many percent from the baseline, with the same verdict, before it counts as
/// drift: what a change of an unrelated scheduling detail may move.
inline constexpr double kDriftPercent = 1;

/// Names of all anchor files, in the table's order.
base::Result<std::vector<std::string>> anchor_files();

/// Measures every row. `show` is told the label of each before it runs.
base::Result<std::vector<ValidationSection>> validate(const ValidateOptions& options,
                                                      void (*show)(void*, const std::string&),
                                                      void* user);

/// The table as the baseline has it, nothing run.
base::Result<std::vector<ValidationSection>> validation_of(const Baseline& baseline);

base::Result<Baseline> load_baseline(const std::string& path);
/// `baseline` as the text of its file.
std::string baseline_text(const Baseline& baseline);
/// The rows that were run replace the baseline's.
void update_baseline(Baseline& baseline, const std::vector<ValidationSection>& sections);
/// Fills in `drift` of every row that was run; returns how many drift.
std::size_t find_drift(std::vector<ValidationSection>& sections, const Baseline& baseline);

/// For the terminal.
std::string validation_text(const std::vector<ValidationSection>& sections);
/// The page docs/validation/table.md.
std::string validation_markdown(const std::vector<ValidationSection>& sections);
/// Reference and our cycles of the plotted rows, for scripts/plot_validation.
std::string validation_points(const std::vector<ValidationSection>& sections);
std::string validation_json(const std::vector<ValidationSection>& sections);

}  // namespace deputy::tools
