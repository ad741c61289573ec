// An ONNX operator as the executable stores it (OpAttrs::onnx): its name, the operator set that its
// meaning is of, and its attributes, as one line of text that people can read in dumps:
//
//   Conv 13 kernel_shape=i3,3 pads=i1,1,1,1
//
// The letter after '=' is the type of the values: i integers, f floats, s strings
// (percent-escaped). Tensors as attributes do not occur: the importer turns them into operands.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arch/host_timing.h"
#include "arch/ops.h"
#include "base/result.h"

namespace deputy::arch {

struct OnnxAttr {
  enum class Type : char { kInts = 'i', kFloats = 'f', kStrings = 's' };
  std::string name;
  Type type = Type::kInts;
  std::vector<std::int64_t> ints;
  std::vector<float> floats;
  std::vector<std::string> strings;
};

struct OnnxNode {
  std::string op;
  int opset = 17;
  std::vector<OnnxAttr> attrs;

  const OnnxAttr* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  /// The first value, or `otherwise` when the attribute is absent, empty or of another type.
  /// Likewise below.
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  float real(std::string_view name, float otherwise) const;
  std::string text(std::string_view name, std::string otherwise) const;
  std::vector<std::int64_t> integers(std::string_view name,
                                     std::vector<std::int64_t> otherwise = {}) const;
};

/// A result as it is asked for and as it is given, when a node is evaluated outside a session.
struct OnnxOutput {
  bool wanted = true;
  const TensorDesc* expected = nullptr;  ///< what the model says of it; null: nothing
};
struct OnnxResult {
  DType dtype = DType::kFloat32;
  Shape shape;
  std::vector<std::uint8_t> data;
};
/// host_runtime::evaluate_onnx, for the compiler, which does not know the kernels.
using OnnxEvaluate = base::Result<std::vector<OnnxResult>> (*)(const OnnxNode&,
                                                               std::span<const TensorView> inputs,
                                                               std::span<const OnnxOutput> outputs,
                                                               bool shapes_only);

/// Whether numbers of this type have fractions.
constexpr bool is_real(DType type) {
  return type == DType::kFloat32 || type == DType::kFloat16 || type == DType::kFloat64;
}

std::string onnx_text(const OnnxNode& node);

/// nullopt: not a line that onnx_text() could have written.
std::optional<OnnxNode> parse_onnx(std::string_view text);

/// The operator's name alone: the text up to the first space.
std::string_view onnx_op(std::string_view text);

/// host_work() of an ONNX operator: multiply-accumulates where it is made of them, else elements or
/// bytes.
HostWork onnx_work(std::string_view text, std::span<const TensorView> inputs,
                   std::span<const TensorView> outputs);

}  // namespace deputy::arch
