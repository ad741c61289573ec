// deputy validate
#include "tools/validate.h"

#include <fmt/format.h>

#include "tools/cli/common.h"
#include "tools/files.h"

namespace deputy::tools {
namespace {

std::string docs_path(const std::string& name) {
  return std::string(DEPUTY_CONFIG_DIR) + "/../docs/validation/" + name;
}

// The baseline with what was run, and the pages that follow from it.
base::Status write_update(const std::string& path, Baseline baseline,
                          const std::vector<ValidationSection>& sections) {
  update_baseline(baseline, sections);
  DEPUTY_TRY(write_text(path, baseline_text(baseline)));
  DEPUTY_ASSIGN(const Baseline written,
                load_baseline(path));  // with as many digits as the file has
  DEPUTY_ASSIGN(const auto all, validation_of(written));
  DEPUTY_TRY(write_text(docs_path("table.md"), validation_markdown(all)));
  return write_text(docs_path("cycles.dat"), validation_points(all));
}

base::Status run(const ValidateCommand& command) {
  if (command.update && !command.anchors.empty())
    return base::Error{base::ErrorKind::kUsage, "--update",
                       "the baseline is about all anchor files", "leave them out"};
  const std::string path =
      command.baseline.empty() ? anchor_path("baseline.yaml") : command.baseline;
  DEPUTY_ASSIGN(const Baseline baseline, load_baseline(path));
  Progress progress;
  const auto show = [](void* user, const std::string& label) {
    static_cast<Progress*>(user)->show(label);
  };
  DEPUTY_ASSIGN(auto sections,
                validate({command.anchors, command.data, command.quick}, show, &progress));
  const std::size_t drifting = find_drift(sections, baseline);
  if (command.json)
    fmt::print("{}", validation_json(sections));
  else
    fmt::print("{}", validation_text(sections));
  if (command.update) return write_update(path, baseline, sections);
  if (drifting == 0) return {};
  return base::Error{
      base::ErrorKind::kMismatch, path, fmt::format("{} rows drift from the baseline", drifting),
      "if that is meant, run `deputy validate --data MODELS --update` and commit what it writes"};
}

}  // namespace

int validate_command(const ValidateCommand& command) { return finish(run(command)); }

}  // namespace deputy::tools
