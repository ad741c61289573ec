#include "quantize/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "arch/onnx_node.h"
#include "delegate/ops/constraint_table.h"
#include "delegate/ops/copies.h"
#include "delegate/ops/operands.h"
#include "quantize/prepare.h"

namespace deputy::quantize {
namespace {

using arch::OpKind;
using delegate::Graph;
using delegate::kNoTensor;
using delegate::Op;
using delegate::TensorId;

/// A tensor that others use too keeps its scale when sharing would make its steps so many times
/// coarser.
constexpr float kCoarser = 2;
/// What TFLite fixes for int16 results of SOFTMAX, LOGISTIC and TANH.
const Quantisation kFixed16 = {{1.0f / 32768}, {0}, 0};

bool npu_takes_bytes(OpKind kind) {
  const auto* row = delegate::constraint_row(kind, delegate::TableEngine::kNpu);
  return row && (row->types >> static_cast<int>(DType::kInt8) & 1u);
}

/// Tensors in sets of one scale.
class Sets {
 public:
  explicit Sets(std::size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  std::size_t find(std::size_t a) {
    while (parent_[a] != a) a = parent_[a] = parent_[parent_[a]];
    return a;
  }
  void join(std::size_t a, std::size_t b) { parent_[find(a)] = find(b); }

 private:
  std::vector<std::size_t> parent_;
};

float width(Range r) { return r.hi - r.lo; }

class Planner {
 public:
  Planner(const Graph& graph, const PlanOptions& options)
      : graph_(graph),
        options_(options),
        ranges_(options.ranges),
        floats_(options.floats),
        users_(users_of(graph)),
        makers_(makers_of(graph)) {}

  Plan run() {
    plan_.integer.assign(graph_.ops.size(), false);
    plan_.separate.assign(graph_.tensors.size(), false);
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
      const std::string reason = refusal(i);
      plan_.integer[i] = reason.empty();
      if (!reason.empty()) plan_.reasons[i] = reason;
    }
    drop_lonely();
    separate_narrow();
    give_scales();
    return std::move(plan_);
  }

 private:
  std::string refusal(std::size_t i) const {
    const Op& op = graph_.ops[i];
    if (const auto at = floats_.find(i); at != floats_.end()) return at->second;
    if (op.kind == OpKind::ONNX)
      return fmt::format("{} has no integer form here", arch::onnx_op(op.attrs.onnx));
    if (!npu_takes_bytes(op.kind) && !only_moves(op.kind)) return "the NPU has no int8 form of it";
    bool computed = false;
    for (const std::size_t k : map_operands(op)) {
      if (!graph_.has_input(op, k)) continue;
      const auto& tensor = graph_.tensor(op.inputs[k]);
      if (tensor.desc.dtype != DType::kFloat32)
        return fmt::format("it works on {}", dtype_name(tensor.desc.dtype));
      computed |= !tensor.constant;
    }
    if (!computed) return "its operands are constants";
    for (const TensorId id : op.outputs)
      if (graph_.tensor(id).desc.dtype != DType::kFloat32)
        return fmt::format("its result is {}", dtype_name(graph_.tensor(id).desc.dtype));
    for (const TensorId id : op.outputs)
      if (graph_.tensor(id).desc.elements() == 0) return "its result has no elements";
    if (delegate::is_weighted_kind(op.kind) && !is_weighted(graph_, op))
      return "its weights are computed, or no floats";
    return "";
  }

  template <class F>
  void for_maps(const Op& op, const F& f) const {
    for (const std::size_t k : map_operands(op))
      if (graph_.has_input(op, k) && !graph_.tensor(op.inputs[k]).constant) f(op.inputs[k]);
    for (const TensorId id : op.outputs) f(id);
  }

  Sets sets() const {
    Sets out(graph_.tensors.size());
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
      const Op& op = graph_.ops[i];
      if (!plan_.integer[i] || !keeps_scale(op.kind)) continue;
      const auto first = static_cast<std::size_t>(op.outputs[0]);
      for_maps(op, [&](TensorId id) {
        if (!plan_.separate[static_cast<std::size_t>(id)] ||
            makers_[static_cast<std::size_t>(id)] == i)
          out.join(static_cast<std::size_t>(id), first);
      });
    }
    return out;
  }

  /// Moving integers between operators on floats would only cost two conversions.
  void drop_lonely() {
    Sets s = sets();
    std::vector<bool> wanted(graph_.tensors.size());
    for (std::size_t i = 0; i < graph_.ops.size(); ++i)
      if (plan_.integer[i] && !only_moves(graph_.ops[i].kind))
        for_maps(graph_.ops[i],
                 [&](TensorId id) { wanted[s.find(static_cast<std::size_t>(id))] = true; });
    for (std::size_t i = 0; i < graph_.ops.size(); ++i)
      if (plan_.integer[i] && only_moves(graph_.ops[i].kind) &&
          !wanted[s.find(static_cast<std::size_t>(graph_.ops[i].outputs[0]))])
        plan_.integer[i] = false, plan_.reasons[i] = "its neighbours work on floats";
  }

  bool source(std::size_t tensor) const {
    const std::size_t maker = makers_[tensor];
    return maker == kGraphOutput || !plan_.integer[maker] || !keeps_scale(graph_.ops[maker].kind);
  }
  std::optional<Quantisation> fixed(std::size_t tensor) const {
    const std::size_t maker = makers_[tensor];
    return maker == kGraphOutput || !plan_.integer[maker] ? std::nullopt
                                                          : fixed_result(graph_.ops[maker].kind);
  }

  std::map<std::size_t, Range> set_ranges(Sets& s, const std::vector<Range>& of) const {
    std::map<std::size_t, Range> out;
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t)
      if (!graph_.tensors[t].constant) out[s.find(t)] = hull(out[s.find(t)], of[t]);
    return out;
  }

  /// Results of fixed scale among others, and tensors that would lose much to a wider neighbour
  /// though somebody else reads them, are rescaled where the scales must be equal.
  void separate_narrow() {
    Sets s = sets();
    const auto whole = set_ranges(s, ranges_);
    std::map<std::size_t, std::vector<std::size_t>> sources;
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t)
      if (!graph_.tensors[t].constant && source(t)) sources[s.find(t)].push_back(t);
    for (const auto& [set, members] : sources) {
      if (members.size() < 2) continue;
      const bool alike = std::all_of(members.begin(), members.end(), [&](std::size_t t) {
        return fixed(t) && fixed(t) == fixed(members[0]);
      });
      if (alike) continue;
      for (const std::size_t t : members) {
        const bool shared =
            users_[t].size() > 1 && width(ranges_[t]) * kCoarser < width(whole.at(set));
        if (fixed(t) || shared) plan_.separate[t] = true;
      }
    }
  }

  void give_scales() {
    Sets s = sets();
    const auto ranges = set_ranges(s, ranges_), wide_ranges = set_ranges(s, options_.wide_ranges);
    std::map<std::size_t, Quantisation> fixed_sets;
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t)
      if (const auto q = fixed(t)) fixed_sets[s.find(t)] = *q;
    std::set<std::size_t> wide;
    for (const TensorId id : options_.wide) wide.insert(s.find(static_cast<std::size_t>(id)));
    plan_.quantisation.resize(graph_.tensors.size());
    plan_.wide_quantisation.resize(graph_.tensors.size());
    plan_.wide.assign(graph_.ops.size(), false);
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
      if (!plan_.integer[i]) continue;
      for_maps(graph_.ops[i], [&](TensorId id) {
        const auto t = static_cast<std::size_t>(id);
        const std::size_t set = s.find(t);
        const auto f = fixed_sets.find(set);
        const bool is_fixed = f != fixed_sets.end();
        plan_.quantisation[t] = is_fixed ? f->second : asymmetric_int8(ranges.at(set));
        plan_.wide_quantisation[t] = is_fixed ? kFixed16 : symmetric_int16(wide_ranges.at(set));
        if (wide.contains(set)) plan_.wide[i] = true;
      });
    }
  }

  const Graph& graph_;
  const PlanOptions& options_;
  const std::vector<Range>& ranges_;
  const std::map<std::size_t, std::string>& floats_;
  std::vector<std::vector<std::size_t>> users_;
  std::vector<std::size_t> makers_;
  Plan plan_;
};

}  // namespace

bool only_moves(OpKind kind) {
  switch (kind) {
    case OpKind::RESHAPE:
    case OpKind::SQUEEZE:
    case OpKind::EXPAND_DIMS:
    case OpKind::PAD:
    case OpKind::PADV2:
    case OpKind::MIRROR_PAD:
    case OpKind::GATHER:
    case OpKind::RESIZE_NEAREST_NEIGHBOR:
      return true;
    default:
      return delegate::moves_only(kind);
  }
}
bool keeps_scale(OpKind kind) {
  switch (kind) {
    case OpKind::AVERAGE_POOL_2D:
    case OpKind::MAX_POOL_2D:
    case OpKind::MINIMUM:
    case OpKind::MAXIMUM:
      return true;
    default:
      return only_moves(kind);
  }
}
std::vector<std::size_t> map_operands(const Op& op) {
  switch (op.kind) {
    case OpKind::ADD:
    case OpKind::SUB:
    case OpKind::MUL:
    case OpKind::MINIMUM:
    case OpKind::MAXIMUM:
      return {0, 1};
    case OpKind::CONCATENATION:
    case OpKind::PACK: {
      std::vector<std::size_t> all(op.inputs.size());
      std::iota(all.begin(), all.end(), 0);
      return all;
    }
    case OpKind::PADV2:
      return {0, 2};
    case OpKind::SPLIT:
      return {1};
    default:
      return {0};
  }
}
std::optional<Quantisation> fixed_result(OpKind kind) {
  if (kind == OpKind::SOFTMAX || kind == OpKind::LOGISTIC)
    return Quantisation{{1.0f / 256}, {-128}, 0};
  if (kind == OpKind::TANH) return Quantisation{{1.0f / 128}, {0}, 0};
  return std::nullopt;
}

Plan make_plan(const Graph& graph, const PlanOptions& options) {
  return Planner(graph, options).run();
}

}  // namespace deputy::quantize
