#include "delegate/fusion/views_pass.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "delegate/codegen/tile_search.h"
#include "delegate/codegen/views.h"
#include "delegate/fusion/epilogue_plan.h"
#include "delegate/fusion/fold_pad.h"
#include "delegate/ops/eltwise_ops.h"
#include "delegate/ops/operands.h"
#include "delegate/ops/parts.h"
#include "delegate/ops/window_ops.h"

namespace deputy::delegate {
namespace {

using arch::OpKind;
using Refusal = std::optional<std::string>;

bool seen_as(const Shape& s, std::int64_t h, std::int64_t w, std::int64_t c) {
  return s.size() == 4 && s[1] == h && s[2] == w && s[3] == c;
}

// Who touches one tensor.
struct Users {
  std::vector<const Kernel*> kernels;  // on the NPU, without the operators that views replace
  bool host = false, host_writes = false, aliased = false;
  int part_of = -1;              // index into the plan's parts
  std::vector<TensorId> inside;  // its own parts
};

class Planner {
 public:
  Planner(const Graph& graph, const CompileOptions& options,
          const std::vector<OpPlacement>& placements, std::vector<std::vector<Kernel>>& kernels)
      : graph_(graph), options_(options), kernels_(kernels), users_(graph.tensors.size()) {
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
      const Op& op = graph.ops[i];
      const Engine engine = placements[i].engine;
      for (const TensorId id : op.inputs)
        if (id != kNoTensor) touch(id, engine);
      for (const TensorId id : op.outputs) {
        touch(id, engine);
        users(id).host_writes |= engine == Engine::kCpu || engine == Engine::kDsp;
      }
    }
    for (const TensorId id : graph.inputs) users(id).host = users(id).host_writes = true;
    for (const TensorId id : graph.outputs) users(id).host = true;
    for (const std::vector<Kernel>& group : kernels)
      for (const Kernel& kernel : group) {
        for (const TensorId id : kernel.reads) users(id).kernels.push_back(&kernel);
        for (const TensorId id : kernel.writes) users(id).kernels.push_back(&kernel);
      }
  }

  ViewPlan run() {
    for (std::vector<Kernel>& group : kernels_)
      for (Kernel& kernel : group)
        if (kernel.ops.size() == 1) visit(kernel);
    for (std::vector<Kernel>& group : kernels_)
      std::erase_if(group, [&](const Kernel& k) {
        return std::find(plan_.elided.begin(), plan_.elided.end(), k.main) != plan_.elided.end();
      });
    return std::move(plan_);
  }

 private:
  Users& users(TensorId id) { return users_[static_cast<std::size_t>(id)]; }
  const Users& users(TensorId id) const { return users_[static_cast<std::size_t>(id)]; }
  const Shape& shape(TensorId id) const { return graph_.tensor(id).desc.shape; }

  void touch(TensorId id, Engine engine) {
    users(id).host |= engine == Engine::kCpu || engine == Engine::kDsp;
    users(id).aliased |= engine == Engine::kAlias;
  }

  void visit(Kernel& kernel) {
    const auto parts = parts_of(graph_, kernel.main_op(graph_));
    if (!parts || graph_.tensor(parts->whole).constant) return;
    std::vector<TensorId> views;
    std::size_t left = 0;
    for (const Part& part : parts->parts) {
      if (graph_.tensor(part.tensor).desc.elements() == 0) continue;
      const Refusal refused = refusal(kernel, *parts, part);
      plan_.notes.push_back(
          {kernel.main, kernel.main, !refused,
           refused ? "'" + graph_.tensor(part.tensor).desc.name + "' is copied: " + *refused
                   : "'" + graph_.tensor(part.tensor).desc.name +
                         (parts->gather ? "' is written in its place" : "' is read in its place")});
      if (refused) {
        ++left;
        continue;
      }
      users(part.tensor).part_of = static_cast<int>(plan_.parts.size());
      users(part.whole).inside.push_back(part.tensor);
      plan_.parts.push_back(part);
      views.push_back(part.tensor);
    }
    if (left == 0)
      plan_.elided.push_back(kernel.main);
    else
      keep_copies(kernel, views, parts->gather);
  }

  // The operator copies what is no view.
  void keep_copies(Kernel& kernel, const std::vector<TensorId>& views, bool gather) {
    if (gather)
      std::erase_if(kernel.reads, [&](TensorId id) {
        return std::find(views.begin(), views.end(), id) != views.end();
      });
    kernel.views = views;
  }

  Refusal refusal(const Kernel& kernel, const Parts& parts, const Part& part) const {
    const TensorId id = part.tensor;
    const Users& u = users(id);
    if (graph_.tensor(id).constant) return "it is a constant";
    if (u.part_of >= 0) return "it is a part of another tensor already";
    if (parts.gather && std::count(graph_.ops[kernel.main].inputs.begin(),
                                   graph_.ops[kernel.main].inputs.end(), id) > 1)
      return "it is there twice";
    if (parts.gather && u.host_writes) return "the CPU writes it";
    if (!parts.gather && !u.inside.empty()) return "it has parts itself";
    if (options_.fallback && crosses(kernel, parts, part))
      return "another program needs it whole, and so does its fallback";
    if (dense_inside(part)) return std::nullopt;
    if (const Refusal r = strided(id, part, &kernel)) return r;
    return dearer(kernel, part);
  }

  // Whether a tensor that is to be written in its place inside another would be read by another
  // program, which would then know it only by the other's name; parts of parts are taken for such.
  bool crosses(const Kernel& kernel, const Parts& parts, const Part& part) const {
    if (!parts.gather) return users(part.whole).part_of >= 0;
    const Users& u = users(part.tensor);
    const auto group =
        std::find_if(kernels_.begin(), kernels_.end(), [&](const std::vector<Kernel>& g) {
          return !g.empty() && &kernel >= &g.front() && &kernel <= &g.back();
        });
    return u.aliased || !u.inside.empty() ||
           std::any_of(u.kernels.begin(), u.kernels.end(),
                       [&](const Kernel* k) { return k < &group->front() || k > &group->back(); });
  }

  bool strided_whole(TensorId id) const {
    const Users& u = users(id);
    if (u.part_of < 0) return false;
    return !dense_inside(plan_.parts[static_cast<std::size_t>(u.part_of)]);
  }

  // Whether the part's bytes lie without gaps.
  bool dense_inside(const Part& part) const {
    if (strided_whole(part.whole)) return false;
    const auto whole = dense_view(graph_.tensor(part.whole).desc, {});
    TensorView view;
    view.stored = true;
    for (std::size_t i = 0; i < part.axis.size(); ++i)
      view.strides.push_back(whole.strides[part.axis[i]] * part.step[i]);
    return is_dense(view, graph_.tensor(part.tensor).desc);
  }

  // Why `id` may not lie strided, as `part` (of its own or of a tensor that it is inside of) would
  // have it; `replaced` is the kernel that goes.
  Refusal strided(TensorId id, const Part& part, const Kernel* replaced) const {
    const Users& u = users(id);
    if (u.host) return "the CPU or the caller touches it";
    if (u.aliased) return "it is seen in another shape";
    if (part.axis.empty() || part.axis.back() + 1 != shape(part.whole).size() ||
        part.step.back() != 1)
      return "its channels would not lie side by side";
    for (const Kernel* k : u.kernels)
      if (k != replaced && !elided(k->main) && !addresses(*k, id))
        return "operator " + std::to_string(k->main) + " takes dense tensors only";
    for (const TensorId inner : u.inside)
      if (const Refusal r =
              strided(inner, plan_.parts[static_cast<std::size_t>(users(inner).part_of)], nullptr))
        return r;
    return std::nullopt;
  }

  bool elided(std::size_t op) const {
    return std::find(plan_.elided.begin(), plan_.elided.end(), op) != plan_.elided.end();
  }

  // Whether the kernel's instructions reach the tensor however it is strided.
  bool addresses(const Kernel& kernel, TensorId id) const {
    const Op& op = kernel.main_op(graph_);
    if (is_eltwise_kind(op.kind)) return true;
    if (table_of(graph_, options_.numerics, op, op.inputs[0])) return true;
    if (op.kind == OpKind::PAD || op.kind == OpKind::PADV2) return shape(id).size() == 4;
    const auto window = kernel_window(graph_, kernel);
    if (!window) return false;
    std::int64_t h = window->oh, w = window->ow;
    bool pools = false;
    for (const std::size_t fused : kernel.epilogue)
      if (const auto pool = window_shape(graph_, graph_.ops[fused]);
          pool && pool->kind == WindowKind::kPool)
        h = pool->oh, w = pool->ow, pools = true;
    const bool input = id == kernel.input(graph_), output = id == kernel.output(graph_),
               other = in_epilogue(kernel, id);
    if (input && !seen_as(shape(id), window->ih, window->iw, window->loaded_channels()))
      return false;
    if (output && !seen_as(shape(id), h, w, window->oc)) return false;
    if (other && (pools || !seen_as(shape(id), window->oh, window->ow, window->oc))) return false;
    return input || output || other;
  }
  bool in_epilogue(const Kernel& kernel, TensorId id) const {
    for (const std::size_t fused : kernel.epilogue)
      for (const TensorId other : graph_.ops[fused].inputs)
        if (other == id) return true;
    return false;
  }

  // Bytes of the part that lie side by side in a dense whole.
  std::int64_t contiguous(const Part& part) const {
    const Shape& s = shape(part.tensor);
    const std::vector<std::int64_t> strides = byte_strides(shape(part.whole));
    std::int64_t run = 1;
    for (std::size_t i = s.size(); i-- > 0;) {
      if (s[i] == 1) continue;
      if (strides[part.axis[i]] * part.step[i] != run) break;
      run *= s[i];
    }
    return run;
  }

  // The copy moves every byte twice more; a view makes its users move narrow runs.
  Refusal dearer(const Kernel& kernel, const Part& part) const {
    const TransferRates rates = transfer_rates(options_, true, true);
    const auto bytes = static_cast<double>(graph_.tensor(part.tensor).desc.bytes());
    const double runs = bytes / static_cast<double>(contiguous(part));
    double users_count = 0;
    for (const Kernel* k : users(part.tensor).kernels) users_count += k != &kernel;
    const double copy = 2 * bytes * (rates.ifm_per_byte + rates.ofm_per_byte) + rates.ifm_setup +
                        rates.ofm_setup + runs * rates.ifm_run;
    if (users_count * runs * rates.ifm_run > copy) return "its narrow runs cost more than the copy";
    return std::nullopt;
  }

  const Graph& graph_;
  const CompileOptions& options_;
  std::vector<std::vector<Kernel>>& kernels_;
  std::vector<Users> users_;  // by tensor
  ViewPlan plan_;
};

}  // namespace

ViewPlan plan_views(const Graph& graph, const CompileOptions& options,
                    const std::vector<OpPlacement>& placements,
                    std::vector<std::vector<Kernel>>& kernels) {
  if (!options.optimisations.views || options.keep_all_tensors) return {};
  return Planner(graph, options, placements, kernels).run();
}

}  // namespace deputy::delegate
