// ONNX operators outside a session: their results' shapes, and constants computed when a model is
// imported.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "arch/onnx_node.h"
#include "base/result.h"

namespace deputy::host_runtime {

/// One call. shapes_only: operands may lack data, and the results' data stay empty. Where a
/// result's shape depends on values that are missing, it is what the model says
/// (OnnxOutput::expected), to be checked when it runs.
base::Result<std::vector<arch::OnnxResult>> evaluate_onnx(const arch::OnnxNode& node,
                                                          std::span<const arch::TensorView> inputs,
                                                          std::span<const arch::OnnxOutput> outputs,
                                                          bool shapes_only);

/// One row per operator, for the generated list.
struct OnnxOperator {
  std::string name, limits;
};
std::vector<OnnxOperator> onnx_operators();

}  // namespace deputy::host_runtime
