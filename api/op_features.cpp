#include "api/op_features.h"

namespace deputy::api {
namespace {

using arch::OpKind;
using delegate::Graph;
using delegate::Op;
using Values = std::vector<std::int64_t>;

bool weighted(const Op& op) {
  return op.kind == OpKind::CONV_2D || op.kind == OpKind::DEPTHWISE_CONV_2D ||
         op.kind == OpKind::TRANSPOSE_CONV;
}
bool pools(const Op& op) {
  return op.kind == OpKind::AVERAGE_POOL_2D || op.kind == OpKind::MAX_POOL_2D;
}
bool window(const Op& op) { return weighted(op) || pools(op); }

Values kernel(const Graph& g, const Op& op) {
  if (pools(op)) return {op.attrs.filter_h, op.attrs.filter_w};
  if (!weighted(op) || !g.has_input(op, 1)) return {};
  const Shape& shape = g.tensor(op.inputs[1]).desc.shape;
  return shape.size() == 4 ? Values{shape[1], shape[2]} : Values{};
}
Values one_of(const Values& values, std::size_t i) {
  return i < values.size() ? Values{values[i]} : Values{};
}
Values stride(const Graph&, const Op& op) {
  return window(op) ? Values{op.attrs.stride_h, op.attrs.stride_w} : Values{};
}
Values dilation(const Graph&, const Op& op) {
  const bool has = op.kind == OpKind::CONV_2D || op.kind == OpKind::DEPTHWISE_CONV_2D;
  return has ? Values{op.attrs.dilation_h, op.attrs.dilation_w} : Values{};
}
Values span(const Graph& g, const Op& op) {
  const Values k = kernel(g, op), d = dilation(g, op);
  Values out;
  for (std::size_t i = 0; i < k.size(); ++i) out.push_back((k[i] - 1) * (d.empty() ? 1 : d[i]) + 1);
  return out;
}
Values padding(const Graph&, const Op& op) {
  const auto& a = op.attrs;
  return window(op) ? Values{a.pad_top, a.pad_bottom, a.pad_left, a.pad_right} : Values{};
}
// Dimension `from_back` of the first computed input, or of the first result.
Values dimension(const Graph& g, delegate::TensorId id, std::size_t from_back) {
  const Shape& shape = g.tensor(id).desc.shape;
  return shape.size() >= from_back ? Values{shape[shape.size() - from_back]} : Values{};
}
delegate::TensorId map(const Graph& g, const Op& op) {
  for (const delegate::TensorId id : op.inputs)
    if (id != delegate::kNoTensor && !g.tensor(id).constant) return id;
  return op.outputs[0];
}

constexpr Feature kFeatures[] = {
    {"kernel", "rows or columns of the window, either direction", 1, kernel},
    {"kernel_h", "rows of the window", 1,
     [](const Graph& g, const Op& op) { return one_of(kernel(g, op), 0); }},
    {"kernel_w", "columns of the window", 1,
     [](const Graph& g, const Op& op) { return one_of(kernel(g, op), 1); }},
    {"stride", "stride in either direction", 1, stride},
    {"stride_h", "stride of rows", 1,
     [](const Graph& g, const Op& op) { return one_of(stride(g, op), 0); }},
    {"stride_w", "stride of columns", 1,
     [](const Graph& g, const Op& op) { return one_of(stride(g, op), 1); }},
    {"dilation", "dilation in either direction", 1, dilation},
    {"dilation_h", "dilation of rows", 1,
     [](const Graph& g, const Op& op) { return one_of(dilation(g, op), 0); }},
    {"dilation_w", "dilation of columns", 1,
     [](const Graph& g, const Op& op) { return one_of(dilation(g, op), 1); }},
    {"span", "rows or columns that a dilated window covers", 1, span},
    {"padding", "padding on any side, a PAD before the operator included", 0, padding},
    {"rank", "dimensions of the first computed input", 0,
     [](const Graph& g, const Op& op) {
       return Values{static_cast<std::int64_t>(g.tensor(map(g, op)).desc.shape.size())};
     }},
    {"channels_in", "last dimension of the first computed input", 0,
     [](const Graph& g, const Op& op) { return dimension(g, map(g, op), 1); }},
    {"channels_out", "last dimension of the first result", 0,
     [](const Graph& g, const Op& op) { return dimension(g, op.outputs[0], 1); }},
    {"width", "second dimension from the end of the first computed input", 0,
     [](const Graph& g, const Op& op) { return dimension(g, map(g, op), 2); }},
    {"height", "third dimension from the end of the first computed input", 0,
     [](const Graph& g, const Op& op) { return dimension(g, map(g, op), 3); }},
    {"elements", "elements of the first result", 0,
     [](const Graph& g, const Op& op) { return Values{g.tensor(op.outputs[0]).desc.elements()}; }},
};

}  // namespace

std::span<const Feature> op_features() { return kFeatures; }

const Feature* find_feature(std::string_view name) {
  for (const Feature& feature : kFeatures)
    if (name == feature.name) return &feature;
  return nullptr;
}

DType op_type(const Graph& graph, const Op& op) { return graph.tensor(op.outputs[0]).desc.dtype; }

}  // namespace deputy::api
