// The compiler's graph: operators in execution order over tensors. Built by the importers, read by
// everything after them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arch/ops.h"
#include "base/result.h"

namespace deputy::delegate {

using TensorId = std::int32_t;
inline constexpr TensorId kNoTensor = -1;   ///< an absent optional operand
inline constexpr std::size_t kMaxRank = 8;  ///< dimensions a tensor may have

struct Tensor {
  arch::TensorDesc desc;
  std::vector<std::uint8_t> data;  ///< little-endian, C order; only when `constant`
  bool constant = false;
  std::int32_t source_index = -1;  ///< index in the model file
};

struct Op {
  arch::OpKind kind = arch::OpKind::CONV_2D;
  arch::OpAttrs attrs;
  std::vector<TensorId> inputs, outputs;
  std::int32_t source_index = -1;  ///< index in the model file
};

/// Invariants (validate() checks them): ids in range; shapes not negative and below 2^31 bytes;
/// every op input is a constant, a graph input or an earlier op's output; no tensor is written
/// twice; constants have exactly desc.bytes() of data.
struct Graph {
  std::string name;
  std::vector<Tensor> tensors;
  std::vector<Op> ops;
  std::vector<TensorId> inputs, outputs;

  const Tensor& tensor(TensorId id) const { return tensors[static_cast<std::size_t>(id)]; }
  Tensor& tensor(TensorId id) { return tensors[static_cast<std::size_t>(id)]; }
  bool has_input(const Op& op, std::size_t index) const {
    return index < op.inputs.size() && op.inputs[index] != kNoTensor;
  }
};

base::Status validate(const Graph& graph);

/// "CONV_2D #3 'conv/Relu'": how messages name an operator.
std::string op_label(const Graph& graph, const Op& op);

/// Multiply-accumulates of CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED, TRANSPOSE_CONV,
/// BATCH_MATMUL; 0 for others.
std::uint64_t op_macs(const Graph& graph, const Op& op);

}  // namespace deputy::delegate
