// Kernels for x86 hosts with AVX-512 and VNNI: four uint8 x int8 products per lane by vpdpbusd,
// without saturation. 6 pixels x 64 channels of sums live in 24 of the 32 registers.
#if defined(__x86_64__)
// g++ 12 takes the undefined pass-through operands inside its own intrinsics for uninitialised
// variables.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>

#include <array>
#include <cstring>

#include "npu_model/core/kernel_sets.h"

#define DEPUTY_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")))

namespace deputy::npu_model {
namespace {

using std::int32_t, std::int8_t, std::size_t;

DEPUTY_AVX512 inline __m512i load512(const void* p) { return _mm512_loadu_si512(p); }

DEPUTY_AVX512 void pack_input(void* dst, const int8_t* src, size_t n, int32_t, std::uint8_t flip) {
  auto* out = static_cast<char*>(dst);
  const __m512i top = _mm512_set1_epi8(static_cast<char>(0x80 ^ flip));
  for (size_t i = 0; i < n; i += 64)
    _mm512_storeu_si512(out + i, _mm512_xor_si512(load512(src + i), top));
}

DEPUTY_AVX512 int32_t sum_input(const void* packed, size_t n) {
  const auto* x = static_cast<const char*>(packed);
  const __m512i ones = _mm512_set1_epi8(1);
  __m512i acc = _mm512_setzero_si512();
  for (size_t i = 0; i < n; i += 64) {
    const __mmask64 live = n - i >= 64 ? ~__mmask64{0} : (__mmask64{1} << (n - i)) - 1;
    acc = _mm512_dpbusd_epi32(acc, _mm512_maskz_loadu_epi8(live, x + i), ones);
  }
  return _mm512_reduce_add_epi32(acc);
}

template <int kRows, int kVectors>
DEPUTY_AVX512 void gemm_tile(const char* input, size_t row_bytes, const char* weights,
                             size_t panel_bytes, int groups, const int32_t* init, int32_t* out) {
  __m512i acc[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) acc[r][v] = load512(init + v * kPanel);
  for (int g = 0; g < groups; ++g) {
    __m512i w[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) w[v] = load512(weights + v * panel_bytes + g * size_t{64});
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      int32_t quad;
      std::memcpy(&quad, input + r * row_bytes + g * size_t{4}, 4);
      const __m512i x = _mm512_set1_epi32(quad);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) acc[r][v] = _mm512_dpbusd_epi32(acc[r][v], x, w[v]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      _mm512_storeu_si512(out + r * kBlock + v * kPanel, acc[r][v]);
}

using TileFunction = void (*)(const char*, size_t, const char*, size_t, int, const int32_t*,
                              int32_t*);
template <int kRows>
constexpr std::array<TileFunction, 4> kRow = {gemm_tile<kRows, 1>, gemm_tile<kRows, 2>,
                                              gemm_tile<kRows, 3>, gemm_tile<kRows, 4>};
constexpr std::array<std::array<TileFunction, 4>, kTilePixels> kTiles = {kRow<1>, kRow<2>, kRow<3>,
                                                                         kRow<4>, kRow<5>, kRow<6>};

void gemm(const void* input, size_t row_bytes, const void* weights, size_t panel_bytes, int groups,
          int rows, int panels, const int32_t* init, int32_t* out) {
  kTiles[rows - 1][panels - 1](static_cast<const char*>(input), row_bytes,
                               static_cast<const char*>(weights), panel_bytes, groups, init, out);
}

DEPUTY_AVX512 void dot(const void* input, size_t row_bytes, int rows, const std::uint8_t* ones,
                       const int8_t* weights, size_t stride, size_t taps, int channels,
                       int32_t* out, int32_t* sums) {
  for (int o = 0; o < channels; ++o) {
    const int8_t* w = weights + o * stride;
    __m512i acc[kDotPixels] = {}, total = _mm512_setzero_si512();
    for (size_t i = 0; i < taps; i += 64) {
      const __m512i wv = load512(w + i);
      total = _mm512_dpbusd_epi32(total, load512(ones + i), wv);
      for (int r = 0; r < rows; ++r)
        acc[r] = _mm512_dpbusd_epi32(
            acc[r], load512(static_cast<const char*>(input) + r * row_bytes + i), wv);
    }
    sums[o] = _mm512_reduce_add_epi32(total);
    for (int r = 0; r < rows; ++r) out[r * kBlock + o] = _mm512_reduce_add_epi32(acc[r]);
  }
}

DEPUTY_AVX512 inline __m512i widen32(const int8_t* p) {
  return _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
DEPUTY_AVX512 inline __m512i pair_sum(__m512i acc, const int8_t* x0, const int8_t* x1,
                                      const int32_t* w) {
  const __m512i x =
      _mm512_mask_blend_epi16(0xAAAAAAAA, widen32(x0), _mm512_slli_epi32(widen32(x1), 16));
  return _mm512_dpwssd_epi32(acc, x, load512(w));
}

DEPUTY_AVX512 void depthwise(const int8_t* const* taps, int pairs, const int32_t* weights,
                             size_t pair_stride, const int32_t* init, int channels, int32_t* out) {
  int c = 0;
  for (; c + 32 < channels; c += 64) {  // up to 64 at a time while more than half of them count
    const bool last = c + 48 < channels;
    __m512i a0 = load512(init + c), a1 = load512(init + c + 16), a2 = load512(init + c + 32),
            a3 = last ? load512(init + c + 48) : _mm512_setzero_si512();
    for (int p = 0; p < pairs; ++p) {
      const int8_t *x0 = taps[2 * p] + c, *x1 = taps[2 * p + 1] + c;
      const int32_t* w = weights + p * pair_stride + c;
      a0 = pair_sum(a0, x0, x1, w);
      a1 = pair_sum(a1, x0 + 16, x1 + 16, w + 16);
      a2 = pair_sum(a2, x0 + 32, x1 + 32, w + 32);
      if (last) a3 = pair_sum(a3, x0 + 48, x1 + 48, w + 48);
    }
    _mm512_storeu_si512(out + c, a0);
    _mm512_storeu_si512(out + c + 16, a1);
    _mm512_storeu_si512(out + c + 32, a2);
    if (last) _mm512_storeu_si512(out + c + 48, a3);
  }
  for (; c < channels; c += 16) {
    __m512i a = load512(init + c);
    for (int p = 0; p < pairs; ++p)
      a = pair_sum(a, taps[2 * p] + c, taps[2 * p + 1] + c, weights + p * pair_stride + c);
    _mm512_storeu_si512(out + c, a);
  }
}

// SRDHM = (a*b + 2^30) >> 31 for any sign, except INT_MIN * INT_MIN (arch/numerics.h).
DEPUTY_AVX512 inline __m512i srdhm(__m512i a, __m512i b) {
  const __m512i nudge = _mm512_set1_epi64(std::int64_t{1} << 30),
                lowest = _mm512_set1_epi32(INT32_MIN);
  const __m512i even = _mm512_srli_epi64(_mm512_add_epi64(_mm512_mul_epi32(a, b), nudge), 31);
  const __m512i odd = _mm512_slli_epi64(
      _mm512_add_epi64(_mm512_mul_epi32(_mm512_srli_epi64(a, 32), _mm512_srli_epi64(b, 32)), nudge),
      1);
  const __mmask16 both = _mm512_cmpeq_epi32_mask(a, lowest) & _mm512_cmpeq_epi32_mask(b, lowest);
  return _mm512_mask_mov_epi32(_mm512_mask_blend_epi32(0xAAAA, even, odd), both,
                               _mm512_set1_epi32(INT32_MAX));
}

DEPUTY_AVX512 inline __m512i requant_double(__m512i acc, __m512i multiplier, __m512i shift) {
  const __m512i zero = _mm512_setzero_si512(), one = _mm512_set1_epi32(1);
  const __m512i left = _mm512_max_epi32(shift, zero),
                right = _mm512_max_epi32(_mm512_sub_epi32(zero, shift), zero);
  const __m512i x = srdhm(_mm512_sllv_epi32(acc, left), multiplier);
  const __m512i mask = _mm512_sub_epi32(_mm512_sllv_epi32(one, right), one);
  const __m512i threshold = _mm512_add_epi32(_mm512_srli_epi32(mask, 1), _mm512_srli_epi32(x, 31));
  const __mmask16 up = _mm512_cmpgt_epi32_mask(_mm512_and_si512(x, mask), threshold);
  const __m512i shifted = _mm512_srav_epi32(x, right);
  return _mm512_mask_add_epi32(shifted, up, shifted, one);
}

DEPUTY_AVX512 inline __m512i round_shift64(__m512i p, __m512i total) {
  const __m512i one = _mm512_set1_epi64(1);
  return _mm512_srav_epi64(
      _mm512_add_epi64(p, _mm512_sllv_epi64(one, _mm512_sub_epi64(total, one))), total);
}

DEPUTY_AVX512 inline __m512i requant_single(__m512i acc, __m512i multiplier, __m512i shift) {
  const __m512i total = _mm512_sub_epi32(_mm512_set1_epi32(31), shift);
  const __m512i even = round_shift64(_mm512_mul_epi32(acc, multiplier),
                                     _mm512_and_si512(total, _mm512_set1_epi64(0xFFFFFFFF)));
  const __m512i odd =
      round_shift64(_mm512_mul_epi32(_mm512_srli_epi64(acc, 32), _mm512_srli_epi64(multiplier, 32)),
                    _mm512_srli_epi64(total, 32));
  return _mm512_mask_blend_epi32(0xAAAA, even, _mm512_slli_epi64(odd, 32));
}

DEPUTY_AVX512 inline __m512i requant_fp32(__m512i acc, __m512i scale) {
  const __m512 limit = _mm512_set1_ps(1073741824.0f);
  __m512 value = _mm512_mul_ps(_mm512_cvtepi32_ps(acc), _mm512_castsi512_ps(scale));
  value = _mm512_min_ps(value, limit);  // the limit where value is not a number, as in numerics.h
  value = _mm512_max_ps(value, _mm512_sub_ps(_mm512_setzero_ps(), limit));
  return _mm512_cvtps_epi32(value);
}

template <Numerics kMode>
DEPUTY_AVX512 void requant_row(const int32_t* acc, int n, const OutputStage& stage, int first,
                               int8_t* dst) {
  const __m512i zp = _mm512_set1_epi32(stage.zero_point), low = _mm512_set1_epi32(stage.low),
                high = _mm512_set1_epi32(stage.high);
  const __m512i bound =
      _mm512_set1_epi32(1024);  // keeps the addition of the zero point from overflowing
  for (int i = 0; i < n; i += 16) {
    __m512i v = load512(acc + i);
    const __m512i m = load512(stage.multiplier + first + i);
    if constexpr (kMode == Numerics::kTflite)
      v = requant_double(v, m, load512(stage.shift + first + i));
    if constexpr (kMode == Numerics::kSingle)
      v = requant_single(v, m, load512(stage.shift + first + i));
    if constexpr (kMode == Numerics::kFp32) v = requant_fp32(v, m);
    v = _mm512_max_epi32(_mm512_min_epi32(v, bound),
                         _mm512_sub_epi32(_mm512_setzero_si512(), bound));
    v = _mm512_min_epi32(_mm512_max_epi32(_mm512_add_epi32(v, zp), low), high);
    const __mmask16 live =
        n - i >= 16 ? __mmask16{0xFFFF} : static_cast<__mmask16>((1u << (n - i)) - 1);
    _mm_mask_storeu_epi8(dst + i, live, _mm512_cvtepi32_epi8(v));
  }
}

void requantize(const int32_t* acc, int n, const OutputStage& stage, int first, int8_t* dst) {
  switch (stage.mode) {
    case Numerics::kTflite:
      return requant_row<Numerics::kTflite>(acc, n, stage, first, dst);
    case Numerics::kSingle:
      return requant_row<Numerics::kSingle>(acc, n, stage, first, dst);
    case Numerics::kFp32:
      return requant_row<Numerics::kFp32>(acc, n, stage, first, dst);
  }
}

DEPUTY_AVX512 void maximum(const int8_t* const* taps, int count, int channels, int8_t* out) {
  for (int c = 0; c < channels; c += 64) {
    __m512i best = load512(taps[0] + c);
    for (int t = 1; t < count; ++t) best = _mm512_max_epi8(best, load512(taps[t] + c));
    _mm512_storeu_si512(out + c, best);
  }
}

}  // namespace

const Kernels& avx512_kernels() {
  static const Kernels kernels{Isa::kAvx512Vnni, "avx512vnni", 4,      1,
                               pack_input,       sum_input,    gemm,   dot,
                               depthwise,        requantize,   maximum};
  return kernels;
}

}  // namespace deputy::npu_model
#endif
