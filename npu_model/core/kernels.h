// The inner loops of the datapath, once per instruction-set extension of the host: portable C++,
// AVX2 (vpmaddwd on int16) and AVX-512 with VNNI (vpdpbusd on uint8 x int8). All three give the
// same bytes for any operands: sums are int32 with wrap-around, and requantisation follows
// arch/numerics.h bit for bit.
//
// Layouts. A "group" is 64 bytes of packed weights: 16 output channels x `group_taps` consecutive
// taps, as int8 (4 taps) or int16 (2 taps). A panel is the groups of 16 output channels in tap
// order. Packed input rows hold the taps of one output pixel in the same order, as x ^ 0x80 (uint8)
// or x - zero point (int16). The uint8 form adds 128 to every input; callers fold that and the zero
// point into the initial sums with `input_bias`: sum(packed * w) = sum((x - zp) * w) +
// input_bias(zp) * sum(w).
//
// Kernels may read up to kSlackBytes past the operands they are given and, where said, write past
// them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.h"

namespace deputy::npu_model {

enum class Isa : std::uint8_t { kPortable = 0, kAvx2 = 1, kAvx512Vnni = 2 };

inline constexpr std::size_t kSlackBytes = 64;
inline constexpr int kPanel = 16;      ///< output channels of a panel
inline constexpr int kBlock = 64;      ///< output channels of a gemm call: up to four panels
inline constexpr int kTilePixels = 6;  ///< output pixels of a gemm call
inline constexpr int kDotPixels = 4;   ///< output pixels of a dot call

/// Requantisation, zero point and clamp. Arrays are indexed by channel, readable up to a multiple
/// of 16; shift is within [-31, 30] (ignored in kFp32, where multiplier holds the float's bits).
struct OutputStage {
  Numerics mode = Numerics::kTflite;
  const std::int32_t* multiplier = nullptr;
  const std::int32_t* shift = nullptr;
  std::int32_t zero_point = 0, low = -128, high = 127;
};

struct Kernels {
  Isa isa;
  const char* name;
  int group_taps;     ///< 4 or 2
  int element_bytes;  ///< of a packed input: 1 or 2

  /// dst[i] = packed form of src[i] ^ flip (0x80 for unsigned bytes, else 0); may write up to
  /// kSlackBytes past dst + n * element_bytes.
  void (*pack_input)(void* dst, const std::int8_t* src, std::size_t n, std::int32_t zero_point,
                     std::uint8_t flip);

  /// The sum of n packed inputs.
  std::int32_t (*sum_input)(const void* packed, std::size_t n);

  /// out[r * kBlock + o] = init[o] + row r . packed weights of channel o. 1 <= rows <= kTilePixels;
  /// 1 <= panels <= 4, panel_bytes from panel to panel.
  void (*gemm)(const void* input, std::size_t row_bytes, const void* weights,
               std::size_t panel_bytes, int groups, int rows, int panels, const std::int32_t* init,
               std::int32_t* out);

  /// out[r * kBlock + o] = row r . weights of channel o as they lie in the scratchpad (OHWI,
  /// `stride` bytes apart). Rows and `ones` (1 for each of `taps`) must be zero from `taps` to the
  /// next multiple of 64. sums[o] = sum of channel o's weights, only where input_bias is not 0. 1
  /// <= rows <= kDotPixels.
  void (*dot)(const void* input, std::size_t row_bytes, int rows, const std::uint8_t* ones,
              const std::int8_t* weights, std::size_t stride, std::size_t taps, int channels,
              std::int32_t* out, std::int32_t* sums);

  /// One depthwise pixel: out[c] = init[c] + sum over pairs p of taps[2p][c] * low(w) +
  /// taps[2p+1][c] * high(w) with w = weights[p * pair_stride + c], two int16. Arrays are readable,
  /// out is writable, up to a multiple of 16 channels.
  void (*depthwise)(const std::int8_t* const* taps, int pairs, const std::int32_t* weights,
                    std::size_t pair_stride, const std::int32_t* init, int channels,
                    std::int32_t* out);

  /// dst[i] = clamp(requantise(acc[i]) + zero point) with the parameters of channel first + i.
  /// Writes n bytes. first is a multiple of 16; acc is readable up to a multiple of 16.
  void (*requantize)(const std::int32_t* acc, int n, const OutputStage& stage, int first,
                     std::int8_t* dst);

  /// out[c] = max over taps of taps[t][c]; may write up to kSlackBytes past out + channels.
  void (*maximum)(const std::int8_t* const* taps, int count, int channels, std::int8_t* out);

  std::int32_t input_bias(std::int32_t zero_point) const {
    return element_bytes == 1 ? 128 + zero_point : 0;
  }
  /// The byte that packed padding consists of.
  std::uint8_t padding_byte(std::int32_t zero_point) const {
    return element_bytes == 1 ? static_cast<std::uint8_t>(zero_point + 128) : 0;
  }
};

/// The kernels of `isa`; nullptr when this host cannot run them.
const Kernels* kernels_for(Isa isa);
/// The fastest that this host can run.
Isa best_isa();

}  // namespace deputy::npu_model
