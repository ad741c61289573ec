#include "workloads/selftest/maker.h"

#include <algorithm>
#include <cmath>

#include "delegate/ir/op_rules.h"

namespace deputy::graphs {

float Maker::scale(int low, int high) {
  const float mantissa = 1.0f + static_cast<float>(pick(0, 4095)) / 4096.0f;
  return std::ldexp(mantissa, pick(low, high));
}

Quantisation Maker::quantisation() {
  const std::int32_t z = chance(30) ? -128 : chance(15) ? one_of({0, 127}) : pick(-127, 126);
  return {{scale(-8, -4)}, {zero(z)}, 0};
}

TensorId Maker::pick_map(const std::function<bool(TensorId)>& suits) {
  std::vector<TensorId> good;
  for (const TensorId id : maps_)
    if (elements(id) > 0 && tensor(id).desc.dtype == type && suits(id)) good.push_back(id);
  if (good.empty()) return kNoTensor;
  const int n = static_cast<int>(good.size());
  const int from = chance(70) ? std::max(0, n - 2) : 0;
  return good[static_cast<std::size_t>(pick(from, n - 1))];
}

TensorId Maker::add(Tensor t) {
  const auto id = static_cast<TensorId>(graph_.tensors.size());
  t.desc.name = "t" + std::to_string(id);
  t.source_index = id;
  graph_.tensors.push_back(std::move(t));
  return id;
}

TensorId Maker::input(Shape shape, Quantisation quant) {
  Tensor t;
  t.desc.shape = std::move(shape), t.desc.quant = std::move(quant), t.desc.dtype = type;
  const TensorId id = add(std::move(t));
  graph_.inputs.push_back(id), maps_.push_back(id);
  return id;
}

TensorId Maker::add_constant(Shape shape, DType dtype, Quantisation quant, const void* data,
                             std::size_t bytes) {
  Tensor t;
  t.desc.shape = std::move(shape), t.desc.dtype = dtype, t.desc.quant = std::move(quant);
  t.constant = true;
  t.data.resize(bytes);
  if (bytes > 0) std::memcpy(t.data.data(), data, bytes);
  return add(std::move(t));
}

TensorId Maker::ints(const std::vector<std::int32_t>& values) {
  return add_constant({static_cast<std::int32_t>(values.size())}, DType::kInt32, {}, values.data(),
                      values.size() * 4);
}
TensorId Maker::int_matrix(const std::vector<std::int32_t>& values, std::int32_t columns) {
  return add_constant({static_cast<std::int32_t>(values.size()) / columns, columns}, DType::kInt32,
                      {}, values.data(), values.size() * 4);
}
TensorId Maker::constant_map(Shape shape, Quantisation quant) {
  std::vector<std::int8_t> values(static_cast<std::size_t>(element_count(shape)));
  for (auto& v : values) v = static_cast<std::int8_t>(pick(-128, 127));
  return add_constant(std::move(shape), type, std::move(quant), values.data(), values.size());
}

std::int8_t Maker::weight(int distribution) {
  switch (distribution) {
    case 0:
      return static_cast<std::int8_t>(pick(-6, 6));
    case 1:
      return static_cast<std::int8_t>(chance(80) ? 0 : pick(-127, 127));
    case 2:
      return 77;
    default:
      return static_cast<std::int8_t>(pick(-127, 127));
  }
}

TensorId Maker::weights(Shape shape, std::int32_t axis, std::int64_t fan_in, TensorId x,
                        const Quantisation& out) {
  // Values of x spread by about 90 around its zero point, weights by about 70; the result should
  // spread by about 50 steps of the output.
  const int distribution = pick(0, 9);
  const float spread = distribution == 0 ? 4.0f : distribution == 1 ? 32.0f : 70.0f;
  const float base = out.scale[0] * 50.0f /
                     (quant(x).scale[0] * 90.0f * spread * std::sqrt(static_cast<float>(fan_in)));
  std::vector<std::int8_t> values(static_cast<std::size_t>(element_count(shape)));
  const bool is_unsigned = type == DType::kUint8;
  const int middle = is_unsigned ? 128 + (chance(50) ? 0 : pick(-20, 20)) : 0;
  for (auto& v : values) {
    const int value =
        std::clamp(middle + weight(distribution), is_unsigned ? 0 : -128, is_unsigned ? 255 : 127);
    v = static_cast<std::int8_t>(value);
  }
  Quantisation q;
  q.axis = axis;
  const int scales = !is_unsigned && chance(60) ? shape[static_cast<std::size_t>(axis)] : 1;
  for (int i = 0; i < scales; ++i) {
    q.scale.push_back(base * scale(-1, 0)), q.zero_point.push_back(middle);
    if (chance(2)) q.scale.back() *= one_of({1.0f / 1024, 64.0f});
  }
  return add_constant(std::move(shape), type, std::move(q), values.data(), values.size());
}

TensorId Maker::bias(std::int32_t channels, bool required) {
  if (!required && pick(0, 5) == 0) return kNoTensor;
  std::vector<std::int32_t> values(static_cast<std::size_t>(channels));
  for (auto& v : values) v = pick(-20000, 20000);
  return add_constant({channels}, DType::kInt32, {}, values.data(), values.size() * 4);
}

std::vector<TensorId> Maker::emit_parts(OpKind kind, arch::OpAttrs attrs,
                                        std::vector<TensorId> inputs, std::vector<Shape> outs,
                                        Quantisation quant) {
  Op op{kind, attrs, std::move(inputs), {}, static_cast<std::int32_t>(graph_.ops.size())};
  for (Shape& shape : outs) {
    Tensor t;
    t.desc.shape = std::move(shape), t.desc.quant = quant, t.desc.dtype = type;
    op.outputs.push_back(add(std::move(t)));
  }
  auto status = delegate::normalise_op(graph_, op);
  if (status.ok()) status = delegate::check_op(graph_, op);
  if (!status.ok()) throw std::logic_error(graph_.name + ": " + status.error().text());
  std::vector<TensorId> results = op.outputs;
  graph_.ops.push_back(std::move(op));
  maps_.insert(maps_.end(), results.begin(), results.end());
  return results;
}

TensorId Maker::emit(OpKind kind, arch::OpAttrs attrs, std::vector<TensorId> inputs, Shape out,
                     Quantisation quant) {
  return emit_parts(kind, attrs, std::move(inputs), {std::move(out)}, std::move(quant))[0];
}

}  // namespace deputy::graphs
