// Operators that move bytes: pads, parts, joins, transpositions, other shapes.
#include <algorithm>
#include <numeric>

#include "tests/support/graphs/steps.h"

namespace deputy::graphs {

TensorId pad(Maker& m, TensorId x, int most) {
  Shape out = m.shape(x);
  if (out.empty() || out.size() > 4) return kNoTensor;
  std::vector<std::int32_t> amounts;
  for (std::size_t d = 0; d < out.size(); ++d) {
    const bool spatial = out.size() < 4 || d == 1 || d == 2 || m.chance(5);
    const int before = spatial ? m.pick(0, most) : 0, after = spatial ? m.pick(0, most) : 0;
    amounts.push_back(before), amounts.push_back(after);
    out[d] += before + after;
  }
  if (element_count(out) > m.limits.elements) return kNoTensor;
  const TensorId operand = m.int_matrix(amounts, 2);
  if (m.chance(85)) return m.emit(OpKind::PAD, {}, {x, operand}, out, m.quant(x));
  const TensorId value = m.constant_map({1}, m.quant(x));
  return m.emit(OpKind::PADV2, {}, {x, operand, value}, out, m.quant(x));
}

TensorId concat(Maker& m, std::vector<TensorId> parts, int axis, const Quantisation& to) {
  const Quantisation quant = to;  // may lie in a tensor of the growing graph
  const auto d = static_cast<std::size_t>(axis);
  Shape out = m.shape(parts[0]);
  out[d] = 0;
  for (const TensorId part : parts) {
    Shape other = m.shape(part);
    if (other.size() != out.size()) return kNoTensor;
    out[d] += other[d];
    other[d] = out[d];
    if (other != out) return kNoTensor;
  }
  if (element_count(out) > m.limits.elements) return kNoTensor;
  for (TensorId& part : parts)
    if (!(m.quant(part) == quant)) part = requantise(m, part, quant);
  arch::OpAttrs a;
  a.axis = m.chance(30) ? axis - static_cast<int>(out.size()) : axis;
  return m.emit(OpKind::CONCATENATION, a, parts, out, quant);
}

std::vector<TensorId> split(Maker& m, TensorId x) {
  const Shape in = m.shape(x);
  if (in.empty()) return {};
  const int axis =
      m.chance(60) ? static_cast<int>(in.size()) - 1 : m.pick(0, static_cast<int>(in.size()) - 1);
  const auto d = static_cast<std::size_t>(axis);
  if (in[d] < 2) return {};
  const int parts = m.pick(2, std::min(4, static_cast<int>(in[d])));
  arch::OpAttrs a;
  a.num = parts;
  if (in[d] % parts == 0 && m.chance(60)) {
    Shape out = in;
    out[d] /= parts;
    const TensorId operand = m.ints({axis});
    return m.emit_parts(OpKind::SPLIT, a, {operand, x},
                        std::vector<Shape>(static_cast<std::size_t>(parts), out), m.quant(x));
  }
  std::vector<std::int32_t> sizes;
  std::int32_t left = in[d];
  for (int i = parts; i > 1; --i) {
    sizes.push_back(m.pick(1, left - i + 1));
    left -= sizes.back();
  }
  sizes.push_back(left);
  std::vector<Shape> outs;
  for (const std::int32_t size : sizes) {
    outs.push_back(in);
    outs.back()[d] = size;
  }
  if (m.chance(30)) sizes.back() = -1;
  const TensorId lengths = m.ints(sizes), along = m.ints({axis});
  return m.emit_parts(OpKind::SPLIT_V, a, {x, lengths, along}, outs, m.quant(x));
}

TensorId slice(Maker& m, TensorId x) {
  const Shape in = m.shape(x);
  if (in.empty()) return kNoTensor;
  std::vector<std::int32_t> begin, end, step, size;
  Shape out;
  const bool strided = m.chance(40);
  for (const std::int32_t d : in) {
    begin.push_back(m.chance(50) ? 0 : m.pick(0, d - 1));
    size.push_back(m.chance(40) ? d - begin.back() : m.pick(1, d - begin.back()));
    step.push_back(strided && m.chance(40) ? m.pick(1, 3) : 1);
    end.push_back(begin.back() + size.back());
    out.push_back((size.back() + step.back() - 1) / step.back());
  }
  const TensorId from = m.ints(begin);
  if (!strided) return m.emit(OpKind::SLICE, {}, {x, from, m.ints(size)}, out, m.quant(x));
  const TensorId to = m.ints(end), steps = m.ints(step);
  return m.emit(OpKind::STRIDED_SLICE, {}, {x, from, to, steps}, out, m.quant(x));
}

TensorId transpose(Maker& m, TensorId x, const std::vector<std::int32_t>& order) {
  Shape out;
  for (const std::int32_t d : order) out.push_back(m.shape(x)[static_cast<std::size_t>(d)]);
  return m.emit(OpKind::TRANSPOSE, {}, {x, m.ints(order)}, out, m.quant(x));
}

TensorId reshape(Maker& m, TensorId x) {
  const auto n = static_cast<std::int32_t>(m.elements(x));
  std::vector<std::int32_t> divisors;
  for (std::int32_t d = 1; d <= n; ++d)
    if (n % d == 0) divisors.push_back(d);
  const auto divisor = [&] {
    return divisors[static_cast<std::size_t>(m.pick(0, static_cast<int>(divisors.size()) - 1))];
  };
  const Shape in = m.shape(x);
  Shape out = {1, n};
  if (m.chance(30)) {
    const std::int32_t d = divisor();
    out = {n / d, d};
  } else if (m.is_image(x) && m.chance(50)) {
    out = {in[0], in[1] * in[2], in[3]};  // an image as a sequence
  } else if (m.chance(60)) {
    const std::int32_t c = divisor();
    std::int32_t rest = n / c, h = 1;
    for (std::int32_t d = 1; d * d <= rest; ++d)
      if (rest % d == 0) h = d;
    out = {1, h, rest / h, c};
  }
  if (m.chance(70)) return m.emit(OpKind::RESHAPE, {}, {x, m.ints(out)}, out, m.quant(x));
  if (in.size() < 4) {
    const int axis = m.pick(0, static_cast<int>(in.size()));
    Shape wider = in;
    wider.insert(wider.begin() + axis, 1);
    return m.emit(OpKind::EXPAND_DIMS, {}, {x, m.ints({axis})}, wider, m.quant(x));
  }
  Shape narrow;
  for (const std::int32_t d : in)
    if (d != 1) narrow.push_back(d);
  return m.emit(OpKind::SQUEEZE, {}, {x}, narrow, m.quant(x));
}

TensorId move(Maker& m, TensorId x) {
  const Shape in = m.shape(x);
  const auto rank = static_cast<int>(in.size());
  switch (m.pick(0, 8)) {
    case 0:
      return pad(m, x, 3);
    case 1:
      return slice(m, x);
    case 2: {
      const auto parts = split(m, x);
      return parts.empty() ? kNoTensor : parts[0];
    }
    case 3: {
      if (rank < 2 || rank > 5) return kNoTensor;
      std::vector<std::int32_t> order(in.size());
      std::iota(order.begin(), order.end(), 0);
      for (int i = rank - 1; i > 0; --i)
        std::swap(order[static_cast<std::size_t>(i)],
                  order[static_cast<std::size_t>(m.pick(0, i))]);
      return transpose(m, x, order);
    }
    case 4: {
      const int block = 2;
      arch::OpAttrs a;
      a.block_size = block;
      if (!m.is_image(x)) return kNoTensor;
      if (in[1] % block == 0 && in[2] % block == 0)
        return m.emit(OpKind::SPACE_TO_DEPTH, a, {x},
                      {in[0], in[1] / block, in[2] / block, in[3] * block * block}, m.quant(x));
      if (in[3] % (block * block) == 0)
        return m.emit(OpKind::DEPTH_TO_SPACE, a, {x},
                      {in[0], in[1] * block, in[2] * block, in[3] / (block * block)}, m.quant(x));
      return kNoTensor;
    }
    case 5: {
      arch::OpAttrs a;
      a.num = m.pick(1, 3), a.axis = m.pick(0, rank);
      if (m.elements(x) * a.num > m.limits.elements || rank > 4) return kNoTensor;
      Shape out = in;
      out.insert(out.begin() + a.axis, a.num);
      return m.emit(OpKind::PACK, a, std::vector<TensorId>(static_cast<std::size_t>(a.num), x), out,
                    m.quant(x));
    }
    case 6: {
      if (rank < 1) return kNoTensor;
      arch::OpAttrs a;
      a.axis = m.pick(0, rank - 1), a.num = in[static_cast<std::size_t>(a.axis)];
      if (a.num > 5) return kNoTensor;
      Shape out = in;
      out.erase(out.begin() + a.axis);
      return m.emit_parts(OpKind::UNPACK, a, {x},
                          std::vector<Shape>(static_cast<std::size_t>(a.num), out), m.quant(x))[0];
    }
    default:
      return reshape(m, x);
  }
}

}  // namespace deputy::graphs
