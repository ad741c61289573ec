#include "quantize/quantize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "arch/onnx_node.h"
#include "delegate/ir/op_rules.h"
#include "delegate/ops/constraints.h"
#include "host_runtime/cpu/kernels.h"
#include "quantize/prepare.h"

namespace deputy::quantize {
namespace {

using delegate::Graph;
using delegate::kNoTensor;
using delegate::Op;
using delegate::TensorId;

/// A range so many times what holds all but one in a thousand values is told to the user.
constexpr float kOutlying = 8;
constexpr std::uint64_t kFewSamples = 16;

bool matches(const std::string& pattern, const std::string& name) {
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == name;
}

base::Result<std::map<std::size_t, std::string>> kept_by_user(const Graph& graph,
                                                              const Options& options) {
  std::map<std::size_t, std::string> out;
  for (const std::string& pattern : options.keep_float) {
    bool found = false;
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
      const Op& op = graph.ops[i];
      if (!matches(pattern, std::string(arch::op_name(op.kind))) &&
          !matches(pattern, graph.tensor(op.outputs[0]).desc.name))
        continue;
      out[i] = "--keep-float", found = true;
    }
    if (!found)
      return base::Error{
          base::ErrorKind::kUsage, "--keep-float",
          fmt::format("no operator is a '{}' or makes a tensor of that name", pattern),
          "see the names with 'deputy inspect'"};
  }
  return out;
}

/// Why an integer operator cannot be: its own rules, the CPU's kernel, the NPU. What moves only may
/// be the CPU's work.
std::optional<std::string> refusal(const Graph& graph, const Op& op,
                                   const delegate::CompileOptions& engine) {
  if (const auto status = delegate::check_op(graph, op); !status.ok())
    return status.error().message;
  std::vector<arch::TensorView> in, out;
  for (const TensorId id : op.inputs) {
    if (id == kNoTensor) {
      in.push_back({});
      continue;
    }
    const delegate::Tensor& t = graph.tensor(id);
    in.push_back({&t.desc, t.constant ? const_cast<std::uint8_t*>(t.data.data()) : nullptr});
  }
  for (const TensorId id : op.outputs) out.push_back({&graph.tensor(id).desc, nullptr});
  if (const auto status = host_runtime::check_host_op(op.kind, op.attrs, in, out); !status.ok())
    return status.error().message;
  return only_moves(op.kind) ? std::nullopt : delegate::npu_refusal(graph, op, engine);
}

std::vector<std::string> data_warnings(const Calibration& c, const Plan& plan) {
  std::vector<std::string> out;
  if (c.samples() < kFewSamples)
    out.push_back(fmt::format("{} samples are few: ranges follow from them alone", c.samples()));
  for (std::size_t t = 0; t < plan.quantisation.size(); ++t) {
    if (!plan.quantisation[t].present()) continue;
    const TensorStatistics& s = c.statistics()[t];
    const std::string& name = c.graph().tensors[t].desc.name;
    if (s.count == 0) continue;
    if (s.min == s.max) {
      out.push_back(fmt::format("'{}' was always {:g}: other values will be clipped", name, s.min));
      continue;
    }
    const Range most = choose_range(s, RangeMethod::kPercentile, 99.9),
                all{std::min(s.min, 0.0f), std::max(s.max, 0.0f)};
    if (all.hi - all.lo > kOutlying * (most.hi - most.lo))
      out.push_back(
          fmt::format("'{}' has outliers: {:g} to {:g}, but all except 0.2 % in {:g} to {:g}", name,
                      s.min, s.max, most.lo, most.hi));
  }
  return out;
}

LayerRow row_of(const Calibration& c, const Plan& plan, const Rewritten& made,
                const std::vector<Range>& ranges, std::size_t i) {
  const Op& op = c.graph().ops[i];
  LayerRow row;
  row.op = i, row.kind = op.kind == arch::OpKind::ONNX ? std::string(arch::onnx_op(op.attrs.onnx))
                                                       : std::string(arch::op_name(op.kind));
  row.tensor = op.outputs[0];
  row.name = c.graph().tensor(row.tensor).desc.name;
  row.integer = plan.integer[i];
  if (const auto at = plan.reasons.find(i); at != plan.reasons.end()) row.reason = at->second;
  if (const auto at = made.notes.find(i); at != made.notes.end()) row.note = at->second;
  const auto t = static_cast<std::size_t>(row.tensor);
  row.seen = {c.statistics()[t].min, c.statistics()[t].max};
  row.quantisation = plan.quantisation[t];
  if (row.integer) {
    const float scale = row.quantisation.scale[0];
    const auto zero = static_cast<float>(row.quantisation.zero_point[0]);
    row.range = {(-128 - zero) * scale, (127 - zero) * scale};
  } else {
    row.range = ranges[t];
  }
  return row;
}

}  // namespace

base::Result<Quantised> quantise(const Calibration& c, const Options& options) {
  if (c.samples() == 0)
    return base::Error{base::ErrorKind::kInput, "--calib", "there is no sample to calibrate with",
                       "give .npy files, or folders of them"};
  const Graph& graph = c.graph();
  std::vector<Range> ranges;
  for (const TensorStatistics& s : c.statistics())
    ranges.push_back(choose_range(s, options.method, options.percentile));
  DEPUTY_ASSIGN(auto floats, kept_by_user(graph, options));
  for (;;) {
    const Plan plan = make_plan(graph, ranges, floats);
    DEPUTY_ASSIGN(auto made,
                  rewrite(graph, plan, c.statistics(), options.weights, options.float_io));
    std::map<std::size_t, std::string> refused = made.refusals;
    if (refused.empty())
      for (std::size_t k = 0; k < made.graph.ops.size(); ++k)
        if (const std::size_t i = made.origin[k]; i != kGraphOutput && plan.integer[i])
          if (const auto why = refusal(made.graph, made.graph.ops[k], options.engine))
            refused[i] = *why;
    if (!refused.empty()) {  // ever fewer integer operators, so this ends
      floats.insert(refused.begin(), refused.end());
      continue;
    }
    if (std::none_of(plan.integer.begin(), plan.integer.end(), [](bool b) { return b; }))
      return base::Error{base::ErrorKind::kUnsupported, graph.name,
                         "no operator can work on integers",
                         "see the reasons with 'deputy inspect'"};
    DEPUTY_TRY(delegate::validate(made.graph));
    Quantised out;
    out.warnings = data_warnings(c, plan);
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
      out.layers.push_back(row_of(c, plan, made, ranges, i));
      if (!plan.integer[i] || !is_weighted(graph, graph.ops[i])) continue;
      out.weight_bytes_before += graph.tensor(graph.ops[i].inputs[1]).data.size();
      if (graph.has_input(graph.ops[i], 2))
        out.bias_bytes_before += graph.tensor(graph.ops[i].inputs[2]).data.size();
    }
    for (std::size_t k = 0; k < made.graph.ops.size(); ++k) {
      const std::size_t i = made.origin[k];
      if (i == kGraphOutput || !plan.integer[i] || !is_weighted(graph, graph.ops[i])) continue;
      out.weight_bytes_after += made.graph.tensor(made.graph.ops[k].inputs[1]).data.size();
      out.bias_bytes_after += made.graph.tensor(made.graph.ops[k].inputs[2]).data.size();
    }
    out.graph = std::move(made.graph), out.twin = std::move(made.twin);
    return out;
  }
}

}  // namespace deputy::quantize
