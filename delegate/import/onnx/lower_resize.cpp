// Resize and Upsample of images, where TFLite's rules give the same positions.
#include <cmath>

#include "delegate/import/onnx/lowering.h"

namespace deputy::delegate::onnx_import {

using arch::OpKind;

bool lower_resize(Lowering& l, const Node& node) {
  const bool upsample = node.node.op == "Upsample";
  if (!upsample && node.node.op != "Resize") return false;
  const int x = node.inputs[0], y = node.outputs[0];
  const Shape &in = l.shape(x), &out = l.shape(y);
  if (in.size() != 4 || l.desc(x).dtype != DType::kFloat32 || in[0] != out[0] || in[1] != out[1])
    return false;
  const bool old = upsample || node.node.opset < 11;
  const std::string mode = node.node.text("mode", "nearest"),
                    transform = node.node.text("coordinate_transformation_mode",
                                               old ? "asymmetric" : "half_pixel");
  const std::string rule = node.node.text("nearest_mode", old ? "floor" : "round_prefer_floor");
  // Scales that do not divide evenly are taken from the sizes here, but as they are by ONNX.
  const std::size_t at = old ? 1 : 2;
  std::vector<float> scales;
  if (const auto* list = node.node.find("scales")) scales = list->floats;
  if (l.has(node, at)) {
    const auto given = l.floats(node.inputs[at]);
    if (!given) return false;
    if (!given->empty()) scales = *given;
  }
  bool whole = true;
  for (std::size_t d = 2; d < 4; ++d) {
    if (!scales.empty() &&
        (scales.size() != 4 || static_cast<double>(in[d]) * static_cast<double>(scales[d]) !=
                                   static_cast<double>(out[d])))
      return false;
    whole &= out[d] % in[d] == 0;
  }
  arch::OpAttrs attrs;
  OpKind kind = OpKind::RESIZE_BILINEAR;
  if (mode == "nearest") {
    kind = OpKind::RESIZE_NEAREST_NEIGHBOR;
    const bool half = transform == "half_pixel" || transform == "pytorch_half_pixel";
    // A whole factor k shows pixel floor(i / k) in all of these.
    const bool floors = (transform == "asymmetric" && rule == "floor") ||
                        (whole && half && rule.starts_with("round"));
    if (!floors || (transform == "asymmetric" && !whole)) return false;
  } else if (mode == "linear" || mode == "bilinear") {
    if (transform == "half_pixel" ||
        (transform == "pytorch_half_pixel" && out[2] > 1 && out[3] > 1))
      attrs.half_pixel_centers = true;
    else if (transform == "align_corners" && out[2] > 1 && out[3] > 1)
      attrs.align_corners = true;
    else if (transform != "asymmetric")
      return false;
  } else {
    return false;
  }
  const Form form = {0, 2, 3, 1};
  const auto run = [&](int from, int to) {
    return l.emit(kind, attrs, {l.get(from, form), l.constant_ints({out[2], out[3]})},
                  {{to, form}});
  };
  if (const Twin* t = l.twin(x)) {
    const Twin operand = *t;
    if (kind == OpKind::RESIZE_NEAREST_NEIGHBOR) {
      const int to = l.new_twin(y, operand.value, operand.quant);
      if (run(operand.value, to)) return true;
      l.quant.twins.erase(y);
    } else if (const auto site = l.site(node); site && !site->activation &&
                                               l.quant.integers[site->value] == operand.quant &&
                                               run(operand.value, site->value)) {
      l.done(*site);
      return true;
    }
  }
  return run(x, y);
}

}  // namespace deputy::delegate::onnx_import
