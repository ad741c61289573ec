#include "delegate/passes/check_memory_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "delegate/passes/tensor_bytes.h"

namespace deputy::delegate {
namespace {

using arch::OpKind;

// Element i of the result depends on no other element of an operand of the same shape.
bool is_element_wise(OpKind kind) {
  switch (kind) {
    case OpKind::ADD:
    case OpKind::SUB:
    case OpKind::MUL:
    case OpKind::MINIMUM:
    case OpKind::MAXIMUM:
    case OpKind::RELU:
    case OpKind::RELU6:
    case OpKind::RELU_N1_TO_1:
    case OpKind::QUANTIZE:
    case OpKind::LEAKY_RELU:
    case OpKind::LOGISTIC:
    case OpKind::TANH:
    case OpKind::HARD_SWISH:
    case OpKind::ELU:
    case OpKind::GELU:
    case OpKind::ABS:
    case OpKind::EXP:
    case OpKind::NEG:
    case OpKind::SQRT:
    case OpKind::RSQRT:
      return true;
    default:
      return false;
  }
}

class Replay {
 public:
  explicit Replay(const MemoryUse& use)
      : use_(use),
        graph_(use.graph),
        bytes_(use.graph, use.views, use.actions),
        owners_(use.executable) {}

  std::optional<std::string> run() {
    for (const TensorId id : graph_.inputs) put(id);
    for (std::size_t a = 0; a < use_.actions.size() && !problem_; ++a)
      act(use_.actions[a], static_cast<std::ptrdiff_t>(a));
    for (const TensorId id : graph_.outputs) read(id, "the graph's end");
    if (use_.keep_all)
      for (const Op& op : graph_.ops)
        for (const TensorId id : op.outputs) read(id, "inspection");
    return problem_;
  }

 private:
  void report(std::string text) {
    if (!problem_) problem_ = std::move(text);
  }
  std::string name(TensorId id) const {
    return fmt::format("tensor {} '{}'", id, graph_.tensor(id).desc.name);
  }

  void act(const Action& action, std::ptrdiff_t number) {
    std::set<TensorId> operands, results;
    std::string label;
    for (const auto& kernel : action.kernels)
      for (const std::size_t index : kernel) {
        const Op& op = graph_.ops[index];
        if (label.empty()) label = op_label(graph_, op);
        for (const TensorId id : op.inputs)
          if (id != kNoTensor && !graph_.tensor(id).constant && !bytes_.computed_in(id, number))
            operands.insert(id);
        for (const TensorId id : op.outputs)
          if (bytes_.in_arena(id))
            results.insert(id);
          else if (use_.keep_all || action.host)
            report(fmt::format("{} of {} has no storage", name(id), label));
      }
    for (const TensorId id : operands) {
      read(id, label);
      if (bytes_.view(id).ring != 0)
        report(fmt::format("{} keeps only its last rows when {} reads it", name(id), label));
    }
    for (const TensorId id : results) write(id);
    for (const TensorId id : operands)
      if (!overwritten_lawfully(action, id, results)) read(id, label + " while it runs");
    for (const TensorId id : results) read(id, "the end of " + label);
    for (const TensorId id : action.keeps) read(id, "the end of the program of " + label);
  }

  void write(TensorId id) {
    if (bytes_.in_arena(id) && !use_.executable.region_written(bytes_.region(id)) &&
        !bytes_.computed(id).empty())
      return report(name(id) + " is written into the memory of an input");
    put(id);
  }
  void put(TensorId id) {
    if (!bytes_.in_arena(id)) return report(name(id) + " has no storage to be written");
    for (const Piece& piece : bytes_.computed(id))
      if (!owners_.write(bytes_.region(id), piece)) report(name(id) + " leaves its region");
  }

  void read(TensorId id, const std::string& when) {
    if (graph_.tensor(id).constant || problem_) return;
    if (bytes_.view(id).stored && bytes_.view(id).at.region == arch::Region::kConstants) return;
    if (!bytes_.in_arena(id)) return report(fmt::format("{} has no storage at {}", name(id), when));
    for (const Piece& piece : bytes_.pieces(id))
      if (const auto other = owners_.differs(bytes_.region(id), piece))
        return report(
            fmt::format("{} is overwritten by {} before {}", name(id), bytes_.owner(*other), when));
  }

  // Whether the action may write its result over this operand. From the operand a chain of
  // element-wise operators of one NPU kernel leads to a result in the very same place, the operand
  // enters the kernel nowhere else, and no other operand or result touches the place.
  bool overwritten_lawfully(const Action& action, TensorId operand,
                            const std::set<TensorId>& results) const {
    if (action.host || action.kernels.size() != 1) return false;
    TensorId at = operand;
    for (;;) {
      const Op* reader = nullptr;
      for (const std::size_t index : action.kernels[0]) {
        const Op& op = graph_.ops[index];
        if (std::find(op.inputs.begin(), op.inputs.end(), at) == op.inputs.end()) continue;
        if (reader) return false;
        reader = &op;
      }
      if (!reader || !is_element_wise(reader->kind)) return false;
      const TensorId next = reader->outputs[0];
      if (graph_.tensor(next).desc.shape != graph_.tensor(operand).desc.shape) return false;
      at = next;
      if (results.contains(at)) break;
    }
    const TensorView &a = bytes_.view(operand), &b = bytes_.view(at);
    return a.at.region == b.at.region && a.at.offset == b.at.offset && a.strides == b.strides &&
           a.ring == 0 && b.ring == 0;
  }

  const MemoryUse& use_;
  const Graph& graph_;
  TensorBytes bytes_;
  ByteOwners owners_;
  std::optional<std::string> problem_;
};

}  // namespace

std::optional<std::string> check_memory_plan(const MemoryUse& use) { return Replay(use).run(); }

}  // namespace deputy::delegate
