#include "tools/validate.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "base/config.h"
#include "tools/validate_measures.h"

namespace deputy::tools {

const char* verdict_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::kMet:
      return "met";
    case Verdict::kNotMet:
      return "not met";
    case Verdict::kInformation:
      return "information";
    case Verdict::kNotRun:
      return "not run";
  }
  return "";
}

Verdict ValidationRow::verdict() const {
  if (!run) return Verdict::kNotRun;
  if (!anchor.has_bound()) return Verdict::kInformation;
  // The slack is for the last bit of the division.
  const bool met = anchor.within > 0 ? std::abs(error()) <= anchor.within * (1 + 1e-9)
                                     : ours >= anchor.from && ours <= anchor.to;
  return met ? Verdict::kMet : Verdict::kNotMet;
}

base::Result<std::vector<std::string>> anchor_files() {
  DEPUTY_ASSIGN(auto config, base::Config::from_file(anchor_path("index.yaml")));
  std::vector<std::string> out;
  for (int i = 0; const auto* entry = config.find(fmt::format("files.{}", i)); ++i)
    out.push_back(entry->value);
  DEPUTY_TRY(config.finish());
  return out;
}

namespace {

// The rows of all files, none measured yet.
base::Result<std::vector<ValidationSection>> sections_of(const std::vector<std::string>& files) {
  std::vector<ValidationSection> out;
  std::set<std::string> ids;
  for (const std::string& file : files) {
    DEPUTY_ASSIGN(auto anchors, load_anchors(file));
    ValidationSection section{anchors.title, anchors.source, {}};
    for (AnchorRow& anchor : anchors.rows) {
      if (!ids.insert(anchor.id).second)
        return base::Error{base::ErrorKind::kConfig, file,
                           fmt::format("row '{}' is there twice", anchor.id),
                           "give each row an id of its own"};
      DEPUTY_ASSIGN(const Measure* measure, find_measure(anchor));
      ValidationRow row;
      row.unit = measure->unit;
      row.reference = anchor.reference;
      row.anchor = std::move(anchor);
      section.rows.push_back(std::move(row));
    }
    out.push_back(std::move(section));
  }
  return out;
}

}  // namespace

base::Result<std::vector<ValidationSection>> validate(const ValidateOptions& options,
                                                      void (*show)(void*, const std::string&),
                                                      void* user) {
  std::vector<std::string> files = options.anchors;
  if (files.empty()) {
    DEPUTY_ASSIGN(files, anchor_files());
  }
  DEPUTY_ASSIGN(auto sections, sections_of(files));
  ValidationRuns runs(options.data);
  for (ValidationSection& section : sections)
    for (ValidationRow& row : section.rows) {
      if (options.quick && !row.anchor.quick)
        row.why_not = "not quick";
      else if (!runs.has_workload(row.anchor))
        row.why_not = fmt::format("{} is not there; see --data", row.anchor.model);
      if (!row.why_not.empty()) continue;
      show(user, row.anchor.label);
      DEPUTY_ASSIGN(const Measure* measure, find_measure(row.anchor));
      DEPUTY_ASSIGN(const Measured measured, measure->run(runs, row.anchor));
      row.ours = measured.ours;
      if (measured.reference > 0) row.reference = measured.reference;
      row.run = true;
    }
  return sections;
}

base::Result<std::vector<ValidationSection>> validation_of(const Baseline& baseline) {
  DEPUTY_ASSIGN(const auto files, anchor_files());
  DEPUTY_ASSIGN(auto sections, sections_of(files));
  for (ValidationSection& section : sections)
    for (ValidationRow& row : section.rows)
      if (const auto it = baseline.find(row.anchor.id); it != baseline.end())
        row.reference = it->second.reference, row.ours = it->second.ours, row.run = true;
  return sections;
}

}  // namespace deputy::tools
