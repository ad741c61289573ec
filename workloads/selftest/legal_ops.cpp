#include "workloads/selftest/legal_ops.h"

#include <stdexcept>

namespace deputy::graphs {
namespace {

// Emits the operator on x, a 1x4x4x8 map.
void emit(Maker& m, OpKind kind) {
  const Shape in = {1, 4, 4, 8};
  const Quantisation q = {{0.05f}, {m.zero(3)}, 0}, r = {{0.07f}, {m.zero(-5)}, 0};
  const TensorId x = m.input(in, q);
  arch::OpAttrs a;
  switch (kind) {
    case OpKind::CONV_2D: {
      a.padding = 1;
      const TensorId w = m.weights({6, 3, 3, 8}, 0, 72, x, r), b = m.bias(6, true);
      m.emit(kind, a, {x, w, b}, {1, 4, 4, 6}, r);
      return;
    }
    case OpKind::DEPTHWISE_CONV_2D: {
      a.padding = 1;
      const TensorId w = m.weights({1, 3, 3, 8}, 3, 9, x, r), b = m.bias(8, true);
      m.emit(kind, a, {x, w, b}, in, r);
      return;
    }
    case OpKind::FULLY_CONNECTED: {
      const TensorId w = m.weights({5, 8}, 0, 8, x, r), b = m.bias(5, true);
      m.emit(kind, a, {x, w, b}, {16, 5}, r);
      return;
    }
    case OpKind::AVERAGE_POOL_2D:
    case OpKind::MAX_POOL_2D:
      a.filter_h = a.filter_w = 2, a.stride_h = a.stride_w = 2;
      m.emit(kind, a, {x}, {1, 2, 2, 8}, q);
      return;
    case OpKind::MEAN: {
      const TensorId axes = m.ints({1, 2});
      m.emit(kind, a, {x, axes}, {1, 8}, r);
      return;
    }
    case OpKind::ADD:
    case OpKind::SUB:
    case OpKind::MUL: {
      const TensorId y = m.input({1, 4, 1, 8}, r);
      m.emit(kind, a, {x, y}, in, {{0.1f}, {m.zero(0)}, 0});
      return;
    }
    case OpKind::MINIMUM:
    case OpKind::MAXIMUM: {
      const TensorId y = m.input(in, q);
      m.emit(kind, a, {x, y}, in, q);
      return;
    }
    case OpKind::SOFTMAX:
      m.emit(kind, a, {x}, in, {{1.0f / 256}, {m.zero(-128)}, 0});
      return;
    case OpKind::LOGISTIC:
      m.emit(kind, a, {x}, in, {{1.0f / 256}, {m.zero(-128)}, 0});
      return;
    case OpKind::TANH:
      m.emit(kind, a, {x}, in, {{1.0f / 128}, {m.zero(0)}, 0});
      return;
    case OpKind::SQRT:
    case OpKind::RSQRT: {  // of nothing negative
      m.graph().tensor(x).desc.quant.zero_point[0] = m.zero(-128);
      m.emit(kind, a, {x}, in, r);
      return;
    }
    case OpKind::LEAKY_RELU:
      a.alpha = 0.25f;
      m.emit(kind, a, {x}, in, r);
      return;
    case OpKind::PAD:
    case OpKind::PADV2: {
      std::vector<TensorId> inputs = {x, m.int_matrix({0, 0, 1, 2, 0, 1, 0, 0}, 2)};
      if (kind == OpKind::PADV2) inputs.push_back(m.constant_map({1}, q));
      m.emit(kind, a, inputs, {1, 7, 5, 8}, q);
      return;
    }
    case OpKind::CONCATENATION: {
      const TensorId y = m.input({1, 4, 4, 4}, q);
      a.axis = 3;
      m.emit(kind, a, {x, y}, {1, 4, 4, 12}, q);
      return;
    }
    case OpKind::PACK: {
      const TensorId y = m.input(in, q);
      a.axis = 1, a.num = 2;
      m.emit(kind, a, {x, y}, {1, 2, 4, 4, 8}, q);
      return;
    }
    case OpKind::UNPACK:
      a.axis = 1, a.num = 4;
      m.emit_parts(kind, a, {x}, std::vector<Shape>(4, {1, 4, 8}), q);
      return;
    case OpKind::SPLIT: {
      a.num = 2;
      const TensorId axis = m.ints({3});
      m.emit_parts(kind, a, {axis, x}, std::vector<Shape>(2, {1, 4, 4, 4}), q);
      return;
    }
    case OpKind::SPLIT_V: {
      const TensorId sizes = m.ints({2, 6}), axis = m.ints({3});
      m.emit_parts(kind, a, {x, sizes, axis}, {{1, 4, 4, 2}, {1, 4, 4, 6}}, q);
      return;
    }
    case OpKind::SLICE: {
      const TensorId begin = m.ints({0, 1, 0, 2}), size = m.ints({1, 2, 4, 5});
      m.emit(kind, a, {x, begin, size}, {1, 2, 4, 5}, q);
      return;
    }
    case OpKind::STRIDED_SLICE: {
      const TensorId begin = m.ints({0, 0, 0, 2}), end = m.ints({1, 4, 4, 8}),
                     step = m.ints({1, 2, 1, 1});
      m.emit(kind, a, {x, begin, end, step}, {1, 2, 4, 6}, q);
      return;
    }
    case OpKind::TRANSPOSE: {
      const TensorId order = m.ints({0, 3, 1, 2});
      m.emit(kind, a, {x, order}, {1, 8, 4, 4}, q);
      return;
    }
    case OpKind::SPACE_TO_DEPTH:
      a.block_size = 2;
      m.emit(kind, a, {x}, {1, 2, 2, 32}, q);
      return;
    case OpKind::DEPTH_TO_SPACE:
      a.block_size = 2;
      m.emit(kind, a, {x}, {1, 8, 8, 2}, q);
      return;
    case OpKind::RESHAPE: {
      const TensorId shape = m.ints({2, 64});
      m.emit(kind, a, {x, shape}, {2, 64}, q);
      return;
    }
    case OpKind::SQUEEZE:
      m.emit(kind, a, {x}, {4, 4, 8}, q);
      return;
    case OpKind::EXPAND_DIMS: {
      const TensorId axis = m.ints({1});
      m.emit(kind, a, {x, axis}, {1, 1, 4, 4, 8}, q);
      return;
    }
    default:
      m.emit(kind, a, {x}, in, r);
  }
}

}  // namespace

Graph legal_op(OpKind kind, DType type) {
  Maker m(std::string(arch::op_name(kind)), 7, {});
  m.type = type;
  emit(m, kind);
  m.graph().outputs = m.graph().ops.at(0).outputs;
  return std::move(m.graph());
}

}  // namespace deputy::graphs
