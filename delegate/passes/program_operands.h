// How the tensors of an NPU program are known outside it: as operands and results of its step.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "arch/executable.h"
#include "delegate/fusion/kernel.h"
#include "delegate/fusion/views_pass.h"
#include "delegate/ir/graph.h"
#include "delegate/passes/storage.h"

namespace deputy::delegate {

class ProgramOperands {
 public:
  /// All must outlive this. What is asked decides what must be there: inputs() needs the operators
  /// of `executable`, the others its placed tensors too.
  ProgramOperands(const Graph& graph, const arch::Executable& executable, const ViewPlan& views,
                  const StorageMap& storage);

  /// The tensors from outside that the kernels of one program read, through operators without work,
  /// in order.
  std::vector<TensorId> inputs(const std::vector<Kernel>& kernels) const;
  /// The tensor that stands for `id` in a step: one without a dense place is named by the whole
  /// that it lies in.
  std::uint32_t placed(TensorId id) const;
  /// Takes results out of the list, which is in the order they are written, that a later one lies
  /// over or holds.
  void drop_overwritten(std::vector<std::uint32_t>& outputs) const;

 private:
  std::uint32_t unaliased(TensorId id) const;

  const Graph& graph_;
  const arch::Executable& executable_;
  const ViewPlan& views_;
  const StorageMap& storage_;
  std::map<TensorId, std::size_t> producers_;  // operators by what they write
};

}  // namespace deputy::delegate
