// ONNX importer: float32, float16 and int8/uint8 models (QDQ and QOperator form), operator sets 7
// to 17. docs/onnx.md.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "arch/onnx_node.h"
#include "base/result.h"
#include "delegate/ir/graph.h"

namespace deputy::delegate {

struct OnnxOptions {
  /// Shapes and constants of operators, and whether the CPU takes one: the kernels' own rules. Both
  /// are needed.
  arch::OnnxEvaluate evaluate = nullptr;
  base::Status (*takes)(arch::OpKind, const arch::OpAttrs&,
                        std::span<const arch::TensorView> inputs,
                        std::span<const arch::TensorView> outputs) = nullptr;
  std::string folder;  ///< where external data files lie; empty: they are refused
  std::map<std::string, std::int64_t> dims;  ///< sizes of symbolic dimensions, by name
  std::map<std::string, Shape> shapes;  ///< shapes of inputs, by name; they overrule the model's
  std::map<std::string, arch::OnnxResult> constants;  ///< inputs that become constants, by name
  bool native = true;                                 ///< false: every operator stays an ONNX one
};

/// Reads an ONNX file. Operators that Deputy's own kinds can express become those, in NHWC, with
/// the transposes cancelled; DQ-op-Q becomes an integer operator; the others stay OpKind::ONNX, for
/// the CPU. Errors: kModel: malformed or contradictory; kUnsupported: an operator, type or feature
/// that is not taken, named; kInput: a dimension without size. `notes` (may be null) gets what a
/// user should know: what could not be folded and why.
base::Result<Graph> import_onnx(std::span<const std::uint8_t> bytes, const std::string& name,
                                const OnnxOptions& options,
                                std::vector<std::string>* notes = nullptr);

/// A TensorProto file, as test data come in.
base::Result<arch::OnnxResult> read_onnx_tensor(std::span<const std::uint8_t> bytes,
                                                const std::string& name);

/// The operators of a model, each once, and the names of its inputs (null: not asked for) without
/// those that initialisers give. Nothing when the file is damaged.
std::vector<std::string> onnx_operators_of(std::span<const std::uint8_t> bytes,
                                           std::vector<std::string>* inputs);

/// What the file calls its operators, by Op::source_index. Nothing when it is damaged or no ONNX
/// file.
struct SourceName {
  std::string kind, name;  ///< "Conv", "/features/conv1" (may be empty)
};
std::vector<SourceName> onnx_source_names(std::span<const std::uint8_t> bytes);

}  // namespace deputy::delegate
