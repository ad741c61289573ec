// Kernels in plain C++: what hosts without AVX2 run, and what the others are compared with.
#include <algorithm>
#include <cstring>

#include "arch/numerics.h"
#include "npu_model/core/kernel_sets.h"

namespace deputy::npu_model {
namespace {

using std::int16_t, std::int32_t, std::int8_t, std::size_t, std::uint32_t;

void pack_input(void* dst, const int8_t* src, size_t n, int32_t zero_point, std::uint8_t flip) {
  auto* out = static_cast<int16_t*>(dst);
  for (size_t i = 0; i < n; ++i)
    out[i] = static_cast<int16_t>(static_cast<int8_t>(src[i] ^ flip) - zero_point);
}

int32_t sum_input(const void* packed, size_t n) {
  const auto* x = static_cast<const int16_t*>(packed);
  uint32_t sum = 0;
  for (size_t i = 0; i < n; ++i) sum += static_cast<uint32_t>(int32_t{x[i]});
  return static_cast<int32_t>(sum);
}

void gemm(const void* input, size_t row_bytes, const void* weights, size_t panel_bytes, int groups,
          int rows, int panels, const int32_t* init, int32_t* out) {
  for (int p = 0; p < panels; ++p) {
    const auto* w =
        reinterpret_cast<const int16_t*>(static_cast<const char*>(weights) + p * panel_bytes);
    for (int r = 0; r < rows; ++r) {
      const auto* x =
          reinterpret_cast<const int16_t*>(static_cast<const char*>(input) + r * row_bytes);
      uint32_t acc[kPanel];
      for (int o = 0; o < kPanel; ++o) acc[o] = static_cast<uint32_t>(init[p * kPanel + o]);
      for (int g = 0; g < groups; ++g) {
        const int32_t x0 = x[2 * g], x1 = x[2 * g + 1];
        const int16_t* wg = w + g * 2 * kPanel;
        for (int o = 0; o < kPanel; ++o)
          acc[o] += static_cast<uint32_t>(x0 * wg[2 * o] + x1 * wg[2 * o + 1]);
      }
      std::memcpy(out + r * kBlock + p * kPanel, acc, sizeof acc);
    }
  }
}

void dot(const void* input, size_t row_bytes, int rows, const std::uint8_t*, const int8_t* weights,
         size_t stride, size_t taps, int channels, int32_t* out, int32_t*) {
  for (int o = 0; o < channels; ++o) {
    const int8_t* w = weights + o * stride;
    for (int r = 0; r < rows; ++r) {
      const auto* x =
          reinterpret_cast<const int16_t*>(static_cast<const char*>(input) + r * row_bytes);
      uint32_t acc = 0;
      for (size_t i = 0; i < taps; ++i) acc += static_cast<uint32_t>(x[i] * w[i]);
      out[r * kBlock + o] = static_cast<int32_t>(acc);
    }
  }
}

void depthwise(const int8_t* const* taps, int pairs, const int32_t* weights, size_t pair_stride,
               const int32_t* init, int channels, int32_t* out) {
  std::copy(init, init + channels, out);
  for (int p = 0; p < pairs; ++p) {
    const int8_t *x0 = taps[2 * p], *x1 = taps[2 * p + 1];
    const int32_t* w = weights + p * pair_stride;
    for (int c = 0; c < channels; ++c) {
      const int32_t sum = x0[c] * static_cast<int16_t>(w[c]) + x1[c] * (w[c] >> 16);
      out[c] = static_cast<int32_t>(static_cast<uint32_t>(out[c]) + static_cast<uint32_t>(sum));
    }
  }
}

void requantize(const int32_t* acc, int n, const OutputStage& stage, int first, int8_t* dst) {
  for (int i = 0; i < n; ++i) {
    const arch::Requant r{stage.multiplier[first + i], stage.shift[first + i]};
    const std::int64_t value =
        std::int64_t{arch::requantize(acc[i], r, stage.mode)} + stage.zero_point;
    dst[i] = static_cast<int8_t>(arch::clamp_i32(value, stage.low, stage.high));
  }
}

void maximum(const int8_t* const* taps, int count, int channels, int8_t* out) {
  std::copy(taps[0], taps[0] + channels, out);
  for (int t = 1; t < count; ++t)
    for (int c = 0; c < channels; ++c) out[c] = std::max(out[c], taps[t][c]);
}

}  // namespace

const Kernels& portable_kernels() {
  static const Kernels kernels{Isa::kPortable, "portable", 2,      2,
                               pack_input,     sum_input,  gemm,   dot,
                               depthwise,      requantize, maximum};
  return kernels;
}

}  // namespace deputy::npu_model
