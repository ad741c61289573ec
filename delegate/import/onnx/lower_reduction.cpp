// Reductions over constant axes, and pooling over the whole image.
#include <algorithm>

#include "delegate/import/onnx/lowering.h"

namespace deputy::delegate::onnx_import {

using arch::OpKind;

bool lower_reduction(Lowering& l, const Node& node) {
  struct Row {
    const char* op;
    OpKind kind;
  };
  constexpr Row kRows[] = {
      {"ReduceMean", OpKind::MEAN},        {"ReduceSum", OpKind::SUM},
      {"ReduceMax", OpKind::REDUCE_MAX},   {"ReduceMin", OpKind::REDUCE_MIN},
      {"GlobalAveragePool", OpKind::MEAN}, {"GlobalMaxPool", OpKind::REDUCE_MAX}};
  const auto row = std::find_if(std::begin(kRows), std::end(kRows),
                                [&](const Row& r) { return node.node.op == r.op; });
  if (row == std::end(kRows) || l.desc(node.outputs[0]).dtype != DType::kFloat32) return false;
  const int x = node.inputs[0], y = node.outputs[0];
  const std::size_t rank = l.rank(x);
  if (rank == 0 || rank > 4) return false;
  std::vector<std::int64_t> axes;
  bool keep = node.node.integer("keepdims", 1) != 0;
  if (node.node.op.starts_with("Global")) {
    for (std::size_t d = 2; d < rank; ++d) axes.push_back(static_cast<std::int64_t>(d));
    keep = true;
  } else {
    const auto given = l.axes(node, 1, "axes", rank);
    if (!given) return false;
    axes = *given;
    if (axes.empty() && node.node.integer("noop_with_empty_axes", 0)) return false;
    if (axes.empty())
      for (std::size_t d = 0; d < rank; ++d) axes.push_back(static_cast<std::int64_t>(d));
  }
  const auto gone = [&](int d) { return std::count(axes.begin(), axes.end(), d) > 0; };
  const auto run = [&](int from, int to) {
    Form form = l.best_form(std::vector<int>{from}, rank);
    if (std::count(form.begin(), form.end(), kInserted)) {
      form = {};
      for (const Form& f : l.available(from))
        if (form.empty()) form = f;
    }
    arch::OpAttrs attrs;
    attrs.keep_dims = keep;
    std::vector<std::int32_t> positions;
    Form result;
    for (std::size_t k = 0; k < form.size(); ++k) {
      if (form[k] != kInserted && gone(form[k])) positions.push_back(static_cast<std::int32_t>(k));
      if (keep)
        result.push_back(form[k]);
      else if (form[k] == kInserted)
        result.push_back(kInserted);
      else if (!gone(form[k]))
        result.push_back(form[k] -
                         static_cast<int>(std::count_if(axes.begin(), axes.end(),
                                                        [&](auto a) { return a < form[k]; })));
    }
    return l.emit(row->kind, attrs, {l.get(from, form), l.constant_ints(positions)},
                  {{to, result}});
  };
  return on_integers(l, node, run) || run(x, y);
}

}  // namespace deputy::delegate::onnx_import
