// Blocks: the shapes of real networks that invite a fusion, a view, a cascade or an in-place
// result, and for each the near misses that forbid it (a second reader or a graph output in the
// middle, scales that differ, a constant or repeated part).
#include <algorithm>

#include "tests/support/graphs/steps.h"

namespace deputy::graphs {
namespace {

// Now and then somebody else wants the value in the middle of a chain.
void disturb(Maker& m, TensorId x) {
  if (x == kNoTensor || !m.chance(15)) return;
  if (m.chance(50)) {
    if (std::find(m.graph().outputs.begin(), m.graph().outputs.end(), x) == m.graph().outputs.end())
      m.graph().outputs.push_back(x);
  } else {
    unary(m, m.one_of({OpKind::TANH, OpKind::RELU}), x);
  }
}

WindowChoice square(Maker& m, int kernel, int stride = 1) {
  WindowChoice w;
  w.kernel_h = w.kernel_w = kernel, w.stride_h = w.stride_w = stride;
  w.activation = random_activation(m);
  return w;
}

// PAD? CONV|DEPTHWISE, activation?, residual ADD?, activation?, pool?
void epilogue_chain(Maker& m, TensorId x) {
  if (m.chance(40)) {
    const TensorId padded = pad(m, x, 2);
    disturb(m, padded);
    if (padded != kNoTensor) x = padded;
  }
  WindowChoice w = random_window(m, x, 3);
  TensorId y = m.chance(60) ? conv(m, x, m.pick(1, 24), w)
                            : depthwise(m, x, m.chance(75) ? 1 : m.pick(2, 4), w);
  if (y == kNoTensor) return;
  disturb(m, y);
  if (m.chance(60)) y = random_unary(m, y), disturb(m, y);
  if (m.chance(50)) {
    const Shape shape = m.shape(y);
    const TensorId other = m.pick_map([&](TensorId id) { return id != y && m.shape(id) == shape; });
    const OpKind kind = m.one_of({OpKind::ADD, OpKind::ADD, OpKind::SUB, OpKind::MUL});
    const bool swap = m.chance(40);
    if (other != kNoTensor) y = binary(m, kind, swap ? other : y, swap ? y : other);
    if (y == kNoTensor) return;
    disturb(m, y);
  }
  if (m.chance(30)) y = random_unary(m, y), disturb(m, y);
  if (m.chance(40)) pool(m, y, m.chance(50), square(m, 2, m.pick(1, 2)));
}

// x + f(x), where f has one or two convolutions.
void residual_block(Maker& m, TensorId x) {
  const Shape in = m.shape(x);
  TensorId y = conv(m, x, in[3], square(m, m.one_of({1, 3})));
  disturb(m, y);
  if (y != kNoTensor && m.shape(y) == in && m.chance(60)) y = conv(m, y, in[3], square(m, 3));
  if (y == kNoTensor || m.shape(y) != in) return;
  disturb(m, y);
  const bool swap = m.chance(50);
  y = binary(m, OpKind::ADD, swap ? y : x, swap ? x : y);
  disturb(m, y);
  if (m.chance(40)) unary(m, OpKind::RELU, y);
}

void inverted_bottleneck(Maker& m, TensorId x) {
  const Shape in = m.shape(x);
  const int stride = m.chance(70) ? 1 : 2;
  TensorId y = conv(m, x, in[3] * m.pick(2, 4), square(m, 1));
  if (y == kNoTensor) return;
  disturb(m, y);
  if (stride == 2 && m.chance(50)) {
    const TensorId padded = pad(m, y, 1);
    if (padded != kNoTensor) y = padded;
  }
  y = depthwise(m, y, 1, square(m, m.one_of({3, 3, 5}), stride));
  if (y == kNoTensor) return;
  disturb(m, y);
  y = conv(m, y, in[3], square(m, 1));
  if (y != kNoTensor && m.shape(y) == in) binary(m, OpKind::ADD, x, y);
}

// Several windows one after the other at one resolution: what a cascade wants.
void window_chain(Maker& m, TensorId x) {
  for (int n = m.pick(2, 5); n > 0 && x != kNoTensor; --n) {
    const TensorId before = x;
    switch (m.pick(0, 5)) {
      case 0:
        x = pool(m, x, m.chance(50), square(m, m.pick(2, 3), m.pick(1, 2)));
        break;
      case 1:
      case 2:
        x = depthwise(m, x, 1, random_window(m, x, 3));
        break;
      default:
        x = conv(m, x, m.pick(1, 16), random_window(m, x, 3));
    }
    disturb(m, x);
    if (x != kNoTensor && m.chance(15)) x = random_unary(m, x);
    if (x != kNoTensor && m.chance(10) && m.shape(x) == m.shape(before))
      x = binary(m, OpKind::ADD, before, x);
  }
}

// Branches of one map, joined along an axis: the join may become strided writes.
void inception(Maker& m, TensorId x) {
  const Shape in = m.shape(x);
  const int axis = m.chance(75) ? 3 : m.pick(0, 2);
  const Quantisation quant = m.chance(60) ? m.quant(x) : m.quantisation();
  std::vector<TensorId> parts;
  for (int n = m.pick(2, 4); n > 0; --n) {
    TensorId part = x;
    switch (m.pick(0, 5)) {
      case 0:
        break;  // the map itself
      case 1:
        part = unary(m, OpKind::RELU, x);
        break;
      case 2: {
        Shape shape = in;
        if (m.chance(50)) shape[static_cast<std::size_t>(axis)] = m.pick(1, 3);
        part = m.constant_map(shape, quant);
        break;
      }
      case 3:
        part = pool(m, x, m.chance(50), square(m, 3));
        break;
      default:
        part = conv(m, x, axis == 3 ? m.pick(1, 9) : in[3], square(m, m.one_of({1, 3})));
    }
    if (part == kNoTensor) return;
    if (!m.tensor(part).constant) disturb(m, part);
    parts.push_back(part);
  }
  if (m.chance(15)) parts.push_back(parts[0]);  // the same part twice
  const bool constant =
      std::all_of(parts.begin(), parts.end(), [&](TensorId id) { return m.tensor(id).constant; });
  if (constant) parts[0] = x;
  TensorId y = concat(m, parts, axis, m.chance(50) ? m.quant(parts[0]) : quant);
  if (y == kNoTensor) return;
  disturb(m, y);
  if (m.chance(30)) y = concat(m, {y, x}, axis, m.quant(y));  // DenseNet: a join of a join
  if (y != kNoTensor && m.chance(50)) conv(m, y, m.pick(1, 12), square(m, 1));
}

// Parts of a map go different ways and meet again.
void split_join(Maker& m, TensorId x) {
  std::vector<TensorId> parts = split(m, x);
  if (parts.empty()) return;
  for (TensorId& part : parts) {
    if (m.chance(30)) continue;
    const TensorId next = m.is_image(part) && m.chance(50)
                              ? conv(m, part, m.shape(part)[3], square(m, m.one_of({1, 3})))
                              : random_unary(m, part);
    if (next != kNoTensor) part = next;
    disturb(m, part);
  }
  if (m.chance(40)) std::swap(parts.front(), parts.back());
  const Shape shape = m.shape(parts[0]);
  if (m.chance(40) && m.shape(parts[1]) == shape) binary(m, OpKind::ADD, parts[0], parts[1]);
  for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis)
    if (concat(m, parts, axis, m.quant(parts[0])) != kNoTensor) return;
}

// A transposition, something element-wise, the way back or another one.
void transpose_pair(Maker& m, TensorId x) {
  const std::vector<std::int32_t> there =
      m.one_of<std::vector<std::int32_t>>({{0, 3, 1, 2}, {0, 2, 1, 3}, {0, 2, 3, 1}});
  std::vector<std::int32_t> back(4);
  for (std::size_t i = 0; i < 4; ++i)
    back[static_cast<std::size_t>(there[i])] = static_cast<std::int32_t>(i);
  TensorId y = transpose(m, x, there);
  disturb(m, y);
  if (m.chance(60)) y = random_unary(m, y);
  if (m.chance(20)) y = binary_constant(m, y);
  if (y == kNoTensor || m.shape(y).size() != 4) return;
  y = transpose(m, y, m.chance(75) ? back : there);
  if (m.chance(40)) conv(m, y, m.pick(1, 8), square(m, 1));
}

// Mean, dense, sigmoid, scale the channels: squeeze and excite.
void squeeze_excite(Maker& m, TensorId x) {
  const Shape in = m.shape(x);
  arch::OpAttrs a;
  a.keep_dims = true;
  TensorId y = m.emit(OpKind::MEAN, a, {x, m.ints({1, 2})}, {in[0], 1, 1, in[3]}, m.quantisation());
  y = conv(m, y, std::max(1, in[3] / 2), square(m, 1));
  if (y != kNoTensor) y = conv(m, y, in[3], square(m, 1));
  if (y == kNoTensor || m.shape(y)[3] != in[3]) return;
  y = unary(m, m.one_of({OpKind::LOGISTIC, OpKind::HARD_SWISH}), y);
  disturb(m, y);
  binary(m, OpKind::MUL, x, y);
}

void head(Maker& m, TensorId x) {
  TensorId y = m.chance(70) ? mean(m, x) : reshape(m, x);
  if (y == kNoTensor) return;
  y = fully_connected(m, y, m.pick(1, 40));
  disturb(m, y);
  if (y != kNoTensor && m.chance(40)) y = fully_connected(m, y, m.pick(1, 12));
  if (y != kNoTensor && m.chance(50)) unary(m, OpKind::SOFTMAX, y);
}

// Part of the way in the other 8-bit type.
void other_type(Maker& m, TensorId x) {
  const DType before = m.type;
  m.type = before == DType::kInt8 ? DType::kUint8 : DType::kInt8;
  TensorId y = requantise(m, x, m.quantisation());
  disturb(m, y);
  if (m.is_image(y) && m.chance(50)) {
    const TensorId next = conv(m, y, m.pick(1, 8), square(m, m.one_of({1, 3})));
    if (next != kNoTensor) y = next;
  } else {
    y = table_chain(m, y);
  }
  m.type = before;
  requantise(m, y, m.quantisation());
}

void any_binary(Maker& m, TensorId x) {
  const TensorId other = m.pick_map([&](TensorId id) { return m.shape(id) == m.shape(x); });
  const OpKind kind = m.one_of(
      {OpKind::ADD, OpKind::ADD, OpKind::SUB, OpKind::MUL, OpKind::MINIMUM, OpKind::MAXIMUM});
  if (other != kNoTensor) binary(m, kind, x, other);
}

}  // namespace

void random_step(Maker& m) {
  const TensorId any = m.pick_map([](TensorId) { return true; });
  const TensorId image = m.pick_image();
  const int choice = m.pick(0, 30);
  if (choice < 18 && image == kNoTensor) return;
  switch (choice) {
    case 0:
    case 1:
    case 2:
    case 3:
      return epilogue_chain(m, image);
    case 4:
    case 5:
      return residual_block(m, image);
    case 6:
    case 7:
      return inverted_bottleneck(m, image);
    case 8:
    case 9:
      return window_chain(m, image);
    case 10:
    case 11:
      return inception(m, image);
    case 12:
      return transpose_pair(m, image);
    case 13:
      return squeeze_excite(m, image);
    case 14: {
      const WindowChoice window = random_window(m, image, 5);
      conv(m, image, m.pick(1, 40), window);
      return;
    }
    case 15: {
      const WindowChoice window = random_window(m, image, 5);
      depthwise(m, image, m.chance(50) ? 1 : m.pick(2, 5), window);
      return;
    }
    case 16:
    case 17: {
      const bool average = m.chance(50);
      pool(m, image, average, random_window(m, image, 4));
      return;
    }
    case 18:
    case 19:
      return split_join(m, any);
    case 20:
    case 21:
      return head(m, any);
    case 22:
    case 23:
      any_binary(m, any);
      return;
    case 24:
      binary_constant(m, any);
      return;
    case 25:
      table_chain(m, any);
      return;
    case 26:
    case 27:
      move(m, any);
      return;
    case 28:
      cpu_only(m, any);
      return;
    case 29:
      return other_type(m, any);
    default:
      mean(m, any);
      return;
  }
}

}  // namespace deputy::graphs
