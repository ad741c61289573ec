// Integer matrix product with exact int32 sums, the inner loop of the CPU's int8 convolution
// kernels.
#pragma once

#include <cstdint>

namespace deputy::host_runtime {

/// out[r * cols + c] = sum over k of a[r * depth + k] * b[c * depth + k], modulo 2^32.
/// Operands hold 8-bit values less their zero points (|v| <= 255), so that int16 pairs multiply
/// exactly.
void gemm_i16(const std::int16_t* a, std::int64_t rows, const std::int16_t* b, std::int64_t cols,
              std::int64_t depth, std::int32_t* out);

/// acc[i] += x[i] * w[i], modulo 2^32.
void multiply_add_i16(const std::int16_t* x, const std::int16_t* w, std::int64_t count,
                      std::int32_t* acc);

}  // namespace deputy::host_runtime
