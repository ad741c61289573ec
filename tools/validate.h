// `deputy validate`: our cycles beside outside references.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace deputy::tools {

struct ValidateRow {
  std::string label;
  double macs = 0;
  std::uint64_t reference_cycles = 0, cycles = 0;
  double mac_utilisation = 0;
};
struct Validation {
  std::string soc, source;
  std::vector<ValidateRow> rows;
};

/// Runs every row of an anchor file (configs/anchors/*.yaml) with --timing-only on its SoC.
base::Result<Validation> validate(const std::string& anchor_file);

}  // namespace deputy::tools
