// Gemm and MatMul by a constant matrix: FULLY_CONNECTED.
#include <algorithm>

#include "delegate/import/onnx/lower_weights.h"

namespace deputy::delegate::onnx_import {
namespace {

using arch::OpKind;

/// The operand's rows as they lie in memory, and the order in which the weights' columns then come.
struct Rows {
  TensorId tensor = kNoTensor;
  std::vector<std::int32_t> columns;  ///< the operand's column at each; empty: as it is
};

/// A matrix that is a reshaped image need not be put into the image's own order: the weights can
/// follow instead.
Rows rows_of(Lowering& l, int value) {
  const int source = l.reshape_source(value);
  if (source == value || !l.only_permuted(source) || l.shape(source).empty() ||
      l.rank(value) != 2 || l.shape(source)[0] != l.shape(value)[0])
    return {l.get(value, l.plain(value)), {}};
  const Form form = l.available(source).front();
  if (form.empty() || form[0] != 0) return {l.get(value, l.plain(value)), {}};
  Rows out{l.get(source, form), {}};
  const Shape& shape = l.shape(source);
  std::vector<std::int64_t> step(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) step[d - 1] = step[d] * shape[d];
  const std::int32_t k = l.shape(value)[1];
  for (std::int32_t i = 0; i < k; ++i) {
    std::int64_t rest = i, column = 0;
    for (std::size_t d = form.size(); d-- > 1;) {
      if (form[d] == kInserted) continue;
      const auto dim = static_cast<std::size_t>(form[d]);
      column += rest % shape[dim] * step[dim];
      rest /= shape[dim];
    }
    out.columns.push_back(static_cast<std::int32_t>(column));
  }
  return out;
}

TensorId with_columns(Lowering& l, TensorId weights, const std::vector<std::int32_t>& columns) {
  if (columns.empty()) return weights;
  Tensor& tensor = l.graph.tensor(weights);
  const std::vector<std::uint8_t> old = tensor.data;
  const std::size_t width = dtype_size(tensor.desc.dtype), k = columns.size();
  for (std::size_t n = 0; n < static_cast<std::size_t>(tensor.desc.shape[0]); ++n)
    for (std::size_t i = 0; i < k; ++i)
      std::copy_n(&old[(n * k + static_cast<std::size_t>(columns[i])) * width], width,
                  &tensor.data[(n * k + i) * width]);
  return weights;
}

}  // namespace

bool lower_matrix(Lowering& l, const Node& node) {
  const bool gemm = node.node.op == "Gemm";
  if (!gemm && node.node.op != "MatMul") return false;
  const int a = node.inputs[0], b = node.inputs[1];
  if (!l.constant(b) || l.constant(a) || l.rank(b) != 2 || l.rank(a) < 2 ||
      l.desc(a).dtype != DType::kFloat32)
    return false;
  if (gemm && (node.node.integer("transA", 0) || node.node.real("alpha", 1) != 1 ||
               node.node.real("beta", 1) != 1))
    return false;
  const bool transposed = gemm && node.node.integer("transB", 0) != 0;
  const std::vector<int> order = transposed ? std::vector<int>{0, 1} : std::vector<int>{1, 0};
  const Shape& w = l.shape(b);
  const Shape weights = {w[static_cast<std::size_t>(order[0])],
                         w[static_cast<std::size_t>(order[1])]};
  const int bias_value = gemm && l.has(node, 2) ? node.inputs[2] : kNoValue;
  if (bias_value != kNoValue) {  // one number for each column; a scalar is that for a single column
    const Shape& shape = l.shape(bias_value);
    if (!l.constant(bias_value) || l.desc(bias_value).elements() != weights[0]) return false;
    if (!shape.empty() && shape.back() != weights[0]) return false;
  }
  arch::OpAttrs attrs;
  attrs.keep_num_dims = l.rank(a) > 2;
  const Twin *x = l.twin(a), *t = l.twin(b);
  const auto site = l.site(node);
  const auto run = [&](int operand, const Weights& of, std::optional<TensorId> bias, int result,
                       std::uint8_t activation) {
    const Rows rows = rows_of(l, operand);
    attrs.activation = activation;
    std::vector<TensorId> inputs = {
        rows.tensor,
        with_columns(l, weight_tensor(l, of, order, weights, l.desc(operand).dtype), rows.columns)};
    if (bias) inputs.push_back(*bias);
    return l.emit(OpKind::FULLY_CONNECTED, attrs, std::move(inputs), {{result, l.plain(result)}});
  };
  if (x && t && site) {
    bool ok = false;
    if (one_byte(l.desc(t->value).dtype) &&
        (!t->quant.per_channel() || t->quant.axis == order[0])) {
      const auto bias = integer_bias(l, node, bias_value, *x, t->quant, weights[0], ok);
      if (ok && l.desc(site->value).dtype == l.desc(x->value).dtype &&
          run(x->value, {t->value, t->quant}, bias, site->value, site->activation)) {
        l.done(*site);
        return true;
      }
    }
    l.note(
        node,
        "stays in floats: no integer matrix product has these operand types or this quantisation");
  }
  const auto bias = float_bias(l, bias_value, weights[0]);
  if (bias_value != kNoValue && !bias) return false;
  return run(a, {b, {}}, bias, node.outputs[0], 0);
}

}  // namespace deputy::delegate::onnx_import
