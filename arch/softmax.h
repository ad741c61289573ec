// SOFTMAX of 8-bit rows: the NPU's instruction and the CPU kernel use the same table and the same
// passes. Rules: TFLite's reference kernel (exponentials with 31 fractional bits, a sum with 19,
// reciprocal by Newton-Raphson) for `tflite` and `single`; TFLite's optimised kernel (float32
// table, sum and division) for `fp32`.
#pragma once

#include <array>
#include <cstdint>

#include "base/types.h"

namespace deputy::arch {

/// Entry d is exp(-d * beta * s_in): int32 with 31 fractional bits, 0 where the difference is
/// beyond the reference kernel's range; in kFp32 the bits of a float32. beta and s_in are positive.
std::array<std::int32_t, 256> softmax_table(float beta, float s_in, Numerics mode);

/// One row of n >= 1 bytes; `out` may be `in`. `flip` is 0x80 for unsigned bytes, else 0. s_out is
/// the output's scale, 1/256 within the tolerance of the kernels (kFp32 only). Any table is safe.
void softmax_row(const std::uint8_t* in, std::int64_t n, const std::int32_t* table, Numerics mode,
                 float s_out, std::uint8_t flip, std::uint8_t* out);

}  // namespace deputy::arch
