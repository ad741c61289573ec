// `deputy check-data`: runs every case of a manifest of golden tensors on the SoC and counts what
// is equal.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/simulate.h"

namespace deputy::tools {

struct CheckDataOptions {
  SimulateOptions simulate;
  std::string filter;   ///< only cases whose name contains this
  std::string runtime;  ///< golden set: "tflm", "xnnpack"/"tfjs", "ort": the ONNX models; empty:
                        ///< the one that fits the numerics
  bool layers = false;  ///< also compare every intermediate tensor that has a golden
};

enum class CaseOutcome { kEqual, kWithinOne, kDiffers, kRefused, kNoGolden };

struct TensorCheck {
  std::string name;  ///< "output 0", "tensor 12"
  std::int64_t elements = 0;
  std::int64_t different = 0;  ///< integer: unequal elements; float: beyond 1e-4 relative
  double max_difference = 0;   ///< in steps for integers, relative for floats
};

struct CaseResult {
  std::string name;
  CaseOutcome outcome = CaseOutcome::kEqual;
  std::string detail;  ///< refusal, or where it differs
  std::vector<TensorCheck> tensors;
};

/// Reads the two manifest layouts: {"cases": [...]} of single operators and graphs, and {"models":
/// [...]}. Calls `progress(done, total, name)` after each case. kWithinOne is only given where the
/// manifest says that a kernel outside the named rounding profile took part; anything else that
/// differs is kDiffers.
base::Result<std::vector<CaseResult>> check_data(
    const std::string& manifest, const CheckDataOptions& options,
    const std::function<void(std::size_t done, std::size_t total, const std::string& name)>&
        progress);

}  // namespace deputy::tools
