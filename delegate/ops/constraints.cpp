#include "delegate/ops/constraints.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "arch/kernel_rules.h"
#include "delegate/codegen/tile_search.h"
#include "delegate/ops/copies.h"
#include "delegate/ops/operands.h"
#include "delegate/ops/window_ops.h"

namespace deputy::delegate {
namespace {

using arch::OpKind;
using Detail = std::optional<std::string>;

struct Query {
  const Graph& graph;
  const Op& op;
  const CompileOptions& options;
  const Tensor& in(std::size_t i) const { return graph.tensor(op.inputs[i]); }
  const Tensor& out() const { return graph.tensor(op.outputs[0]); }
};

// A rule is broken when `broken` returns a value: what was found instead (may be empty).
struct Rule {
  std::span<const OpKind> kinds;
  const char* text;
  Detail (*broken)(const Query&);
};

constexpr OpKind kWeighted[] = {OpKind::CONV_2D, OpKind::DEPTHWISE_CONV_2D,
                                OpKind::FULLY_CONNECTED};
constexpr OpKind kConvolutions[] = {OpKind::CONV_2D, OpKind::DEPTHWISE_CONV_2D};
constexpr OpKind kDense[] = {OpKind::FULLY_CONNECTED};
constexpr OpKind kPools[] = {OpKind::AVERAGE_POOL_2D, OpKind::MAX_POOL_2D};
constexpr OpKind kMean[] = {OpKind::MEAN};
constexpr OpKind kWindows[] = {OpKind::CONV_2D,         OpKind::DEPTHWISE_CONV_2D,
                               OpKind::FULLY_CONNECTED, OpKind::AVERAGE_POOL_2D,
                               OpKind::MAX_POOL_2D,     OpKind::MEAN};
constexpr OpKind kTables[] = {OpKind::RELU,       OpKind::RELU6, OpKind::RELU_N1_TO_1,
                              OpKind::LOGISTIC,   OpKind::TANH,  OpKind::HARD_SWISH,
                              OpKind::LEAKY_RELU, OpKind::ELU,   OpKind::GELU,
                              OpKind::ABS,        OpKind::EXP,   OpKind::NEG,
                              OpKind::SQRT,       OpKind::RSQRT, OpKind::QUANTIZE};
constexpr OpKind kPads[] = {OpKind::PAD, OpKind::PADV2};
constexpr OpKind kCopies[] = {OpKind::CONCATENATION, OpKind::PACK,      OpKind::UNPACK,
                              OpKind::SPLIT,         OpKind::SPLIT_V,   OpKind::SLICE,
                              OpKind::STRIDED_SLICE, OpKind::TRANSPOSE, OpKind::SPACE_TO_DEPTH,
                              OpKind::DEPTH_TO_SPACE};
constexpr OpKind kSoftmax[] = {OpKind::SOFTMAX};
constexpr OpKind kAliases[] = {OpKind::RESHAPE, OpKind::SQUEEZE, OpKind::EXPAND_DIMS};
constexpr OpKind kComputing[] = {OpKind::CONV_2D,
                                 OpKind::DEPTHWISE_CONV_2D,
                                 OpKind::FULLY_CONNECTED,
                                 OpKind::AVERAGE_POOL_2D,
                                 OpKind::MAX_POOL_2D,
                                 OpKind::MEAN,
                                 OpKind::ADD,
                                 OpKind::SUB,
                                 OpKind::MUL,
                                 OpKind::MINIMUM,
                                 OpKind::MAXIMUM,
                                 OpKind::RELU,
                                 OpKind::RELU6,
                                 OpKind::RELU_N1_TO_1,
                                 OpKind::LOGISTIC,
                                 OpKind::TANH,
                                 OpKind::HARD_SWISH,
                                 OpKind::LEAKY_RELU,
                                 OpKind::ELU,
                                 OpKind::GELU,
                                 OpKind::ABS,
                                 OpKind::EXP,
                                 OpKind::NEG,
                                 OpKind::SQRT,
                                 OpKind::RSQRT,
                                 OpKind::QUANTIZE,
                                 OpKind::SOFTMAX,
                                 OpKind::PAD,
                                 OpKind::PADV2,
                                 OpKind::CONCATENATION,
                                 OpKind::PACK,
                                 OpKind::UNPACK,
                                 OpKind::SPLIT,
                                 OpKind::SPLIT_V,
                                 OpKind::SLICE,
                                 OpKind::STRIDED_SLICE,
                                 OpKind::TRANSPOSE,
                                 OpKind::SPACE_TO_DEPTH,
                                 OpKind::DEPTH_TO_SPACE};
constexpr OpKind kSameQuantisation[] = {
    OpKind::AVERAGE_POOL_2D, OpKind::MAX_POOL_2D, OpKind::MINIMUM,
    OpKind::MAXIMUM,         OpKind::PAD,         OpKind::PADV2,
    OpKind::CONCATENATION,   OpKind::PACK,        OpKind::UNPACK,
    OpKind::SPLIT,           OpKind::SPLIT_V,     OpKind::SLICE,
    OpKind::STRIDED_SLICE,   OpKind::TRANSPOSE,   OpKind::SPACE_TO_DEPTH,
    OpKind::DEPTH_TO_SPACE,  OpKind::RESHAPE,     OpKind::SQUEEZE,
    OpKind::EXPAND_DIMS};
constexpr std::int64_t kMaxTransfers = 4096;

std::string tensor_text(const Tensor& t) { return fmt::format("'{}'", t.desc.name); }
Detail when(bool broken, std::string found = "") {
  return broken ? Detail(std::move(found)) : std::nullopt;
}

// Calls f(tensor) for every feature map of the operator until one returns a value.
template <class F>
Detail each_map(const Query& q, F&& f) {
  for (const TensorId id : data_inputs(q.op))
    if (Detail d = f(q.graph.tensor(id))) return d;
  for (const TensorId id : q.op.outputs)
    if (Detail d = f(q.graph.tensor(id))) return d;
  return std::nullopt;
}

Detail not_8_bit(const Query& q) {
  return each_map(q, [](const Tensor& t) {
    return when(t.desc.dtype != DType::kInt8 && !is_u8(t),
                fmt::format("{} is {}", tensor_text(t), dtype_name(t.desc.dtype)));
  });
}

Detail mixed_types(const Query& q) {
  const Tensor& first = q.graph.tensor(data_inputs(q.op)[0]);
  return each_map(q, [&](const Tensor& t) {
    return when(is_u8(t) != is_u8(first) && q.op.kind != OpKind::QUANTIZE,
                fmt::format("{} is {}, {} is {}", tensor_text(first), dtype_name(first.desc.dtype),
                            tensor_text(t), dtype_name(t.desc.dtype)));
  });
}

Detail bad_quantisation(const Query& q) {
  return each_map(q, [](const Tensor& t) -> Detail {
    const Quantisation& z = t.desc.quant;
    if (z.scale.size() != 1 || z.zero_point.size() != 1)
      return fmt::format("{} has {} scales", tensor_text(t), z.scale.size());
    if (!(std::isnormal(z.scale[0]) && z.scale[0] > 0))
      return fmt::format("{} has scale {}", tensor_text(t), z.scale[0]);
    const std::int32_t zero = signed_quantisation(t).zero_point[0];
    return when(zero < -128 || zero > 127,
                fmt::format("{} has zero point {}", tensor_text(t), z.zero_point[0]));
  });
}

Detail no_elements(const Query& q) {
  return each_map(q, [](const Tensor& t) { return when(t.desc.elements() == 0, tensor_text(t)); });
}

Detail quantisation_differs(const Query& q) {
  const Tensor& first = q.graph.tensor(data_inputs(q.op)[0]);
  return each_map(q, [&](const Tensor& t) {
    return when(!same_quantisation(first, t),
                fmt::format("{} and {} differ", tensor_text(first), tensor_text(t)));
  });
}

Detail bad_weights(const Query& q) {
  const Tensor& w = q.in(1);
  if (!w.constant) return "the weights are computed at run time";
  return when(w.desc.dtype != q.in(0).desc.dtype,
              fmt::format("the weights are {}", dtype_name(w.desc.dtype)));
}

Detail bad_weight_quantisation(const Query& q) {
  const Tensor& w = q.in(1);
  const Quantisation& z = w.desc.quant;
  if (z.scale.empty() || z.zero_point.size() != z.scale.size()) return "no scale";
  const std::vector<std::int32_t> zeros = signed_quantisation(w).zero_point;
  for (std::size_t i = 0; i < zeros.size(); ++i)
    if (zeros[i] != zeros[0] || zeros[i] < -128 || zeros[i] > 127)
      return fmt::format("zero point {}", z.zero_point[i]);
  for (const float scale : z.scale)
    if (!(std::isfinite(scale) && scale >= 0)) return fmt::format("scale {}", scale);
  if (z.scale.size() == 1) return std::nullopt;
  const std::size_t axis = q.op.kind == OpKind::DEPTHWISE_CONV_2D ? 3 : 0;
  const bool matches = static_cast<std::size_t>(z.axis) == axis && axis < rank(w) &&
                       static_cast<std::int64_t>(z.scale.size()) == dim(w, axis);
  return when(!matches, fmt::format("{} scales along axis {}", z.scale.size(), z.axis));
}

Detail bad_bias(const Query& q) {
  if (!q.graph.has_input(q.op, 2)) return std::nullopt;
  const Tensor& b = q.in(2);
  if (!b.constant) return "the bias is computed at run time";
  if (b.desc.dtype != DType::kInt32) return fmt::format("the bias is {}", dtype_name(b.desc.dtype));
  const std::size_t axis = q.op.kind == OpKind::DEPTHWISE_CONV_2D ? 3 : 0;
  return when(axis >= rank(q.in(1)) || b.desc.elements() != dim(q.in(1), axis),
              shape_text(b.desc.shape));
}

Detail bad_window_shape(const Query& q) {
  return when(!window_shape(q.graph, q.op),
              fmt::format("input {}", shape_text(q.in(0).desc.shape)));
}

Detail kernel_too_large(const Query& q) {
  const auto s = window_shape(q.graph, q.op);
  for (const std::int64_t v : {s->kh, s->kw, s->sh, s->sw, s->dh, s->dw})
    if (v < 1 || v > 65535) return fmt::format("{}", v);
  for (const std::int64_t pad : {s->pad_top, s->pad_left})
    if (pad < 0 || pad > 32767) return fmt::format("padding {}", pad);
  // The first window of the last tile starts this far before the map's end.
  return when((s->kh - 1) * s->dh > 32767 || (s->kw - 1) * s->dw > 32767, "dilated kernel");
}

Detail window_too_large(const Query& q) {
  const auto s = window_shape(q.graph, q.op);
  return when(!window_fits(*s, q.options.npu), fmt::format("{}x{} window, {} bytes of scratchpad",
                                                           s->kh, s->kw, q.options.npu.spm.bytes));
}

Detail window_all_padding(const Query& q) {
  const auto s = window_shape(q.graph, q.op);
  const auto outside = [](std::int64_t out, std::int64_t stride, std::int64_t kernel,
                          std::int64_t pad, std::int64_t in) {
    return pad >= kernel || (out - 1) * stride - pad >= in;
  };
  return when(outside(s->oh, s->sh, s->kh, s->pad_top, s->ih) ||
              outside(s->ow, s->sw, s->kw, s->pad_left, s->iw));
}

Detail bad_mean(const Query& q) {
  const auto axes = constant_ints(q.graph, q.op.inputs[1]);
  if (!axes) return "the axes are computed at run time";
  const auto s = window_shape(q.graph, q.op);
  if (!s) return "the axes are not neighbours";
  return when(s->kh * s->kw > (1 << 20), fmt::format("{} elements", s->kh * s->kw));
}

Detail bad_mean_rule(const Query& q) {
  const Tensor& in = q.in(0);
  const auto axes = constant_ints(q.graph, q.op.inputs[1]);
  const auto rule = arch::mean_rule(rank(in), *axes, q.op.attrs.keep_dims,
                                    same_quantisation(in, q.out()), q.options.numerics);
  return when(rule != arch::MeanRule::kMeanRequant);
}

Detail no_table(const Query& q) { return when(!signed_table(q.graph, q.op, q.options.numerics)); }

Detail bad_softmax(const Query& q) {
  const float beta = q.op.attrs.beta, scale = q.out().desc.quant.scale[0];
  if (!(std::isfinite(beta) && beta > 0)) return fmt::format("beta {}", beta);
  if (!(std::fabs(scale * 256 - 1) < 1e-3f)) return fmt::format("output scale {}", scale);
  const std::int32_t zero = q.out().desc.quant.zero_point[0];
  return when(signed_quantisation(q.out()).zero_point[0] != -128,
              fmt::format("output zero point {}", zero));
}

Detail softmax_row_too_long(const Query& q) {
  if (rank(q.in(0)) == 0) return "a scalar";
  const std::int64_t length = q.in(0).desc.shape.back();
  return when(length >= 1 << 24 ||
                  align_up(length, kBufferAlign) + arch::kExpTableBytes > q.options.npu.spm.bytes,
              fmt::format("{} bytes", length));
}

Detail bad_pad(const Query& q) { return when(!pad_box(q.graph, q.op)); }
Detail bad_copy(const Query& q) { return when(!copies(q.graph, q.op)); }

Detail scattered_copy(const Query& q) {
  std::int64_t transfers = 0;
  const auto list = copies(q.graph, q.op);
  for (const Copy& copy : *list) {
    std::int64_t n = 1, elements = 1, run = copy.dims.back().size;
    for (std::size_t i = 0; i + 3 < copy.dims.size(); ++i) n *= copy.dims[i].size;
    for (const CopyDim& d : copy.dims) elements *= d.size;
    if (const auto e = exchange(copy, q.options.npu.spm.bytes))
      n = e->tiles(), run = e->shortest_row();
    transfers += n;
    if (run < 4 && elements > 1024) return fmt::format("runs of {} bytes", run);
  }
  return when(transfers > kMaxTransfers, fmt::format("{} transfers", transfers));
}

Detail constant_alias(const Query& q) { return when(q.in(0).constant, tensor_text(q.in(0))); }
Detail elements_differ(const Query& q) {
  return when(q.in(0).desc.bytes() != q.out().desc.bytes());
}

// In the order they are tested: a rule may rely on those before it.
const Rule kRules[] = {
    {kComputing, "feature maps are int8 or uint8; int16 and float run on the CPU", not_8_bit},
    {kComputing, "feature maps are all int8 or all uint8, save for QUANTIZE", mixed_types},
    {kComputing, "feature maps are quantised per tensor, zero point within the type",
     bad_quantisation},
    {kComputing, "tensors have elements", no_elements},
    {kSameQuantisation, "all feature maps have the same quantisation", quantisation_differs},
    {kWeighted, "weights are constant and of the feature maps' type", bad_weights},
    {kWeighted, "weights have scales per tensor or per output channel and one zero point",
     bad_weight_quantisation},
    {kWeighted, "the bias is absent or a constant int32 per output channel", bad_bias},
    {kMean, "the reduced axes are constant and neighbours; at most 2^20 elements each", bad_mean},
    {kConvolutions, "feature maps are rank 4, one group", bad_window_shape},
    {kPools, "feature maps are rank 4", bad_window_shape},
    {kDense, "the weights are a matrix that divides the input", bad_window_shape},
    {kWindows,
     "kernel, stride and dilation are at most 65535, padding and dilated kernel at most 32767",
     kernel_too_large},
    {kPools, "every window touches the feature map", window_all_padding},
    {kWindows, "one output's window of one channel fits the scratchpad", window_too_large},
    {kMean, "in fp32 rounding, the axes are those of global pooling", bad_mean_rule},
    {kTables, "the operator is a 256-entry table for its quantisation", no_table},
    {kSoftmax, "beta is positive; the output has scale 1/256 and the lowest zero point",
     bad_softmax},
    {kSoftmax, "a row and the table of exponentials fit the scratchpad", softmax_row_too_long},
    {kPads, "rank 1 to 4; paddings are constant and not negative", bad_pad},
    {kCopies, "axes, begins, sizes and steps are constant, steps positive", bad_copy},
    {kCopies,
     "runs of at least 4 bytes, where need be by a transposition in the scratchpad; at most "
     "4096 transfers",
     scattered_copy},
    {kAliases, "the input is not a constant", constant_alias},
    {kAliases, "input and output have the same size", elements_differ},
};
constexpr const char* kNoInstruction = "the NPU has no instruction for this operator";

bool covers(std::span<const OpKind> kinds, OpKind kind) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

}  // namespace

bool is_alias_kind(OpKind kind) { return covers(kAliases, kind); }

std::optional<std::string> npu_refusal(const Graph& graph, const Op& op,
                                       const CompileOptions& options) {
  if (!covers(kComputing, op.kind) && !is_alias_kind(op.kind)) return kNoInstruction;
  const Query query{graph, op, options};
  for (const Rule& rule : kRules)
    if (covers(rule.kinds, op.kind))
      if (const Detail found = rule.broken(query))
        return found->empty() ? std::string(rule.text) : fmt::format("{} ({})", rule.text, *found);
  return std::nullopt;
}

std::optional<std::string> cpu_refusal(const Graph& graph, const Op& op) {
  if (!covers(kWeighted, op.kind)) return std::nullopt;
  const DType in = graph.tensor(op.inputs[0]).desc.dtype,
              weights = graph.tensor(op.inputs[1]).desc.dtype;
  const auto is_float = [](DType t) { return t == DType::kFloat32 || t == DType::kFloat16; };
  if (is_float(in) || !is_float(weights)) return std::nullopt;
  return fmt::format("the CPU kernels take integer inputs with integer weights ({} and {})",
                     dtype_name(in), dtype_name(weights));
}

std::vector<ConstraintRow> constraint_rows() {
  std::vector<ConstraintRow> out;
  for (const OpKind kind : arch::all_ops()) {
    const std::size_t before = out.size();
    for (const Rule& rule : kRules)
      if (covers(rule.kinds, kind)) out.push_back({kind, true, rule.text});
    if (out.size() == before) out.push_back({kind, false, kNoInstruction});
  }
  return out;
}

}  // namespace deputy::delegate
