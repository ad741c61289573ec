// What breaks each rule (constraint_rules.h).
#include "delegate/ops/constraint_rules.h"

#include <fmt/format.h>

#include <cmath>

#include "arch/kernel_rules.h"
#include "base/check.h"
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
  const OpRow& row;
  std::int64_t limit;
  const Tensor& in(std::size_t i) const { return graph.tensor(op.inputs[i]); }
  const Tensor& out() const { return graph.tensor(op.outputs[0]); }
};

std::string tensor_text(const Tensor& t) { return fmt::format("'{}'", t.desc.name); }
Detail when(bool broken, std::string found = "") {
  return broken ? Detail(std::move(found)) : std::nullopt;
}

// Per tensor: what breaks a demand of types or quantisation. `q.row.engine`'s contract has the
// bounds.
using arch::QuantisationContract;
using arch::TensorRole;
const QuantisationContract& contract(const Query& q, TensorRole role) {
  return arch::contract_of(q.row.engine, role);
}
Detail zero_outside(const QuantisationContract& c, const Tensor& t) {
  const std::vector<std::int32_t> zeros = signed_quantisation(t).zero_point;
  for (std::size_t i = 0; i < zeros.size(); ++i)
    if (zeros[i] < c.least_zero || zeros[i] > c.greatest_zero)
      return fmt::format("zero point {}", t.desc.quant.zero_point[i]);
  return std::nullopt;
}

Detail other_type(const Query& q, const Tensor& t) {
  return when((q.row.types & arch::dtype_bit(t.desc.dtype)) == 0,
              fmt::format("{} is {}", tensor_text(t), dtype_name(t.desc.dtype)));
}

Detail mixed_types(const Query& q, const Tensor& t) {
  const Tensor& first = q.graph.tensor(data_inputs(q.op)[0]);
  return when(t.desc.dtype != first.desc.dtype,
              fmt::format("{} is {}, {} is {}", tensor_text(first), dtype_name(first.desc.dtype),
                          tensor_text(t), dtype_name(t.desc.dtype)));
}

Detail bad_quantisation(const Query& q, const Tensor& t) {
  const Quantisation& z = t.desc.quant;
  const QuantisationContract& c = contract(q, TensorRole::kFeatureMap);
  if (z.scale.size() != 1 || z.zero_point.size() != 1)
    return fmt::format("{} has {} scales", tensor_text(t), z.scale.size());
  if (!(z.scale[0] >= c.least_scale && z.scale[0] <= c.greatest_scale))
    return fmt::format("{} has scale {}", tensor_text(t), z.scale[0]);
  if (const Detail zero = zero_outside(c, t))
    return fmt::format("{} has {}", tensor_text(t), *zero);
  return std::nullopt;
}

Detail quantisation_differs(const Query& q, const Tensor& t) {
  const Tensor& first = q.graph.tensor(data_inputs(q.op)[0]);
  return when(!same_quantisation(first, t),
              fmt::format("{} and {} differ", tensor_text(first), tensor_text(t)));
}

Detail bad_weights(const Query& q, const Tensor& w) {
  if (!w.constant) return "the weights are computed at run time";
  return when(w.desc.dtype != q.in(0).desc.dtype,
              fmt::format("the weights are {}", dtype_name(w.desc.dtype)));
}

Detail bad_weight_quantisation(const Query& q, const Tensor& w) {
  const Quantisation& z = w.desc.quant;
  const QuantisationContract& c = contract(q, TensorRole::kWeights);
  if (z.scale.empty() || z.zero_point.size() != z.scale.size()) return "no scale";
  for (const std::int32_t zero : z.zero_point)
    if (zero != z.zero_point[0]) return fmt::format("zero points {} and {}", z.zero_point[0], zero);
  if (const Detail zero = zero_outside(c, w)) return zero;
  for (const float scale : z.scale)
    if (!(scale >= c.least_scale && scale <= c.greatest_scale))
      return fmt::format("scale {}", scale);
  if (z.scale.size() == 1) return std::nullopt;
  const std::size_t axis = output_axis(q.op.kind);
  const bool matches = static_cast<std::size_t>(z.axis) == axis && axis < rank(w) &&
                       static_cast<std::int64_t>(z.scale.size()) == dim(w, axis);
  return when(!matches, fmt::format("{} scales along axis {}", z.scale.size(), z.axis));
}

Detail bad_bias(const Query& q, const Tensor& b) {
  if (!b.constant) return "the bias is computed at run time";
  if ((contract(q, TensorRole::kBias).types & arch::dtype_bit(b.desc.dtype)) == 0)
    return fmt::format("the bias is {}", dtype_name(b.desc.dtype));
  const std::size_t axis = output_axis(q.op.kind);
  return when(axis >= rank(q.in(1)) || b.desc.elements() != dim(q.in(1), axis),
              shape_text(b.desc.shape));
}

Detail bad_bias_scale(const Query& q, const Tensor& b) {
  const Quantisation &x = q.in(0).desc.quant, &w = q.in(1).desc.quant, &z = b.desc.quant;
  if (z.scale.empty() || x.scale.size() != 1 || w.scale.empty()) return std::nullopt;
  const double part = static_cast<double>(contract(q, TensorRole::kBias).bias_scale_part);
  for (std::size_t i = 0; i < std::max(z.scale.size(), w.scale.size()); ++i) {
    const auto at = [i](const Quantisation& of) {
      return static_cast<double>(
          of.scale[of.scale.size() == 1 ? 0 : std::min(i, of.scale.size() - 1)]);
    };
    const double want = static_cast<double>(x.scale[0]) * at(w), have = at(z);
    if (std::fabs(have - want) > part * want)
      return fmt::format("the bias has scale {:g}, the product is {:g}", have, want);
  }
  return std::nullopt;
}

// The rules that are asked of tensors one by one, and of which tensors.
struct TensorRule {
  Rule rule;
  TensorRole role;
  Detail (*broken)(const Query&, const Tensor&);
};
constexpr TensorRule kTensorRules[] = {
    {Rule::kTypes, TensorRole::kFeatureMap, other_type},
    {Rule::kOneType, TensorRole::kFeatureMap, mixed_types},
    {Rule::kQuantised, TensorRole::kFeatureMap, bad_quantisation},
    {Rule::kElements, TensorRole::kFeatureMap,
     [](const Query&, const Tensor& t) { return when(t.desc.elements() == 0, tensor_text(t)); }},
    {Rule::kSameQuantisation, TensorRole::kFeatureMap, quantisation_differs},
    {Rule::kWeights, TensorRole::kWeights, bad_weights},
    {Rule::kWeightScales, TensorRole::kWeights, bad_weight_quantisation},
    {Rule::kBias, TensorRole::kBias, bad_bias},
    {Rule::kBiasScale, TensorRole::kBias, bad_bias_scale},
};
const TensorRule* tensor_rule(Rule rule) {
  for (const TensorRule& r : kTensorRules)
    if (r.rule == rule) return &r;
  return nullptr;
}

// Calls f(finding) for every tensor that breaks the rule until it returns false.
template <class F>
void each_finding(const TensorRule& rule, const Query& q, F&& f) {
  const auto ask = [&](TensorId id) {
    const Detail d = rule.broken(q, q.graph.tensor(id));
    return !d || f(Finding{id, *d});
  };
  if (rule.role != TensorRole::kFeatureMap) {
    const std::size_t input = rule.role == TensorRole::kWeights ? 1 : 2;
    if (q.graph.has_input(q.op, input)) ask(q.op.inputs[input]);
    return;
  }
  for (const TensorId id : data_inputs(q.op))
    if (!ask(id)) return;
  for (const TensorId id : q.op.outputs)
    if (!ask(id)) return;
}

Detail bad_window_shape(const Query& q) {
  return when(!window_shape(q.graph, q.op),
              fmt::format("input {}", shape_text(q.in(0).desc.shape)));
}

Detail bad_rank(const Query& q) {
  if (rank(q.in(0)) != static_cast<std::size_t>(q.limit)) return shape_text(q.in(0).desc.shape);
  return bad_window_shape(q);
}

Detail rank_too_high(const Query& q) {
  const std::size_t r = rank(q.in(0));
  return when(r < 1 || r > static_cast<std::size_t>(q.limit), fmt::format("{}", r));
}

Detail span_too_long(const Query& q) {
  const auto s = window_shape(q.graph, q.op);
  for (const auto& [kernel, dilation] : {std::pair{s->kh, s->dh}, std::pair{s->kw, s->dw}})
    if (kernel < 1 || (kernel - 1) * dilation + 1 > q.limit)
      return fmt::format("{}", (kernel - 1) * dilation + 1);
  return std::nullopt;
}

Detail out_of(std::int64_t low, std::int64_t high, std::initializer_list<std::int64_t> values) {
  for (const std::int64_t v : values)
    if (v < low || v > high) return fmt::format("{}", v);
  return std::nullopt;
}
Detail bad_stride(const Query& q) {
  const auto s = window_shape(q.graph, q.op);
  return out_of(1, q.limit, {s->sh, s->sw});
}
Detail bad_dilation(const Query& q) {
  const auto s = window_shape(q.graph, q.op);
  return out_of(1, q.limit, {s->dh, s->dw});
}
Detail bad_padding(const Query& q) {
  const auto s = window_shape(q.graph, q.op);
  return out_of(0, q.limit, {s->pad_top, s->pad_left});
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
    return pad < 0 || pad >= kernel || (out - 1) * stride - pad >= in;
  };
  return when(outside(s->oh, s->sh, s->kh, s->pad_top, s->ih) ||
              outside(s->ow, s->sw, s->kw, s->pad_left, s->iw));
}

Detail bad_axes(const Query& q) {
  if (!constant_ints(q.graph, q.op.inputs[1])) return "the axes are computed at run time";
  return when(!window_shape(q.graph, q.op), "the axes are not neighbours");
}

Detail too_much_reduced(const Query& q) {
  const auto s = window_shape(q.graph, q.op);
  return when(s->kh * s->kw > q.limit, fmt::format("{}", s->kh * s->kw));
}

Detail bad_mean_rule(const Query& q) {
  const Tensor& in = q.in(0);
  const auto axes = constant_ints(q.graph, q.op.inputs[1]);
  const auto rule = arch::mean_rule(rank(in), *axes, q.op.attrs.keep_dims,
                                    same_quantisation(in, q.out()), q.options.numerics);
  return when(rule != arch::MeanRule::kMeanRequant);
}

Detail bad_beta(const Query& q) {
  const float beta = q.op.attrs.beta;
  return when(!(std::isfinite(beta) && beta > 0), fmt::format("{}", beta));
}

Detail bad_softmax_output(const Query& q) {
  const float scale = q.out().desc.quant.scale[0];
  if (!(std::fabs(scale * 256 - 1) < 1e-3f)) return fmt::format("output scale {}", scale);
  const std::int32_t zero = q.out().desc.quant.zero_point[0];
  return when(signed_quantisation(q.out()).zero_point[0] != -128,
              fmt::format("output zero point {}", zero));
}

Detail row_too_long(const Query& q) {
  const std::int64_t length = q.in(0).desc.shape.back();
  return when(length > q.limit, fmt::format("{}", length));
}
Detail row_too_large(const Query& q) {
  const std::int64_t length = q.in(0).desc.shape.back();
  return when(align_up(length, kBufferAlign) + arch::kExpTableBytes > q.options.npu.spm.bytes,
              fmt::format("{} bytes", length));
}

Detail bad_pad(const Query& q) { return when(!pad_box(q.graph, q.op)); }
Detail bad_copy(const Query& q) { return when(!copies(q.graph, q.op)); }

Detail bad_steps(const Query& q) {
  const auto steps = constant_ints(q.graph, q.op.inputs[3]);
  if (!steps) return std::nullopt;  // the next rule says so
  for (const std::int64_t step : *steps)
    if (step < 1) return fmt::format("{}", step);
  return std::nullopt;
}

Detail runs_too_short(const Query& q) {
  const auto list = copies(q.graph, q.op);
  for (const Copy& copy : *list) {
    std::int64_t bytes = 1, run = copy.dims.back().size;
    for (const CopyDim& d : copy.dims) bytes *= d.size;
    if (const auto e = exchange(copy, q.options.npu.spm.bytes)) run = e->shortest_row();
    if (run < q.limit && bytes > kSmallCopy) return fmt::format("runs of {} bytes", run);
  }
  return std::nullopt;
}

Detail too_many_transfers(const Query& q) {
  std::int64_t transfers = 0;
  const auto list = copies(q.graph, q.op);
  for (const Copy& copy : *list) {
    std::int64_t n = 1;
    for (std::size_t i = 0; i + 3 < copy.dims.size(); ++i) n *= copy.dims[i].size;
    if (const auto e = exchange(copy, q.options.npu.spm.bytes)) n = e->tiles();
    transfers += n;
  }
  return when(transfers > q.limit, fmt::format("{}", transfers));
}

Detail constant_alias(const Query& q) { return when(q.in(0).constant, tensor_text(q.in(0))); }
Detail elements_differ(const Query& q) {
  return when(q.in(0).desc.bytes() != q.out().desc.bytes());
}

Detail float_weights(const Query& q) {
  const DType in = q.in(0).desc.dtype, weights = q.in(1).desc.dtype;
  const auto is_float = [](DType t) { return t == DType::kFloat32 || t == DType::kFloat16; };
  return when(!is_float(in) && is_float(weights),
              fmt::format("{} and {}", dtype_name(in), dtype_name(weights)));
}

Detail test(Rule rule, const Query& q) {
  switch (rule) {
    case Rule::kIntegerWeights:
      return float_weights(q);
    case Rule::kRank:
      return bad_rank(q);
    case Rule::kMostRank:
      return rank_too_high(q);
    case Rule::kMatrix:
      return bad_window_shape(q);
    case Rule::kSpan:
      return span_too_long(q);
    case Rule::kStride:
      return bad_stride(q);
    case Rule::kDilation:
      return bad_dilation(q);
    case Rule::kPadding:
      return bad_padding(q);
    case Rule::kTouches:
      return window_all_padding(q);
    case Rule::kFits:
      return window_too_large(q);
    case Rule::kAxes:
      return bad_axes(q);
    case Rule::kReduced:
      return too_much_reduced(q);
    case Rule::kMeanRounding:
      return bad_mean_rule(q);
    case Rule::kBeta:
      return bad_beta(q);
    case Rule::kSoftmaxOutput:
      return bad_softmax_output(q);
    case Rule::kRowFits:
      return row_too_large(q);
    case Rule::kRowLength:
      return row_too_long(q);
    case Rule::kPads:
      return bad_pad(q);
    case Rule::kOperands:
      return bad_copy(q);
    case Rule::kSteps:
      return bad_steps(q);
    case Rule::kRuns:
      return runs_too_short(q);
    case Rule::kTransfers:
      return too_many_transfers(q);
    case Rule::kNotConstant:
      return constant_alias(q);
    case Rule::kSameBytes:
      return elements_differ(q);
    default:
      break;
  }
  DEPUTY_CHECK(false, "a rule without a predicate");
}

}  // namespace

std::optional<std::string> broken(const OpRow& row, const Demand& demand, const Graph& graph,
                                  const Op& op, const CompileOptions& options) {
  const Query q{graph, op, options, row, demand.limit};
  const TensorRule* rule = tensor_rule(demand.rule);
  if (!rule) return test(demand.rule, q);
  Detail first;
  each_finding(*rule, q, [&](Finding f) {
    first = std::move(f.found);
    return false;
  });
  return first;
}

std::vector<Finding> findings(const OpRow& row, const Demand& demand, const Graph& graph,
                              const Op& op) {
  static const CompileOptions none;  // no rule about one tensor asks for options
  std::vector<Finding> out;
  if (const TensorRule* rule = tensor_rule(demand.rule))
    each_finding(*rule, {graph, op, none, row, demand.limit}, [&](Finding f) {
      out.push_back(std::move(f));
      return true;
    });
  return out;
}

}  // namespace deputy::delegate
