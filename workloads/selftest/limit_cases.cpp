#include "workloads/selftest/limit_cases.h"

#include <stdexcept>

#include "delegate/ops/constraints.h"
#include "workloads/selftest/legal_ops.h"

namespace deputy::graphs {
namespace {

using delegate::Demand;
using delegate::OpRow;
using delegate::Rule;

constexpr std::int32_t kHuge = 33554432;  // the largest scratchpad

std::int32_t narrow(std::int64_t v) { return static_cast<std::int32_t>(v); }
bool is_pool(OpKind k) { return k == OpKind::AVERAGE_POOL_2D || k == OpKind::MAX_POOL_2D; }
Op& only(Graph& g) { return g.ops.at(0); }
Tensor& in(Graph& g, std::size_t i) { return g.tensor(only(g).inputs.at(i)); }
Tensor& out(Graph& g) { return g.tensor(only(g).outputs.at(0)); }
// The input that carries the (first) feature map.
std::size_t map_input(OpKind kind) { return kind == OpKind::SPLIT ? 1 : 0; }

struct WindowCase {
  std::int32_t h = 1, out_h = 1, channels = 2, kernel = 1, stride = 1, dilation = 1, pad = 0;
};
// A window operator on a 1 x h x 1 x channels map with explicit pads.
Graph window(OpKind kind, const WindowCase& c) {
  Maker m(std::string(arch::op_name(kind)), 11, {});
  const Quantisation q = {{0.05f}, {3}, 0};
  const TensorId x = m.input({1, c.h, 1, c.channels}, q);
  arch::OpAttrs a;
  a.padding = static_cast<std::uint8_t>(arch::Padding::kExplicit);
  a.stride_h = c.stride, a.dilation_h = c.dilation, a.pad_top = c.pad;
  std::vector<TensorId> inputs = {x};
  const std::int32_t span = (c.kernel - 1) * c.dilation + 1;
  a.pad_bottom = std::max(0, (c.out_h - 1) * c.stride + span - c.pad - c.h);
  if (is_pool(kind)) {
    a.filter_h = c.kernel;
  } else {
    const bool depthwise = kind == OpKind::DEPTHWISE_CONV_2D;
    const Shape shape =
        depthwise ? Shape{1, c.kernel, 1, c.channels} : Shape{2, c.kernel, 1, c.channels};
    inputs.push_back(m.weights(shape, depthwise ? 3 : 0, c.kernel, x, q));
    inputs.push_back(m.bias(2, true));
  }
  m.emit(kind, a, inputs, {1, c.out_h, 1, 2}, q);
  m.graph().outputs = only(m.graph()).outputs;
  return std::move(m.graph());
}

// MEAN of a 1 x h x w x 1 map.
Graph mean_of(std::int32_t h, std::int32_t w) {
  Maker m("MEAN", 12, {});
  const TensorId x = m.input({1, h, w, 1}, {{0.05f}, {3}, 0}), axes = m.ints({1, 2});
  m.emit(OpKind::MEAN, {}, {x, axes}, {1, 1}, {{0.03f}, {1}, 0});
  m.graph().outputs = only(m.graph()).outputs;
  return std::move(m.graph());
}

Graph softmax_of(std::int32_t length) {
  Maker m("SOFTMAX", 13, {});
  const TensorId x = m.input({1, length}, {{0.05f}, {3}, 0});
  m.emit(OpKind::SOFTMAX, {}, {x}, {1, length}, {{1.0f / 256}, {-128}, 0});
  m.graph().outputs = only(m.graph()).outputs;
  return std::move(m.graph());
}

// A copy of more than kSmallCopy bytes in runs of `run` bytes.
Graph runs_of(OpKind kind, std::int32_t run) {
  Maker m(std::string(arch::op_name(kind)), 14, {});
  const Quantisation q = {{0.05f}, {3}, 0};
  constexpr std::int32_t kRows = 600;
  arch::OpAttrs a;
  switch (kind) {
    case OpKind::CONCATENATION: {
      const TensorId x = m.input({kRows, run}, q), y = m.input({kRows, 9}, q);
      a.axis = 1;
      m.emit(kind, a, {x, y}, {kRows, run + 9}, q);
      break;
    }
    case OpKind::PACK: {
      const TensorId x = m.input({kRows, run}, q), y = m.input({kRows, run}, q);
      a.axis = 1, a.num = 2;
      m.emit(kind, a, {x, y}, {kRows, 2, run}, q);
      break;
    }
    case OpKind::UNPACK: {
      const TensorId x = m.input({kRows, 2, run}, q);
      a.axis = 1, a.num = 2;
      m.emit_parts(kind, a, {x}, std::vector<Shape>(2, {kRows, run}), q);
      break;
    }
    case OpKind::SPLIT: {
      const TensorId axis = m.ints({1}), x = m.input({kRows, 2 * run}, q);
      a.num = 2;
      m.emit_parts(kind, a, {axis, x}, std::vector<Shape>(2, {kRows, run}), q);
      break;
    }
    case OpKind::SPLIT_V: {
      const TensorId x = m.input({kRows, run + 9}, q), sizes = m.ints({run, 9}), axis = m.ints({1});
      m.emit_parts(kind, a, {x, sizes, axis}, {{kRows, run}, {kRows, 9}}, q);
      break;
    }
    case OpKind::SLICE: {
      const TensorId x = m.input({kRows, 12}, q), begin = m.ints({0, 2}),
                     size = m.ints({kRows, run});
      m.emit(kind, a, {x, begin, size}, {kRows, run}, q);
      break;
    }
    case OpKind::STRIDED_SLICE: {
      const TensorId x = m.input({kRows, 12}, q), begin = m.ints({0, 2}),
                     end = m.ints({kRows, 2 + run}), step = m.ints({1, 1});
      m.emit(kind, a, {x, begin, end, step}, {kRows, run}, q);
      break;
    }
    case OpKind::TRANSPOSE: {  // the middle dimension keeps rows of `run` apart
      const TensorId x = m.input({30, 20, run}, q), order = m.ints({2, 1, 0});
      m.emit(kind, a, {x, order}, {run, 20, 30}, q);
      break;
    }
    default:
      throw std::logic_error("no copy of short runs for this operator");
  }
  m.graph().outputs = only(m.graph()).outputs;
  return std::move(m.graph());
}

// A copy of `n` transfers.
Graph transfers_of(OpKind kind, std::int32_t n) {
  Maker m(std::string(arch::op_name(kind)), 15, {});
  const Quantisation q = {{0.05f}, {3}, 0};
  const auto parts = static_cast<std::size_t>(n);
  arch::OpAttrs a;
  switch (kind) {
    case OpKind::CONCATENATION: {
      const TensorId x = m.input({1, 4}, q);
      a.axis = 0;
      m.emit(kind, a, std::vector<TensorId>(parts, x), {n, 4}, q);
      break;
    }
    case OpKind::PACK: {
      const TensorId x = m.input({4}, q);
      a.axis = 0, a.num = n;
      m.emit(kind, a, std::vector<TensorId>(parts, x), {n, 4}, q);
      break;
    }
    case OpKind::UNPACK: {
      const TensorId x = m.input({n, 4}, q);
      a.axis = 0, a.num = n;
      m.emit_parts(kind, a, {x}, std::vector<Shape>(parts, {4}), q);
      break;
    }
    case OpKind::SPLIT: {
      const TensorId axis = m.ints({0}), x = m.input({n, 4}, q);
      a.num = n;
      m.emit_parts(kind, a, {axis, x}, std::vector<Shape>(parts, {1, 4}), q);
      break;
    }
    case OpKind::SPLIT_V: {
      const TensorId x = m.input({n, 4}, q), sizes = m.ints(std::vector<std::int32_t>(parts, 1)),
                     axis = m.ints({0});
      m.emit_parts(kind, a, {x, sizes, axis}, std::vector<Shape>(parts, {1, 4}), q);
      break;
    }
    case OpKind::SLICE: {
      const TensorId x = m.input({n, 3, 3, 6}, q), begin = m.ints({0, 0, 0, 0}),
                     size = m.ints({n, 2, 2, 4});
      m.emit(kind, a, {x, begin, size}, {n, 2, 2, 4}, q);
      break;
    }
    case OpKind::STRIDED_SLICE: {
      const TensorId x = m.input({n, 3, 3, 6}, q), begin = m.ints({0, 0, 0, 0}),
                     end = m.ints({n, 2, 2, 4}), step = m.ints({1, 1, 1, 1});
      m.emit(kind, a, {x, begin, end, step}, {n, 2, 2, 4}, q);
      break;
    }
    case OpKind::TRANSPOSE: {
      const TensorId x = m.input({2, 2, n, 64}, q), order = m.ints({2, 1, 0, 3});
      m.emit(kind, a, {x, order}, {n, 2, 2, 64}, q);
      break;
    }
    case OpKind::SPACE_TO_DEPTH: {
      a.block_size = 2;
      const TensorId x = m.input({1, 2 * n, 4, 32}, q);
      m.emit(kind, a, {x}, {1, n, 2, 128}, q);
      break;
    }
    default: {
      a.block_size = 2;
      const TensorId x = m.input({1, n, 2, 128}, q);
      m.emit(kind, a, {x}, {1, 2 * n, 4, 32}, q);
    }
  }
  m.graph().outputs = only(m.graph()).outputs;
  return std::move(m.graph());
}

// The largest n in [low, high) for which the NPU takes make(n).
template <class Make>
std::int32_t largest(std::int32_t low, std::int32_t high, const delegate::CompileOptions& options,
                     Make&& make) {
  while (low + 1 < high) {
    const std::int32_t middle = low + (high - low) / 2;
    const Graph g = make(middle);
    (delegate::npu_refusal(g, g.ops[0], options) ? high : low) = middle;
  }
  return low;
}

}  // namespace

std::optional<LimitCase> limit_case(const OpRow& row, const Demand& demand) {
  const OpKind kind = row.kind;
  const std::int32_t limit = narrow(demand.limit);
  LimitCase c;
  c.at = c.past = legal_op(kind);
  const auto options = [&](auto&& f) { f(c.at_options), f(c.past_options); };
  const auto window_pair = [&](WindowCase at, WindowCase past) {
    c.at = window(kind, at), c.past = window(kind, past);
  };
  switch (demand.rule) {
    case Rule::kTypes:
      c.at = legal_op(kind, DType::kUint8);
      in(c.past, map_input(kind)).desc.dtype = DType::kInt16;
      return c;
    case Rule::kOneType:
      out(c.past).desc.dtype = DType::kUint8;
      return c;
    case Rule::kQuantised: {
      // Zero points of -128 all round, then one below.
      const bool fixed = kind == OpKind::SOFTMAX;
      for (Graph* g : {&c.at, &c.past})
        for (Tensor& t : g->tensors)
          if (t.desc.quant.present() && !(t.constant && kind != OpKind::PADV2) &&
              !(fixed && &t == &out(*g)))
            t.desc.quant.zero_point[0] = -128;
      in(c.past, map_input(kind)).desc.quant.zero_point[0] = -129;
      return c;
    }
    case Rule::kElements:
      in(c.past, map_input(kind)).desc.shape[1] = 0;
      return c;
    case Rule::kSameQuantisation:
      out(c.past).desc.quant.zero_point[0] += 1;
      return c;
    case Rule::kWeights:
      in(c.past, 1).constant = false;
      return c;
    case Rule::kWeightScales: {
      Quantisation& q = in(c.at, 1).desc.quant;
      const std::int32_t channels = out(c.at).desc.shape.back();
      q.scale.assign(static_cast<std::size_t>(channels), 0.003f);
      q.zero_point.assign(q.scale.size(), 0);
      q.axis = kind == OpKind::DEPTHWISE_CONV_2D ? 3 : 0;
      in(c.past, 1).desc.quant = q;
      in(c.past, 1).desc.quant.zero_point.back() = 1;
      return c;
    }
    case Rule::kBiasScale: {  // one part in a thousand, then two
      for (Graph* g : {&c.at, &c.past}) in(*g, 1).desc.quant = {{0.003f}, {0}, 0};
      const float product = in(c.at, 0).desc.quant.scale[0] * 0.003f;
      in(c.at, 2).desc.quant = {{product * 1.0009f}, {0}, 0};
      in(c.past, 2).desc.quant = {{product * 1.002f}, {0}, 0};
      return c;
    }
    case Rule::kBias:
      in(c.past, 2).desc.dtype = DType::kInt64;
      return c;
    case Rule::kRank:
      in(c.past, 0).desc.shape = {1, 1, 4, 4, 8};
      return c;
    case Rule::kMostRank: {
      std::vector<std::int32_t> pads;
      Shape shape(static_cast<std::size_t>(limit), 1);
      shape.back() = 4;
      for (Graph* g : {&c.at, &c.past}) {
        in(*g, 0).desc.shape = out(*g).desc.shape = shape;
        if (only(*g).inputs.size() > 1) {
          Tensor& p = in(*g, 1);
          p.desc.shape = {narrow(static_cast<std::int64_t>(shape.size())), 2};
          p.data.assign(shape.size() * 8, 0);
        }
        shape.insert(shape.begin(), 1);
      }
      return c;
    }
    case Rule::kMatrix:
      in(c.past, 1).desc.shape = {5, 2, 4};
      return c;
    case Rule::kSpan:
      if (kind == OpKind::MEAN) {
        c.at = mean_of(limit, 1), c.past = mean_of(limit + 1, 1);
      } else {
        window_pair({.h = limit, .kernel = limit}, {.h = limit + 1, .kernel = limit + 1});
      }
      return c;
    case Rule::kStride:
      window_pair({.stride = limit}, {.stride = limit + 1});
      return c;
    case Rule::kDilation:
      window_pair({.dilation = limit}, {.dilation = limit + 1});
      return c;
    case Rule::kPadding:  // two outputs: one of padding, one of the map
      window_pair({.out_h = 2, .stride = limit, .pad = limit},
                  {.out_h = 2, .stride = limit + 1, .pad = limit + 1});
      return c;
    case Rule::kTouches:
      window_pair({.h = 4, .out_h = 2, .kernel = 3, .stride = 3, .pad = 2},
                  {.h = 4, .out_h = 2, .kernel = 3, .stride = 3, .pad = 3});
      return c;
    case Rule::kFits: {
      options([](delegate::CompileOptions& o) { o.npu.spm.bytes = 4096; });
      const auto make = [&](std::int32_t n) {
        return kind == OpKind::MEAN ? mean_of(n, 1) : window(kind, {.h = n, .kernel = n});
      };
      const std::int32_t n = largest(1, 32768, c.at_options, make);
      c.at = make(n), c.past = make(n + 1);
      return c;
    }
    case Rule::kAxes:
      in(c.past, 1).constant = false;
      in(c.past, 1).data.clear();
      return c;
    case Rule::kReduced:
      options([](delegate::CompileOptions& o) { o.npu.spm.bytes = kHuge; });
      c.at = mean_of(limit / 1024, 1024), c.past = mean_of(limit / 1024 + 1, 1024);
      return c;
    case Rule::kMeanRounding:  // keeping the dimensions counted from the back is not XNNPACK's form
      options([](delegate::CompileOptions& o) { o.numerics = Numerics::kFp32; });
      in(c.past, 1).data = {0xFD, 0xFF, 0xFF, 0xFF, 0xFE, 0xFF, 0xFF, 0xFF};
      return c;
    case Rule::kBeta:
      only(c.at).attrs.beta = 0.01f, only(c.past).attrs.beta = 0;
      return c;
    case Rule::kSoftmaxOutput:
      out(c.past).desc.quant.zero_point[0] = -127;
      return c;
    case Rule::kRowFits: {
      options([](delegate::CompileOptions& o) { o.npu.spm.bytes = 4096; });
      const std::int32_t n = largest(1, 100000, c.at_options, softmax_of);
      c.at = softmax_of(n), c.past = softmax_of(n + 1);
      return c;
    }
    case Rule::kRowLength:
      options([](delegate::CompileOptions& o) { o.npu.spm.bytes = kHuge; });
      c.at = softmax_of(limit), c.past = softmax_of(limit + 1);
      return c;
    case Rule::kPads:
      in(c.past, 1).data[8] = 0xFF, in(c.past, 1).data[9] = 0xFF, in(c.past, 1).data[10] = 0xFF,
                 in(c.past, 1).data[11] = 0xFF;
      return c;
    case Rule::kOperands: {
      // A constant that is computed; where there is none, a result too small for the parts.
      bool found = false;
      for (const TensorId id : only(c.past).inputs) {
        Tensor& t = c.past.tensor(id);
        if (!t.constant) continue;
        t.constant = false, found = true;
        t.data.clear();
      }
      if (!found) out(c.past).desc.shape.back() -= 1;
      return c;
    }
    case Rule::kSteps:
      in(c.past, 3).data.assign(in(c.past, 3).data.size(), 0xFF);
      return c;
    case Rule::kRuns:
      c.at = runs_of(kind, limit), c.past = runs_of(kind, limit - 1);
      return c;
    case Rule::kTransfers:
      c.at = transfers_of(kind, limit), c.past = transfers_of(kind, limit + 1);
      return c;
    case Rule::kNotConstant: {
      Tensor& t = in(c.past, 0);
      t.constant = true;
      t.data.assign(static_cast<std::size_t>(t.desc.bytes()), 1);
      c.past.inputs.clear();
      return c;
    }
    case Rule::kSameBytes:
      out(c.past).desc.shape.back() += 1;
      return c;
    case Rule::kIntegerWeights:
      in(c.past, 1).desc.dtype = DType::kFloat32;
      return c;
  }
  return std::nullopt;
}

}  // namespace deputy::graphs
