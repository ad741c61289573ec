#include "host_runtime/cpu/onnx/evaluate.h"

#include <algorithm>

#include "base/check.h"
#include "host_runtime/cpu/onnx/call.h"
#include "host_runtime/cpu/op_call.h"

namespace deputy::host_runtime {
namespace {

using onnx::Call;
using onnx::Kernel;
using onnx::Mode;
using onnx::Slot;

base::Status call(const arch::OnnxNode& node, std::span<const arch::TensorView> inputs,
                  std::vector<Slot>& slots, Mode mode, bool* unknown = nullptr) {
  const Call c(node, inputs, slots, mode);
  const Kernel* kernel = onnx::find_kernel(node.op);
  if (!kernel) return c.fail("the operator has no kernel");
  if (inputs.size() < kernel->min_inputs || inputs.size() > kernel->max_inputs)
    return c.fail("has {} operands, expected {} to {}", inputs.size(), kernel->min_inputs,
                  kernel->max_inputs);
  if (slots.size() > kernel->max_outputs || slots.empty())
    return c.fail("has {} results, at most {} are defined", slots.size(), kernel->max_outputs);
  for (std::size_t i = 0; i < kernel->min_inputs; ++i)
    if (!c.has(i)) return c.fail("operand {} is missing", i);
  const std::size_t listed = slots.size();
  const base::Status status = kernel->run(c);
  if (unknown) *unknown = c.was_unknown();
  DEPUTY_TRY(status);
  for (std::size_t i = 0; i < listed; ++i)
    if (slots[i].wanted && !slots[i].declared) return c.fail("result {} is not computed", i);
  return {};
}

base::Result<arch::OnnxNode> parsed(const OpCall& c) {
  auto node = arch::parse_onnx(c.attrs.onnx);
  if (!node) return op_error(c, "the node's text is malformed");
  return std::move(*node);
}
std::vector<Slot> slots_of(const OpCall& c) {
  std::vector<Slot> slots(c.outputs.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    slots[i].wanted = bool{c.outputs[i]};
    slots[i].expected = c.outputs[i].desc, slots[i].data = c.outputs[i].data;
  }
  return slots;
}

/// Where the results' shapes depend on values, they are checked when it runs.
base::Status check(const OpCall& c) {
  DEPUTY_ASSIGN(const arch::OnnxNode node, parsed(c));
  auto slots = slots_of(c);
  bool unknown = false;
  const base::Status status = call(node, c.inputs, slots, Mode::kInfer, &unknown);
  if (!status.ok() && unknown) return {};
  return status;
}

base::Status run(const OpCall& c, Numerics) {
  DEPUTY_ASSIGN(const arch::OnnxNode node, parsed(c));
  auto slots = slots_of(c);
  return call(node, c.inputs, slots, Mode::kRun);
}

constexpr HostOp kOps[] = {{arch::OpKind::ONNX, check, run}};

}  // namespace

std::span<const HostOp> onnx_ops() { return kOps; }

base::Result<std::vector<arch::OnnxResult>> evaluate_onnx(const arch::OnnxNode& node,
                                                          std::span<const arch::TensorView> inputs,
                                                          std::span<const arch::OnnxOutput> outputs,
                                                          bool shapes_only) {
  std::vector<Slot> slots(outputs.size());
  for (std::size_t i = 0; i < slots.size(); ++i)
    slots[i].wanted = outputs[i].wanted, slots[i].expected = outputs[i].expected;
  bool unknown = false;
  const base::Status status =
      call(node, inputs, slots, shapes_only ? Mode::kInfer : Mode::kFold, &unknown);
  std::vector<arch::OnnxResult> results(outputs.size());
  if (!status.ok()) {
    if (!unknown) return status.error();
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (!outputs[i].wanted) continue;
      if (!outputs[i].expected) return status.error();
      results[i].dtype = outputs[i].expected->dtype, results[i].shape = outputs[i].expected->shape;
    }
    return results;
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i].dtype = slots[i].dtype, results[i].shape = std::move(slots[i].shape);
    if (shapes_only || !slots[i].wanted) continue;
    results[i].data = std::move(slots[i].own);
    results[i].data.resize(static_cast<std::size_t>(element_count(results[i].shape)) *
                           dtype_size(results[i].dtype));
  }
  return results;
}

std::vector<OnnxOperator> onnx_operators() {
  std::vector<OnnxOperator> out;
  for (const Kernel* kernel : onnx::all_kernels()) out.push_back({kernel->op, kernel->limits});
  std::sort(out.begin(), out.end(),
            [](const OnnxOperator& a, const OnnxOperator& b) { return a.name < b.name; });
  return out;
}

}  // namespace deputy::host_runtime
