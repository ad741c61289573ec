// Kernels for x86 hosts with AVX2: products of int16 pairs by vpmaddwd, whose sum of two always
// fits.
#if defined(__x86_64__)
#include <immintrin.h>

#include <array>
#include <cstring>
#include <utility>

#include "npu_model/core/kernel_sets.h"

#define DEPUTY_AVX2 __attribute__((target("avx2")))

namespace deputy::npu_model {
namespace {

using std::int16_t, std::int32_t, std::int8_t, std::size_t;

DEPUTY_AVX2 inline __m256i load256(const void* p) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(p));
}
DEPUTY_AVX2 inline void store256(void* p, __m256i v) {
  _mm256_storeu_si256(static_cast<__m256i*>(p), v);
}
DEPUTY_AVX2 inline __m256i widen16(const int8_t* p) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
DEPUTY_AVX2 inline __m256i widen32(const int8_t* p) {
  return _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
}

DEPUTY_AVX2 void pack_input(void* dst, const int8_t* src, size_t n, int32_t zero_point,
                            std::uint8_t flip) {
  auto* out = static_cast<int16_t*>(dst);
  const __m256i zp = _mm256_set1_epi16(static_cast<int16_t>(zero_point));
  const __m128i mask = _mm_set1_epi8(static_cast<char>(flip));
  for (size_t i = 0; i < n; i += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(src + i));
    store256(out + i, _mm256_sub_epi16(_mm256_cvtepi8_epi16(_mm_xor_si128(bytes, mask)), zp));
  }
}

template <int kRows>
DEPUTY_AVX2 void gemm_panel(const char* input, size_t row_bytes, const char* weights, int groups,
                            const int32_t* init, int32_t* out) {
  __m256i acc[kRows][2];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) acc[r][0] = load256(init), acc[r][1] = load256(init + 8);
  for (int g = 0; g < groups; ++g) {
    const __m256i w0 = load256(weights + g * 64), w1 = load256(weights + g * 64 + 32);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      int32_t pair;
      std::memcpy(&pair, input + r * row_bytes + g * 4, 4);
      const __m256i x = _mm256_set1_epi32(pair);
      acc[r][0] = _mm256_add_epi32(acc[r][0], _mm256_madd_epi16(x, w0));
      acc[r][1] = _mm256_add_epi32(acc[r][1], _mm256_madd_epi16(x, w1));
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    store256(out + r * kBlock, acc[r][0]);
    store256(out + r * kBlock + 8, acc[r][1]);
  }
}

using PanelFunction = void (*)(const char*, size_t, const char*, int, const int32_t*, int32_t*);
constexpr std::array<PanelFunction, kTilePixels> kPanels = {
    gemm_panel<1>, gemm_panel<2>, gemm_panel<3>, gemm_panel<4>, gemm_panel<5>, gemm_panel<6>};

void gemm(const void* input, size_t row_bytes, const void* weights, size_t panel_bytes, int groups,
          int rows, int panels, const int32_t* init, int32_t* out) {
  for (int p = 0; p < panels; ++p)
    kPanels[rows - 1](static_cast<const char*>(input), row_bytes,
                      static_cast<const char*>(weights) + p * panel_bytes, groups,
                      init + p * kPanel, out + p * kPanel);
}

DEPUTY_AVX2 inline int32_t sum_lanes(__m256i v) {
  __m128i s = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4E));
  s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0xB1));
  return _mm_cvtsi128_si32(s);
}

DEPUTY_AVX2 int32_t sum_input(const void* packed, size_t n) {
  const auto* x = static_cast<const int16_t*>(packed);
  __m256i acc = _mm256_setzero_si256();
  size_t i = 0;
  for (; i + 16 <= n; i += 16)
    acc = _mm256_add_epi32(acc, _mm256_madd_epi16(load256(x + i), _mm256_set1_epi16(1)));
  int32_t sum = sum_lanes(acc);
  for (; i < n; ++i) sum += x[i];
  return sum;
}

DEPUTY_AVX2 void dot(const void* input, size_t row_bytes, int rows, const std::uint8_t*,
                     const int8_t* weights, size_t stride, size_t taps, int channels, int32_t* out,
                     int32_t*) {
  for (int o = 0; o < channels; ++o) {
    const int8_t* w = weights + o * stride;
    __m256i acc[kDotPixels] = {};
    for (size_t i = 0; i < taps; i += 16) {
      const __m256i wv = widen16(w + i);
      for (int r = 0; r < rows; ++r) {
        const __m256i x = load256(static_cast<const char*>(input) + r * row_bytes + 2 * i);
        acc[r] = _mm256_add_epi32(acc[r], _mm256_madd_epi16(x, wv));
      }
    }
    for (int r = 0; r < rows; ++r) out[r * kBlock + o] = sum_lanes(acc[r]);
  }
}

DEPUTY_AVX2 void depthwise(const int8_t* const* taps, int pairs, const int32_t* weights,
                           size_t pair_stride, const int32_t* init, int channels, int32_t* out) {
  for (int c = 0; c < channels; c += 16) {
    __m256i a0 = load256(init + c), a1 = load256(init + c + 8);
    for (int p = 0; p < pairs; ++p) {
      const int8_t *x0 = taps[2 * p] + c, *x1 = taps[2 * p + 1] + c;
      const int32_t* w = weights + p * pair_stride + c;
      const __m256i l = _mm256_blend_epi16(widen32(x0), _mm256_slli_epi32(widen32(x1), 16), 0xAA);
      const __m256i h =
          _mm256_blend_epi16(widen32(x0 + 8), _mm256_slli_epi32(widen32(x1 + 8), 16), 0xAA);
      a0 = _mm256_add_epi32(a0, _mm256_madd_epi16(l, load256(w)));
      a1 = _mm256_add_epi32(a1, _mm256_madd_epi16(h, load256(w + 8)));
    }
    store256(out + c, a0);
    store256(out + c + 8, a1);
  }
}

// Products of the even and the odd lanes, each with `f` applied, put back in place. See
// arch/numerics.h for the rules; here: SRDHM = (a*b + 2^30) >> 31 for any sign, except INT_MIN *
// INT_MIN.
DEPUTY_AVX2 inline __m256i srdhm(__m256i a, __m256i b) {
  const __m256i nudge = _mm256_set1_epi64x(std::int64_t{1} << 30);
  const __m256i even = _mm256_srli_epi64(_mm256_add_epi64(_mm256_mul_epi32(a, b), nudge), 31);
  const __m256i odd = _mm256_slli_epi64(
      _mm256_add_epi64(_mm256_mul_epi32(_mm256_srli_epi64(a, 32), _mm256_srli_epi64(b, 32)), nudge),
      1);
  const __m256i product = _mm256_blend_epi32(even, odd, 0xAA);
  const __m256i lowest = _mm256_set1_epi32(INT32_MIN);
  const __m256i both =
      _mm256_and_si256(_mm256_cmpeq_epi32(a, lowest), _mm256_cmpeq_epi32(b, lowest));
  return _mm256_xor_si256(product, both);  // INT_MIN ^ -1 = INT_MAX
}

DEPUTY_AVX2 inline __m256i requant_double(__m256i acc, __m256i multiplier, __m256i shift) {
  const __m256i zero = _mm256_setzero_si256(), one = _mm256_set1_epi32(1);
  const __m256i left = _mm256_max_epi32(shift, zero),
                right = _mm256_max_epi32(_mm256_sub_epi32(zero, shift), zero);
  const __m256i x = srdhm(_mm256_sllv_epi32(acc, left), multiplier);
  const __m256i mask = _mm256_sub_epi32(_mm256_sllv_epi32(one, right), one);
  const __m256i threshold = _mm256_add_epi32(_mm256_srli_epi32(mask, 1), _mm256_srli_epi32(x, 31));
  const __m256i up = _mm256_cmpgt_epi32(_mm256_and_si256(x, mask), threshold);
  return _mm256_sub_epi32(_mm256_srav_epi32(x, right), up);
}

// (p + 2^(total-1)) >> total, arithmetic; AVX2 has only the logical variable shift of 64 bits.
DEPUTY_AVX2 inline __m256i round_shift64(__m256i p, __m256i total) {
  const __m256i one = _mm256_set1_epi64x(1), top = _mm256_set1_epi64x(INT64_MIN);
  const __m256i half = _mm256_sllv_epi64(one, _mm256_sub_epi64(total, one));
  const __m256i biased = _mm256_xor_si256(_mm256_add_epi64(p, half), top);
  return _mm256_sub_epi64(_mm256_srlv_epi64(biased, total), _mm256_srlv_epi64(top, total));
}

DEPUTY_AVX2 inline __m256i requant_single(__m256i acc, __m256i multiplier, __m256i shift) {
  const __m256i total = _mm256_sub_epi32(_mm256_set1_epi32(31), shift);
  const __m256i low = _mm256_set1_epi64x(0xFFFFFFFF);
  const __m256i even =
      round_shift64(_mm256_mul_epi32(acc, multiplier), _mm256_and_si256(total, low));
  const __m256i odd =
      round_shift64(_mm256_mul_epi32(_mm256_srli_epi64(acc, 32), _mm256_srli_epi64(multiplier, 32)),
                    _mm256_srli_epi64(total, 32));
  return _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA);
}

DEPUTY_AVX2 inline __m256i requant_fp32(__m256i acc, __m256i scale) {
  const __m256 limit = _mm256_set1_ps(1073741824.0f);
  __m256 value = _mm256_mul_ps(_mm256_cvtepi32_ps(acc), _mm256_castsi256_ps(scale));
  value = _mm256_min_ps(value, limit);  // the limit where value is not a number, as in numerics.h
  value = _mm256_max_ps(value, _mm256_sub_ps(_mm256_setzero_ps(), limit));
  return _mm256_cvtps_epi32(value);
}

template <Numerics kMode>
DEPUTY_AVX2 void requant_row(const int32_t* acc, int n, const OutputStage& stage, int first,
                             int8_t* dst) {
  const __m256i zp = _mm256_set1_epi32(stage.zero_point), low = _mm256_set1_epi32(stage.low),
                high = _mm256_set1_epi32(stage.high);
  const __m256i bound =
      _mm256_set1_epi32(1024);  // keeps the addition of the zero point from overflowing
  for (int i = 0; i < n; i += 8) {
    __m256i v = load256(acc + i);
    const __m256i m = load256(stage.multiplier + first + i);
    if constexpr (kMode == Numerics::kTflite)
      v = requant_double(v, m, load256(stage.shift + first + i));
    if constexpr (kMode == Numerics::kSingle)
      v = requant_single(v, m, load256(stage.shift + first + i));
    if constexpr (kMode == Numerics::kFp32) v = requant_fp32(v, m);
    v = _mm256_max_epi32(_mm256_min_epi32(v, bound),
                         _mm256_sub_epi32(_mm256_setzero_si256(), bound));
    v = _mm256_min_epi32(_mm256_max_epi32(_mm256_add_epi32(v, zp), low), high);
    const __m128i words =
        _mm_packs_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    const __m128i bytes = _mm_packs_epi16(words, words);
    if (n - i >= 8) {
      _mm_storel_epi64(reinterpret_cast<__m128i*>(dst + i), bytes);
    } else {
      const std::int64_t tail = _mm_cvtsi128_si64(bytes);
      std::memcpy(dst + i, &tail, n - i);
    }
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

DEPUTY_AVX2 void maximum(const int8_t* const* taps, int count, int channels, int8_t* out) {
  for (int c = 0; c < channels; c += 32) {
    __m256i best = load256(taps[0] + c);
    for (int t = 1; t < count; ++t) best = _mm256_max_epi8(best, load256(taps[t] + c));
    store256(out + c, best);
  }
}

}  // namespace

const Kernels& avx2_kernels() {
  static const Kernels kernels{Isa::kAvx2, "avx2", 2,         2,          pack_input, sum_input,
                               gemm,       dot,    depthwise, requantize, maximum};
  return kernels;
}

}  // namespace deputy::npu_model
#endif
