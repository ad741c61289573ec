// Grows kernels operator by operator, in execution order: each operator joins the kernel that ends
// with the producer of one of its operands where that is legal, else it begins a kernel of its own.
// An operator that cannot be fused therefore never costs the ones behind it their fusion.
//
// A kernel runs where its last operator stood: everything that it reads has been computed by then,
// and what it computes on the way nobody else reads.
#include "delegate/fusion/kernel.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/check.h"
#include "delegate/codegen/tile_search.h"
#include "delegate/fusion/epilogue_plan.h"
#include "delegate/fusion/fold_pad.h"
#include "delegate/fusion/fusion_cost.h"
#include "delegate/ops/eltwise_ops.h"
#include "delegate/ops/operands.h"
#include "delegate/ops/window_math.h"
#include "delegate/ops/window_ops.h"

namespace deputy::delegate {
namespace {

using arch::OpKind;

bool is_window_kind(OpKind kind) {
  return kind == OpKind::CONV_2D || kind == OpKind::DEPTHWISE_CONV_2D ||
         kind == OpKind::FULLY_CONNECTED || kind == OpKind::AVERAGE_POOL_2D ||
         kind == OpKind::MAX_POOL_2D || kind == OpKind::MEAN;
}

// A kernel that may still grow.
struct Growing {
  Kernel kernel;
  std::optional<WindowShape> window;
  EpiloguePlan plan;
  bool takes_epilogue = false;
};

class Planner {
 public:
  Planner(const Graph& graph, const Group& group, const CompileOptions& options,
          TilingCache& tilings, std::vector<FusionNote>* notes)
      : graph_(graph),
        options_(options),
        cost_(graph, options, tilings),
        notes_(notes),
        readers_(graph.tensors.size(), 0) {
    for (const Op& op : graph.ops) {
      std::set<TensorId> read(op.inputs.begin(), op.inputs.end());
      for (const TensorId id : read)
        if (id != kNoTensor) ++readers_[static_cast<std::size_t>(id)];
    }
    for (const TensorId id : graph.outputs) readers_[static_cast<std::size_t>(id)] += kMany;
    for (const std::size_t op : group.ops) add(op);
  }

  std::vector<Kernel> finish() {
    std::vector<std::pair<std::size_t, std::size_t>> order;  // position, kernel
    for (std::size_t k = 0; k < kernels_.size(); ++k)
      if (!kernels_[k].kernel.ops.empty()) order.emplace_back(last_[k], k);
    std::sort(order.begin(), order.end());
    std::vector<Kernel> out;
    for (const auto& [position, k] : order) {
      Kernel kernel = std::move(kernels_[k].kernel);
      set_operands(kernel);
      out.push_back(std::move(kernel));
    }
    return out;
  }

 private:
  static constexpr int kMany = 1000;

  void add(std::size_t index) {
    const std::size_t position = position_++;
    if (options_.optimisations.fusion && !options_.keep_all_tensors) {
      if (const auto k = join(index)) {
        last_[*k] = position;
        by_output_[graph_.ops[index].outputs[0]] = *k;
        return;
      }
    }
    begin(index);
    last_.push_back(position);
    for (const TensorId id : graph_.ops[index].outputs) by_output_[id] = kernels_.size() - 1;
  }

  void begin(std::size_t index) {
    const Op& op = graph_.ops[index];
    Growing g;
    g.kernel.main = index;
    g.kernel.ops = {index};
    if (is_window_kind(op.kind)) {
      g.window = window_shape(graph_, op);
      DEPUTY_CHECK(g.window, "an operator on the NPU is no window");
      fold(index, g);
      expand(index, g);
      const WindowMath math = window_math(graph_, options_.numerics, op, *g.window);
      g.plan = bare_epilogue(math.act_min, math.act_max);
      g.takes_epilogue = true;
    } else if (is_eltwise_kind(op.kind)) {
      const arch::Eltwise math = eltwise_math(graph_, options_.numerics, op);
      g.plan = bare_epilogue(math.act_min, math.act_max);
      g.takes_epilogue = true;
    } else if (table_of(graph_, options_.numerics, op, op.inputs[0])) {
      g.takes_epilogue = true;
    }
    g.takes_epilogue = g.takes_epilogue && graph_.tensor(op.outputs[0]).desc.dtype == DType::kInt8;
    kernels_.push_back(std::move(g));
  }

  // Takes over the PAD in front of a window.
  void fold(std::size_t index, Growing& g) {
    if (!options_.optimisations.fusion || options_.keep_all_tensors) return;
    const Op& op = graph_.ops[index];
    const auto k = producer(op.inputs[0]);
    if (!k) return;
    const std::size_t pad = kernels_[*k].kernel.main;
    if (graph_.ops[pad].kind != OpKind::PAD && graph_.ops[pad].kind != OpKind::PADV2) return;
    std::optional<std::string> refused = shared(op.inputs[0]);
    WindowShape folded = *g.window;
    if (!refused) refused = fold_pad(graph_, graph_.ops[pad], op, folded);
    if (!refused && !window_fits(folded, options_.npu)) refused = "the tile does not fit";
    note(pad, index, refused, "its padding became the window's");
    if (refused) return;
    g.window = folded;
    g.kernel.pad = pad;
    g.kernel.ops = {pad, index};
    kernels_[*k].kernel.ops.clear();
  }

  static bool reads_all(const WindowShape& s) {
    const auto covers = [](std::int64_t outputs, std::int64_t stride, std::int64_t reach,
                           std::int64_t pad, std::int64_t inputs) {
      return stride <= reach && (outputs - 1) * stride + reach - pad >= inputs;
    };
    return covers(s.oh, s.sh, (s.kh - 1) * s.dh + 1, s.pad_top, s.ih) &&
           covers(s.ow, s.sw, (s.kw - 1) * s.dw + 1, s.pad_left, s.iw);
  }

  // Takes over the 1x1 convolution that makes a depthwise layer's input: no tile of that map then
  // leaves the scratchpad, and the rows and columns that two tiles share are made twice.
  void expand(std::size_t index, Growing& g) {
    const Optimisations& on = options_.optimisations;
    if (!on.fusion || !on.expansion || options_.keep_all_tensors) return;
    if (g.window->kind != WindowKind::kDepthwise || g.window->mult != 1) return;
    const TensorId from = g.kernel.input(graph_);
    const auto k = producer(from);
    if (!k) return;
    const Growing& front = kernels_[*k];
    const Op& conv = graph_.ops[front.kernel.main];
    if (conv.kind != OpKind::CONV_2D || front.kernel.ops.size() != 1) return;
    const WindowShape& c = *front.window;
    if (c.kh != 1 || c.kw != 1 || c.sh != 1 || c.sw != 1 || c.pad_top != 0 || c.pad_left != 0)
      return;
    if (!front.takes_epilogue ||
        graph_.tensor(graph_.ops[index].outputs[0]).desc.dtype != DType::kInt8 ||
        graph_.tensor(conv.inputs[0]).desc.dtype != DType::kInt8 ||
        graph_.tensor(conv.inputs[0]).constant)
      return;
    std::optional<std::string> refused = shared(from);
    WindowShape with = *g.window;
    with.expand = c.ic;
    if (!refused && !reads_all(with)) refused = "its windows leave out a part of the map";
    if (!refused) refused = cost_.expansion_refusal(c, *g.window, with);
    note(front.kernel.main, index, refused, "it makes each tile of the input in the scratchpad");
    if (refused) return;
    g.window = with;
    g.kernel.expand = front.kernel.main;
    g.kernel.ops.insert(g.kernel.ops.begin(), front.kernel.main);
    kernels_[*k].kernel.ops.clear();
  }

  // The kernel that takes `index` on, if any.
  std::optional<std::size_t> join(std::size_t index) {
    const Op& op = graph_.ops[index];
    if (op.outputs.size() != 1) return std::nullopt;
    std::vector<std::pair<std::size_t, TensorId>> candidates;  // kernels, the latest first
    for (const TensorId id : data_inputs(op))
      if (const auto k = producer(id); k && kernels_[*k].takes_epilogue)
        candidates.emplace_back(*k, id);
    std::sort(candidates.begin(), candidates.end(),
              [&](const auto& a, const auto& b) { return last_[a.first] > last_[b.first]; });
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    for (const auto& [k, from] : candidates) {
      Growing& g = kernels_[k];
      std::optional<std::string> refused = shared(from);
      EpiloguePlan plan = g.plan;
      if (!refused)
        refused =
            append(graph_, options_.numerics, g.window ? &*g.window : nullptr, index, from, plan);
      if (!refused && g.window) refused = cost_.refusal(*g.window, g.plan, plan, index);
      note(index, g.kernel.main, refused, "it works on the tile in the scratchpad");
      if (refused) continue;
      g.plan = std::move(plan);
      g.kernel.ops.push_back(index);
      g.kernel.epilogue.push_back(index);
      return k;
    }
    return std::nullopt;
  }

  std::optional<std::size_t> producer(TensorId id) const {
    const auto it = by_output_.find(id);
    if (it == by_output_.end() || kernels_[it->second].kernel.ops.empty()) return std::nullopt;
    return it->second;
  }

  std::optional<std::string> shared(TensorId id) const {
    const int readers = readers_[static_cast<std::size_t>(id)];
    if (readers >= kMany) return "what is between them is an output of the graph";
    if (readers > 1) return "what is between them has other readers";
    return std::nullopt;
  }

  void note(std::size_t op, std::size_t into, const std::optional<std::string>& refused,
            const char* done) {
    if (notes_) notes_->push_back({op, into, !refused, refused ? *refused : done});
  }

  void set_operands(Kernel& kernel) const {
    std::set<TensorId> made;
    for (const std::size_t index : kernel.ops)
      for (const TensorId id : graph_.ops[index].outputs) made.insert(id);
    for (const std::size_t index : kernel.ops)
      for (const TensorId id : graph_.ops[index].inputs)
        if (id != kNoTensor && !made.contains(id)) kernel.reads.push_back(id);
    kernel.writes = graph_.ops[kernel.ops.back()].outputs;
  }

  const Graph& graph_;
  const CompileOptions& options_;
  const FusionCost cost_;
  std::vector<FusionNote>* notes_;
  std::vector<int> readers_;  // by tensor: operators that read it, kMany more for a graph output
  std::vector<Growing> kernels_;
  std::vector<std::size_t> last_;  // by kernel: where in the group its last operator stands
  std::size_t position_ = 0;
  std::map<TensorId, std::size_t> by_output_;  // whose last operator writes the tensor
};

}  // namespace

std::vector<Kernel> plan_kernels(const Graph& graph, const Group& group,
                                 const CompileOptions& options, TilingCache& tilings,
                                 std::vector<FusionNote>* notes) {
  return Planner(graph, group, options, tilings, notes).finish();
}

}  // namespace deputy::delegate
