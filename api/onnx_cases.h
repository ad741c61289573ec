// ONNX's own node tests: folders with a model.onnx and test_data_set_*/input_*.pb, output_*.pb
// (Debian: libonnx-testdata).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/import_model.h"

namespace deputy::api {

enum class OnnxOutcome : std::uint8_t { kPass, kRefused, kWrong };

struct OnnxCaseResult {
  std::string name;
  OnnxOutcome outcome = OnnxOutcome::kPass;
  std::string detail;            ///< the reason of a refusal, or what differs
  std::vector<std::string> ops;  ///< of the model
  bool bound = false;  ///< passes with the values of integer operands known to the compiler only
  int native =
      0;  ///< operators that became Deputy's own kinds, in the variant with constant operands
};

/// Computes a graph's outputs.
using OnnxRunner = std::function<base::Result<std::vector<std::vector<std::uint8_t>>>(
    const delegate::Graph&, const std::vector<std::vector<std::uint8_t>>& inputs)>;

/// Runs one case folder: as it is; where a shape depends on values, with integer operands as
/// constants; and a second time with every operand but the first constant, which is how networks
/// look and lets Deputy's own operator kinds take part. Floats must agree within 1e-3 relative plus
/// 1e-6 (ONNX's own runner: 1e-3 and 1e-7), integers and truths exactly.
OnnxCaseResult run_onnx_case(const std::string& folder, const OnnxRunner& run);

/// The case folders below `folder`, by name.
std::vector<std::string> onnx_case_folders(const std::string& folder, const std::string& filter);

}  // namespace deputy::api
