#include "delegate/fusion/kernel.h"

namespace deputy::delegate {

std::vector<Kernel> plan_kernels(const Graph& graph, const Group& group, const CompileOptions&) {
  std::vector<Kernel> out;
  for (const std::size_t index : group.ops) {
    const Op& op = graph.ops[index];
    Kernel kernel{{index}, index, {}, op.outputs};
    for (const TensorId id : op.inputs)
      if (id != kNoTensor) kernel.reads.push_back(id);
    out.push_back(std::move(kernel));
  }
  return out;
}

}  // namespace deputy::delegate
