#include "quantize/quantize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "arch/onnx_node.h"
#include "arch/quantisation_contract.h"
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
constexpr std::size_t kMostNames = 200;  ///< in a message

bool matches(const std::string& pattern, const std::string& name) {
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == name;
}

/// Everything that --keep-float takes for this operator: kinds first.
std::vector<std::string> names_of(const Graph& graph, const Op& op, const Options& options) {
  std::vector<std::string> out = {std::string(arch::op_word(op.kind, op.attrs))};
  const auto source = static_cast<std::size_t>(op.source_index);
  if (op.source_index >= 0 && source < options.sources.size()) {
    out.push_back(options.sources[source].kind);
    if (!options.sources[source].name.empty()) out.push_back(options.sources[source].name);
  }
  for (const TensorId id : op.outputs)
    if (id != kNoTensor) out.push_back(graph.tensor(id).desc.name);
  return out;
}

base::Error no_such_operator(const Graph& graph, const Options& options,
                             const std::string& pattern) {
  std::vector<std::string> names;
  for (const Op& op : graph.ops)
    for (auto& name : names_of(graph, op, options))
      if (std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(std::move(name));
  const std::size_t more = names.size() - std::min(names.size(), kMostNames);
  names.resize(names.size() - more);
  return {base::ErrorKind::kUsage, "--keep-float",
          fmt::format("no operator is a '{}', is called so, or makes a tensor of that name (what "
                      "others took up, such as activations and normalisations, has no name left)",
                      pattern),
          fmt::format("one of: {}{}", fmt::join(names, ", "),
                      more ? fmt::format(", and {} more", more) : "")};
}

base::Result<std::map<std::size_t, std::string>> kept_by_user(const Graph& graph,
                                                              const Options& options) {
  std::map<std::size_t, std::string> out;
  for (const std::string& pattern : options.keep_float) {
    bool found = false;
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
      const auto names = names_of(graph, graph.ops[i], options);
      if (std::any_of(names.begin(), names.end(),
                      [&](const auto& n) { return matches(pattern, n); }))
        out[i] = "--keep-float", found = true;
    }
    if (!found) return no_such_operator(graph, options, pattern);
  }
  return out;
}

/// Whether an engine's contract has int16 maps at all: on which it is settled by the kernels.
std::optional<std::string> wide_refusal() {
  for (const arch::QuantisationContract& row : arch::quantisation_contracts())
    if (row.role == arch::TensorRole::kFeatureMap &&
        (row.types & arch::dtype_bit(DType::kInt16)) != 0)
      return std::nullopt;
  return "no engine takes int16 maps";
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
  if (graph.tensor(op.outputs[0]).desc.dtype == DType::kInt16) return wide_refusal();
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
  row.op = i, row.kind = arch::op_word(op.kind, op.attrs);
  row.tensor = op.outputs[0];
  row.name = c.graph().tensor(row.tensor).desc.name;
  row.integer = plan.integer[i];
  if (const auto at = plan.reasons.find(i); at != plan.reasons.end()) row.reason = at->second;
  if (const auto at = made.notes.find(i); at != made.notes.end()) row.note = at->second;
  if (const auto at = made.compensated.find(i); at != made.compensated.end())
    row.compensated_db = at->second;
  const auto t = static_cast<std::size_t>(row.tensor);
  row.seen = {c.statistics()[t].min, c.statistics()[t].max};
  row.wide = plan.wide[i];
  row.quantisation = row.wide ? plan.wide_quantisation[t] : plan.quantisation[t];
  if (row.integer) {
    const float scale = row.quantisation.scale[0];
    const auto zero = static_cast<float>(row.quantisation.zero_point[0]);
    const float least = row.wide ? -32768 : -128, most = row.wide ? 32767 : 127;
    row.range = {(least - zero) * scale, (most - zero) * scale};
  } else {
    row.range = ranges[t];
  }
  return row;
}

}  // namespace

std::vector<Range> choose_ranges(const Calibration& c, const Options& options) {
  std::vector<Range> ranges;
  for (const TensorStatistics& s : c.statistics())
    ranges.push_back(choose_range(s, options.method, options.percentile));
  return ranges;
}

base::Result<Quantised> quantise(const Calibration& c, const Options& options) {
  return quantise(c, options, choose_ranges(c, options));
}

base::Result<Quantised> quantise(const Calibration& c, const Options& options,
                                 const std::vector<Range>& ranges) {
  if (c.samples() == 0)
    return base::Error{base::ErrorKind::kInput, "--calib", "there is no sample to calibrate with",
                       "give .npy files, or folders of them"};
  const Graph& graph = c.graph();
  PlanOptions wanted;
  wanted.ranges = ranges, wanted.wide = options.wide;
  // 65,536 steps need no clipping.
  for (const TensorStatistics& s : c.statistics())
    wanted.wide_ranges.push_back(choose_range(s, RangeMethod::kMinMax, 0));
  DEPUTY_ASSIGN(wanted.floats, kept_by_user(graph, options));
  for (;;) {
    const Plan plan = make_plan(graph, wanted);
    DEPUTY_ASSIGN(auto made, rewrite(graph, plan, c.statistics(), c.moments(), options.weights,
                                     options.float_io));
    std::map<std::size_t, std::string> refused = made.refusals;
    if (refused.empty())
      for (std::size_t k = 0; k < made.graph.ops.size(); ++k)
        if (const std::size_t i = made.origin[k]; i != kGraphOutput && plan.integer[i])
          if (const auto why = refusal(made.graph, made.graph.ops[k], options.engine))
            refused[i] = *why;
    for (const auto& [i, why] : refused)
      if (plan.wide[i])
        return base::Error{base::ErrorKind::kUnsupported,
                           delegate::op_label(graph, graph.ops[i]) + " on int16", why, ""};
    if (!refused.empty()) {  // ever fewer integer operators, so this ends
      wanted.floats.insert(refused.begin(), refused.end());
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
