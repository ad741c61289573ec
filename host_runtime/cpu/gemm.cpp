// Integer matrix product (gemm.h). Plain loops that the compiler turns into pairwise multiply-adds;
// a second copy compiled for AVX2 is picked at run time. Integer sums are exact, so the choice
// never shows.
#pragma GCC optimize("O3")
#include "host_runtime/cpu/gemm.h"

#include <algorithm>

namespace deputy::host_runtime {
namespace {
#define DEPUTY_INLINE [[gnu::always_inline]] inline

/// Longest run whose int32 sum cannot overflow: 32768 * 255 * 255 < 2^31.
constexpr std::int64_t kChunk = 32768;

template <int R, int C>
DEPUTY_INLINE void block(const std::int16_t* a, const std::int16_t* b, std::int64_t depth,
                         std::int64_t stride, std::int32_t* out, std::int64_t out_stride,
                         bool accumulate) {
  std::int32_t sum[R][C] = {};
  for (std::int64_t k = 0; k < depth; ++k)
    for (int r = 0; r < R; ++r)
      for (int c = 0; c < C; ++c) sum[r][c] += std::int32_t{a[r * stride + k]} * b[c * stride + k];
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) {
      std::int32_t& o = out[r * out_stride + c];
      o = accumulate ? static_cast<std::int32_t>(static_cast<std::uint32_t>(o) +
                                                 static_cast<std::uint32_t>(sum[r][c]))
                     : sum[r][c];
    }
}

DEPUTY_INLINE void gemm_body(const std::int16_t* a, std::int64_t rows, const std::int16_t* b,
                             std::int64_t cols, std::int64_t depth, std::int32_t* out) {
  if (depth == 0) std::fill(out, out + rows * cols, 0);
  for (std::int64_t k = 0; k < depth; k += kChunk) {
    const std::int64_t d = std::min(kChunk, depth - k);
    std::int64_t r = 0;
    for (; r + 4 <= rows; r += 4) {
      std::int64_t c = 0;
      for (; c + 2 <= cols; c += 2)
        block<4, 2>(a + r * depth + k, b + c * depth + k, d, depth, out + r * cols + c, cols,
                    k > 0);
      for (; c < cols; ++c)
        block<4, 1>(a + r * depth + k, b + c * depth + k, d, depth, out + r * cols + c, cols,
                    k > 0);
    }
    for (; r < rows; ++r) {
      std::int64_t c = 0;
      for (; c + 4 <= cols; c += 4)
        block<1, 4>(a + r * depth + k, b + c * depth + k, d, depth, out + r * cols + c, cols,
                    k > 0);
      for (; c < cols; ++c)
        block<1, 1>(a + r * depth + k, b + c * depth + k, d, depth, out + r * cols + c, cols,
                    k > 0);
    }
  }
}

DEPUTY_INLINE void multiply_add_body(const std::int16_t* __restrict x,
                                     const std::int16_t* __restrict w, std::int64_t count,
                                     std::int32_t* __restrict acc) {
  for (std::int64_t i = 0; i < count; ++i) {
    const auto product = static_cast<std::uint32_t>(std::int32_t{x[i]} * w[i]);
    acc[i] =
        static_cast<std::int32_t>(static_cast<std::uint32_t>(acc[i]) + product);  // modulo 2^32
  }
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void gemm_avx2(const std::int16_t* a, std::int64_t rows,
                                       const std::int16_t* b, std::int64_t cols, std::int64_t depth,
                                       std::int32_t* out) {
  gemm_body(a, rows, b, cols, depth, out);
}
[[gnu::target("avx2")]] void multiply_add_avx2(const std::int16_t* x, const std::int16_t* w,
                                               std::int64_t count, std::int32_t* acc) {
  multiply_add_body(x, w, count, acc);
}
const bool kHasAvx2 = __builtin_cpu_supports("avx2");
#endif
}  // namespace

void gemm_i16(const std::int16_t* a, std::int64_t rows, const std::int16_t* b, std::int64_t cols,
              std::int64_t depth, std::int32_t* out) {
#if defined(__x86_64__)
  if (kHasAvx2) return gemm_avx2(a, rows, b, cols, depth, out);
#endif
  gemm_body(a, rows, b, cols, depth, out);
}

void multiply_add_i16(const std::int16_t* x, const std::int16_t* w, std::int64_t count,
                      std::int32_t* acc) {
#if defined(__x86_64__)
  if (kHasAvx2) return multiply_add_avx2(x, w, count, acc);
#endif
  multiply_add_body(x, w, count, acc);
}

}  // namespace deputy::host_runtime
