#include "tests/delegate/graph_compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace deputy::delegate::testing {
namespace {

/// "padding=1 stride_h=2 ...": every field, so that nothing escapes the comparison.
std::string attrs_text(const arch::OpAttrs& attrs) {
  std::string out;
  arch::OpAttrs::fields(attrs, [&](const auto& value, const base::Field& field) {
    out += fmt::format("{}={} ", field.name, value);
  });
  return out;
}

std::string tensor_text(const Tensor& t) {
  return fmt::format("'{}' {} {} scales [{}] zeros [{}] axis {} constant {} source {}", t.desc.name,
                     dtype_name(t.desc.dtype), shape_text(t.desc.shape),
                     fmt::join(t.desc.quant.scale, " "), fmt::join(t.desc.quant.zero_point, " "),
                     t.desc.quant.axis, t.constant, t.source_index);
}

std::string op_text(const Op& op) {
  return fmt::format("{} [{}] -> [{}] {} source {}", arch::op_name(op.kind),
                     fmt::join(op.inputs, " "), fmt::join(op.outputs, " "), attrs_text(op.attrs),
                     op.source_index);
}

}  // namespace

std::string difference(const Graph& a, const Graph& b) {
  if (a.tensors.size() != b.tensors.size())
    return fmt::format("{} and {} tensors", a.tensors.size(), b.tensors.size());
  if (a.ops.size() != b.ops.size())
    return fmt::format("{} and {} operators", a.ops.size(), b.ops.size());
  if (a.inputs != b.inputs) return "graph inputs differ";
  if (a.outputs != b.outputs) return "graph outputs differ";
  for (std::size_t i = 0; i < a.tensors.size(); ++i) {
    if (const auto x = tensor_text(a.tensors[i]), y = tensor_text(b.tensors[i]); x != y)
      return fmt::format("tensor {}: {} and {}", i, x, y);
    if (a.tensors[i].data != b.tensors[i].data) return fmt::format("data of tensor {} differs", i);
  }
  for (std::size_t i = 0; i < a.ops.size(); ++i)
    if (const auto x = op_text(a.ops[i]), y = op_text(b.ops[i]); x != y)
      return fmt::format("operator {}: {} and {}", i, x, y);
  return "";
}

}  // namespace deputy::delegate::testing
