// The CPU's kernels: every operator the NPU does not take, exact in each rounding mode for int8.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arch/ops.h"
#include "base/result.h"
#include "deputy/hw_port.h"

namespace deputy::host_runtime {

/// Whether a kernel exists for this operator with these operand types; the error says what is
/// missing. Operands as in TFLite order; constant operands (axes, shapes) carry data in their view.
base::Status check_host_op(arch::OpKind kind, const arch::OpAttrs& attrs,
                           std::span<const arch::TensorView> inputs,
                           std::span<const arch::TensorView> outputs);

/// Computes the outputs. Output memory must not overlap input memory. The operator must have passed
/// check_host_op. int8: bit-exact by `mode`'s runtime; float: float32 accumulation in a fixed
/// order. Errors (kInput): data-dependent operands out of range (a GATHER index, say).
base::Status run_host_op(arch::OpKind kind, const arch::OpAttrs& attrs,
                         std::span<const arch::TensorView> inputs,
                         std::span<const arch::TensorView> outputs, Numerics mode);

}  // namespace deputy::host_runtime
