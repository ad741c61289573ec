// deputy validate
#include "tools/validate.h"

#include <fmt/format.h>

#include "tools/cli/common.h"
#include "tools/table.h"

namespace deputy::tools {

int validate_command(const std::string& anchors) {
  const auto result = validate(anchors.empty() ? "ethos-u55-128" : anchors);
  if (!result.ok()) return fail(result.error());
  Table table({"network", ">MAC", ">reference cycles", ">our cycles", ">ours / reference", ">MAC utilisation"});
  for (const auto& row : result->rows)
    table.row({row.label, human_count(row.macs), std::to_string(row.reference_cycles), std::to_string(row.cycles),
               fmt::format("{:.2f}", static_cast<double>(row.cycles) / static_cast<double>(row.reference_cycles)),
               fmt::format("{:.1f} %", 100 * row.mac_utilisation)});
  fmt::print("SoC {}\nreference: {}\n\n{}", result->soc, result->source, table.text());
  return 0;
}

}  // namespace deputy::tools
