// Softmax and its logarithm: along the last dimension of some form.
#include <algorithm>

#include "delegate/import/onnx/lowering.h"

namespace deputy::delegate::onnx_import {

bool lower_rows(Lowering& l, const Node& node) {
  const bool log = node.node.op == "LogSoftmax";
  if (!log && node.node.op != "Softmax") return false;
  const int x = node.inputs[0], y = node.outputs[0];
  const Shape& shape = l.shape(x);
  if (shape.empty() || l.desc(x).dtype != DType::kFloat32) return false;
  const bool flat = node.node.opset < 13;
  std::int64_t axis = node.node.integer("axis", flat ? 1 : -1);
  if (axis < 0) axis += static_cast<std::int64_t>(shape.size());
  if (axis < 0 || axis >= static_cast<std::int64_t>(shape.size())) return false;
  if (flat) {  // one row is all that follows: one dimension of it may be larger than 1
    std::int64_t longest = axis;
    int larger = 0;
    for (std::size_t d = static_cast<std::size_t>(axis); d < shape.size(); ++d)
      if (shape[d] != 1) longest = static_cast<std::int64_t>(d), ++larger;
    if (larger > 1) return false;
    axis = longest;
  }
  const auto form_of = [&](int value) {
    for (const Form& f : l.available(value))
      if (f.back() == axis) return f;
    Form f = l.plain(value);
    f.erase(f.begin() + axis);
    f.push_back(static_cast<int>(axis));
    return f;
  };
  const arch::OpKind kind = log ? arch::OpKind::LOG_SOFTMAX : arch::OpKind::SOFTMAX;
  const auto run = [&](int from, int to) {
    const Form form = form_of(from);
    return l.emit(kind, {}, {l.get(from, form)}, {{to, form}});
  };
  if (on_integers(l, node, run)) return true;
  if (l.twin(x) && l.site(node))
    l.note(node,
           "stays in floats: the integer form wants a result of scale 1/256 from its type's lowest "
           "number");
  return run(x, y);
}

}  // namespace deputy::delegate::onnx_import
