#include "arch/host_timing.h"

#include <cmath>

#include "arch/onnx_node.h"

namespace deputy::arch {
namespace {

using u64 = std::uint64_t;

u64 elements_of(std::span<const TensorView> views) {
  u64 total = 0;
  for (const TensorView& view : views)
    if (view) total += static_cast<u64>(view.desc->elements());
  return total;
}
u64 bytes_of(std::span<const TensorView> views) {
  u64 total = 0;
  for (const TensorView& view : views)
    if (view) total += static_cast<u64>(view.desc->bytes());
  return total;
}
u64 dimension(std::span<const TensorView> inputs, std::size_t input, std::size_t axis) {
  if (input >= inputs.size() || !inputs[input]) return 1;
  const Shape& shape = inputs[input].desc->shape;
  return axis < shape.size() ? static_cast<u64>(shape[axis]) : 1;
}

// Multiply-accumulates of the kernels that are made of them, taps in the padding included.
u64 macs(OpKind kind, const OpAttrs& attrs, std::span<const TensorView> in, u64 outputs) {
  switch (kind) {
    case OpKind::CONV_2D:
      return outputs * dimension(in, 1, 1) * dimension(in, 1, 2) * dimension(in, 1, 3);
    case OpKind::DEPTHWISE_CONV_2D:
      return outputs * dimension(in, 1, 1) * dimension(in, 1, 2);
    case OpKind::FULLY_CONNECTED:
      return outputs * dimension(in, 1, 1);
    case OpKind::TRANSPOSE_CONV:  // operands: output shape, weights, input
      return elements_of(in.subspan(2, 1)) * dimension(in, 1, 0) * dimension(in, 1, 1) *
             dimension(in, 1, 2);
    default: {  // BATCH_MATMUL
      const std::size_t rank = in[0].desc->shape.size();
      return rank < 2 ? outputs : outputs * dimension(in, 0, attrs.adj_x ? rank - 2 : rank - 1);
    }
  }
}

}  // namespace

std::vector<HostWork> host_work(OpKind kind, const OpAttrs& attrs,
                                std::span<const TensorView> inputs,
                                std::span<const TensorView> outputs) {
  const u64 results = elements_of(outputs);
  std::vector<HostWork> work{{CpuKernel::kControl, 1}};
  const auto add = [&](CpuKernel kernel, u64 amount) { work.push_back({kernel, amount}); };
  switch (kind) {
    case OpKind::ONNX: {
      const HostWork own = onnx_work(attrs.onnx, inputs, outputs);
      add(own.kernel, own.amount);
      break;
    }
    case OpKind::CONV_2D:
    case OpKind::DEPTHWISE_CONV_2D:
    case OpKind::FULLY_CONNECTED:
    case OpKind::TRANSPOSE_CONV:
    case OpKind::BATCH_MATMUL: {
      const std::size_t data = kind == OpKind::TRANSPOSE_CONV ? 2 : 0;
      const bool real = inputs[data].desc->dtype == DType::kFloat32;
      add(real ? CpuKernel::kMacFloat : CpuKernel::kMacInt8, macs(kind, attrs, inputs, results));
      add(CpuKernel::kElementwise, results);  // scaling, activation, store
      break;
    }
    case OpKind::AVERAGE_POOL_2D:
    case OpKind::MAX_POOL_2D:
      add(CpuKernel::kElementwise,
          results * static_cast<u64>(attrs.filter_h) * static_cast<u64>(attrs.filter_w));
      break;
    case OpKind::MEAN:
    case OpKind::SUM:
    case OpKind::REDUCE_MAX:
    case OpKind::REDUCE_MIN:
    case OpKind::ARG_MAX:
    case OpKind::ARG_MIN:
      add(CpuKernel::kElementwise, elements_of(inputs.first(1)));
      break;
    case OpKind::SOFTMAX:
    case OpKind::LOG_SOFTMAX:
      add(CpuKernel::kTranscendental, results);
      add(CpuKernel::kElementwise, 2 * results);  // the largest, and the scaling
      break;
    case OpKind::LOGISTIC:
    case OpKind::TANH:
    case OpKind::ELU:
    case OpKind::GELU:
    case OpKind::EXP:
    case OpKind::SQRT:
    case OpKind::RSQRT:
    case OpKind::SIN:
    case OpKind::COS:
    case OpKind::DIV:
    case OpKind::L2_NORMALIZATION:
      add(CpuKernel::kTranscendental, results);
      break;
    case OpKind::PAD:
    case OpKind::PADV2:
    case OpKind::MIRROR_PAD:
    case OpKind::CONCATENATION:
    case OpKind::RESHAPE:
    case OpKind::SQUEEZE:
    case OpKind::EXPAND_DIMS:
    case OpKind::TRANSPOSE:
    case OpKind::SLICE:
    case OpKind::STRIDED_SLICE:
    case OpKind::SPLIT:
    case OpKind::SPLIT_V:
    case OpKind::RESIZE_NEAREST_NEIGHBOR:
    case OpKind::BATCH_TO_SPACE_ND:
    case OpKind::SPACE_TO_BATCH_ND:
    case OpKind::DEPTH_TO_SPACE:
    case OpKind::SPACE_TO_DEPTH:
    case OpKind::GATHER:
    case OpKind::PACK:
    case OpKind::UNPACK:
    case OpKind::REVERSE_V2:
    case OpKind::TILE:
    case OpKind::SHAPE:
    case OpKind::FILL:
      add(CpuKernel::kCopy, bytes_of(outputs));
      break;
    case OpKind::ADD:
    case OpKind::SUB:
    case OpKind::MUL:
    case OpKind::MINIMUM:
    case OpKind::MAXIMUM:
    case OpKind::SQUARED_DIFFERENCE:
    case OpKind::RELU:
    case OpKind::RELU6:
    case OpKind::RELU_N1_TO_1:
    case OpKind::HARD_SWISH:
    case OpKind::LEAKY_RELU:
    case OpKind::PRELU:
    case OpKind::ABS:
    case OpKind::NEG:
    case OpKind::FLOOR:
    case OpKind::CEIL:
    case OpKind::ROUND:
    case OpKind::RESIZE_BILINEAR:
    case OpKind::QUANTIZE:
    case OpKind::DEQUANTIZE:
    case OpKind::CAST:
      add(CpuKernel::kElementwise, results);
      break;
  }
  return work;
}

u64 host_cycles(const HostConfig& host, CpuKernel kernel, u64 amount) {
  const double per[kCpuKernelCount] = {host.mac_int8,    host.mac_float,
                                       host.elementwise, host.transcendental,
                                       host.copy_byte,   static_cast<double>(host.control)};
  return static_cast<u64>(std::ceil(static_cast<double>(amount) * per[static_cast<int>(kernel)]));
}

u64 maintained_lines(const HostConfig& host, u64 address, u64 bytes) {
  if (bytes == 0) return 0;
  const auto line = static_cast<u64>(host.cache_line_bytes);
  return (address + bytes - 1) / line - address / line + 1;
}

u64 maintenance_cycles(const HostConfig& host, u64 address, u64 bytes) {
  if (bytes == 0) return 0;
  return static_cast<u64>(host.maintenance_call) +
         maintained_lines(host, address, bytes) * static_cast<u64>(host.maintenance_line);
}

u64 interrupt_cycles(const HostConfig& host) {
  return static_cast<u64>(host.interrupt_entry) + static_cast<u64>(host.context_switch);
}

std::uint64_t launch_cycles(const HostConfig& host, std::uint64_t bytes) {
  return host_cycles(host, CpuKernel::kCopy, bytes) + maintenance_cycles(host, 0, bytes);
}

}  // namespace deputy::arch
