// Element-wise operators: two inputs with every kind of broadcast, one input through a table, and
// those that only the CPU has.
#include <algorithm>

#include "delegate/ir/op_checker.h"
#include "tests/support/graphs/steps.h"

namespace deputy::graphs {

TensorId binary(Maker& m, OpKind kind, TensorId a, TensorId b) {
  const auto wide = delegate::broadcast(m.shape(a), m.shape(b));
  if (!wide) return kNoTensor;
  Shape out;
  for (const std::int64_t d : *wide) out.push_back(static_cast<std::int32_t>(d));
  if (element_count(out) > m.limits.elements) return kNoTensor;
  arch::OpAttrs attrs;
  Quantisation quant = m.quantisation();
  const float sa = m.quant(a).scale[0], sb = m.quant(b).scale[0];
  if (kind == OpKind::MINIMUM || kind == OpKind::MAXIMUM) {
    quant = m.quant(a);
    if (!(m.quant(b) == quant)) b = requantise(m, b, quant);
  } else {
    attrs.activation = static_cast<std::uint8_t>(random_activation(m));
    if (m.chance(85))
      quant.scale[0] = kind == OpKind::MUL ? sa * sb * 64.0f * m.scale(-1, 0)
                                           : std::max(sa, sb) * m.scale(-1, 0);
  }
  return m.emit(kind, attrs, {a, b}, std::move(out), quant);
}

TensorId binary_constant(Maker& m, TensorId x) {
  const OpKind kind = m.one_of(
      {OpKind::ADD, OpKind::SUB, OpKind::MUL, OpKind::MUL, OpKind::MINIMUM, OpKind::MAXIMUM});
  const bool alike = kind == OpKind::MINIMUM || kind == OpKind::MAXIMUM;
  Shape shape = m.shape(x);
  switch (m.pick(0, 4)) {
    case 0:
      break;  // one value an element
    case 1:
      shape.clear();
      break;  // a scalar
    case 2:
      std::fill(shape.begin(), shape.end(), 1);
      break;
    case 3:  // one value a channel
      shape = shape.empty() ? Shape() : Shape{shape.back()};
      break;
    default:  // some dimensions repeated
      for (auto& d : shape)
        if (m.chance(50)) d = 1;
  }
  const TensorId constant = m.constant_map(shape, alike ? m.quant(x) : m.quantisation());
  const bool swap = m.chance(30);
  return binary(m, kind, swap ? constant : x, swap ? x : constant);
}

TensorId unary(Maker& m, OpKind kind, TensorId x) {
  arch::OpAttrs a;
  Quantisation out = m.quantisation();
  if (kind == OpKind::LOGISTIC && m.chance(90)) out = {{1.0f / 256}, {m.zero(-128)}, 0};
  if (kind == OpKind::TANH && m.chance(90)) out = {{1.0f / 128}, {m.zero(0)}, 0};
  if (kind == OpKind::LEAKY_RELU) a.alpha = m.one_of({0.1f, 0.25f, 1.5f, -0.3f});
  if (kind == OpKind::GELU) a.approximate = m.chance(50);
  if (kind == OpKind::SOFTMAX) {
    out = {{1.0f / 256}, {m.zero(-128)}, 0};
    a.beta = m.one_of({1.0f, 0.5f});
  }
  const bool relu = kind == OpKind::RELU || kind == OpKind::RELU6 || kind == OpKind::RELU_N1_TO_1;
  if (relu && m.chance(50)) out = m.quant(x);  // only a clamp
  return m.emit(kind, a, {x}, m.shape(x), out);
}

TensorId random_unary(Maker& m, TensorId x) {
  return unary(
      m,
      m.one_of({OpKind::RELU, OpKind::RELU, OpKind::RELU6, OpKind::RELU_N1_TO_1, OpKind::LOGISTIC,
                OpKind::TANH, OpKind::HARD_SWISH, OpKind::LEAKY_RELU, OpKind::ELU, OpKind::GELU,
                OpKind::ABS, OpKind::EXP, OpKind::NEG, OpKind::QUANTIZE}),
      x);
}

TensorId table_chain(Maker& m, TensorId x) {
  for (int n = m.pick(1, 4); n > 0; --n) x = random_unary(m, x);
  return x;
}

TensorId requantise(Maker& m, TensorId x, const Quantisation& to) {
  return m.emit(OpKind::QUANTIZE, {}, {x}, m.shape(x), to);
}

TensorId cpu_only(Maker& m, TensorId x) {
  const Shape in = m.shape(x);
  if (in.empty()) return kNoTensor;
  const auto rank = static_cast<int>(in.size());
  switch (m.pick(0, 5)) {
    case 0:
      return m.emit(OpKind::REVERSE_V2, {}, {x, m.ints({m.pick(0, rank - 1)})}, in, m.quant(x));
    case 1: {
      arch::OpAttrs a;
      a.keep_dims = true;
      const int axis = m.pick(0, rank - 1);
      Shape out = in;
      out[static_cast<std::size_t>(axis)] = 1;
      return m.emit(OpKind::REDUCE_MAX, a, {x, m.ints({axis})}, out, m.quant(x));
    }
    case 2: {
      if (!m.is_image(x) || m.elements(x) * 4 > m.limits.elements) return kNoTensor;
      const Shape out = {in[0], in[1] * 2, in[2] * 2, in[3]};
      return m.emit(OpKind::RESIZE_NEAREST_NEIGHBOR, {}, {x, m.ints({out[1], out[2]})}, out,
                    m.quant(x));
    }
    case 3: {
      std::vector<std::int32_t> times(in.size(), 1);
      const auto d = static_cast<std::size_t>(m.pick(0, rank - 1));
      times[d] = 2;
      Shape out = in;
      out[d] *= 2;
      if (element_count(out) > m.limits.elements) return kNoTensor;
      return m.emit(OpKind::TILE, {}, {x, m.ints(times)}, out, m.quant(x));
    }
    default:
      return unary(m, OpKind::SOFTMAX, x);
  }
}

}  // namespace deputy::graphs
