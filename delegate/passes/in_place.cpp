#include "delegate/passes/in_place.h"

#include <algorithm>

#include "delegate/fusion/epilogue_plan.h"
#include "delegate/ops/eltwise_ops.h"
#include "delegate/passes/external_io.h"

namespace deputy::delegate {
namespace {

std::size_t index(TensorId id) { return static_cast<std::size_t>(id); }

// Element i of the result depends on element i of `from` only, among the elements of `from`.
bool point_wise(const Graph& graph, Numerics numerics, const Op& op, TensorId from) {
  if (op.outputs.size() != 1) return false;
  const arch::TensorDesc &in = graph.tensor(from).desc, &out = graph.tensor(op.outputs[0]).desc;
  if (in.shape != out.shape || dtype_size(in.dtype) != 1 || dtype_size(out.dtype) != 1)
    return false;
  return is_eltwise_kind(op.kind) || table_of(graph, numerics, op, from).has_value();
}

// The only operator of the kernel that reads the tensor, or null.
const Op* only_reader(const Graph& graph, const std::vector<std::size_t>& kernel, TensorId id) {
  const Op* reader = nullptr;
  for (const std::size_t i : kernel) {
    const Op& op = graph.ops[i];
    if (std::find(op.inputs.begin(), op.inputs.end(), id) == op.inputs.end()) continue;
    if (reader) return nullptr;
    reader = &op;
  }
  return reader;
}

// The last action that touches each buffer; outputs are touched after all.
std::vector<std::ptrdiff_t> last_touches(const Graph& graph, const std::vector<Action>& actions,
                                         const StorageMap& storage) {
  std::vector<std::ptrdiff_t> last(graph.tensors.size(), -1);
  for (std::size_t a = 0; a < actions.size(); ++a)
    for (const auto* list : {&actions[a].reads, &actions[a].writes})
      for (const TensorId id : *list)
        if (id != kNoTensor) last[index(storage.root(id))] = static_cast<std::ptrdiff_t>(a);
  for (std::size_t a = 0; a < actions.size(); ++a)  // not to be overwritten by it either
    for (const TensorId id : actions[a].keeps)
      last[index(storage.root(id))] =
          std::max(last[index(storage.root(id))], static_cast<std::ptrdiff_t>(a) + 1);
  for (const TensorId id : graph.outputs)
    last[index(storage.root(id))] = static_cast<std::ptrdiff_t>(actions.size());
  return last;
}

}  // namespace

std::vector<std::pair<TensorId, TensorId>> overwritable(const Graph& graph, Numerics numerics,
                                                        const Action& action) {
  std::vector<std::pair<TensorId, TensorId>> out;
  if (action.host || action.kernels.size() != 1 || action.writes.size() != 1) return out;
  const std::vector<std::size_t>& kernel = action.kernels[0];
  for (const TensorId operand : action.reads) {
    if (operand == kNoTensor || graph.tensor(operand).constant) continue;
    TensorId at = operand;
    while (at != action.writes[0]) {
      const Op* reader = only_reader(graph, kernel, at);
      if (!reader || !point_wise(graph, numerics, *reader, at)) break;
      at = reader->outputs[0];
    }
    if (at == action.writes[0]) out.emplace_back(at, operand);
  }
  return out;
}

std::vector<std::pair<TensorId, TensorId>> in_place_pairs(const Graph& graph, Numerics numerics,
                                                          const std::vector<Action>& actions,
                                                          const StorageMap& storage,
                                                          IoPlacement io) {
  const ExternalIo external = external_io(graph, storage, io);
  const auto is_fixed = [&](const ExternalBuffer& b, TensorId to, TensorId from) {
    return (b.root == to && !b.written) || (b.root == from && io == IoPlacement::kDram);
  };
  std::vector<std::pair<TensorId, TensorId>> out;
  std::vector<std::ptrdiff_t> last = last_touches(graph, actions, storage);
  std::vector<TensorId> merged(graph.tensors.size());  // by root: the buffer it went into
  for (std::size_t i = 0; i < merged.size(); ++i) merged[i] = static_cast<TensorId>(i);
  const auto buffer = [&](TensorId id) { return merged[index(storage.root(id))]; };

  for (std::size_t a = 0; a < actions.size(); ++a)
    for (const auto& [result, operand] : overwritable(graph, numerics, actions[a])) {
      const TensorId to = buffer(operand), from = storage.root(result);
      if (from != result || merged[index(from)] != from || to == from) continue;
      if (!fills_buffer(graph, storage, result) || !fills_buffer(graph, storage, operand)) continue;
      if (last[index(to)] != static_cast<std::ptrdiff_t>(a)) continue;
      // An external input is not ours to write, and a result in external DRAM is no place for its
      // operand.
      if (std::any_of(external.buffers.begin(), external.buffers.end(),
                      [&](const ExternalBuffer& b) { return is_fixed(b, to, from); }))
        continue;
      // Nothing else that the action touches lies in the operand's buffer.
      const auto in_buffer = [&](TensorId id) {
        return id != kNoTensor && id != operand && buffer(id) == to;
      };
      if (std::any_of(actions[a].reads.begin(), actions[a].reads.end(), in_buffer)) continue;
      out.emplace_back(result, operand);
      merged[index(from)] = to;
      last[index(to)] = last[index(from)];
      break;
    }
  return out;
}

}  // namespace deputy::delegate
