// The executor's private state, shared by the files that implement one instruction each.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "arch/isa.h"
#include "arch/npu_config.h"
#include "npu_model/core/executor.h"
#include "npu_model/core/kernels.h"

namespace deputy::npu_model {

/// `n` rounded up to a multiple of `unit`.
constexpr std::size_t round_up(std::size_t n, std::size_t unit) {
  return (n + unit - 1) / unit * unit;
}

/// Weights of a CONV in the kernels' layout. Tiles of one layer often share weights, so the last
/// few are kept; the raw bytes tell whether the scratchpad still holds the same ones.
struct PackedWeights {
  std::uint32_t addr = 0, stride = 0, channels = 0;
  std::size_t taps = 0;
  std::vector<std::int8_t> raw;      ///< channels x taps
  std::vector<std::uint8_t> packed;  ///< panels of groups (kernels.h)
  std::vector<std::int32_t> sums;  ///< sum of each channel's weights, a multiple of kBlock entries
};

struct ExecutorState {
  arch::NpuConfig config;
  const Kernels* kernels = nullptr;
  std::vector<std::uint8_t> spm;           ///< config.spm.bytes + kSlackBytes
  std::vector<std::int32_t> accumulators;  ///< config.mac.accumulators

  // Scratch, kept between calls to avoid allocation.
  std::vector<std::uint8_t> input;       ///< packed input rows
  std::vector<std::int32_t> init, sums;  ///< by output channel
  std::vector<std::int32_t> multiplier, shift, bias;
  std::vector<std::int32_t> pair_weights;  ///< depthwise: two taps a word
  std::vector<std::int8_t> expanded;       ///< depthwise: input with each channel repeated
  std::vector<std::int8_t> flipped_input;  ///< depthwise, pool: unsigned input made signed
  std::vector<std::int32_t> row_offset;    ///< conv: what the weight zero point adds to each pixel
  std::vector<std::int8_t> constant_row;   ///< one pixel of padding
  std::vector<const std::int8_t*> taps;
  std::vector<std::int32_t> out;
  std::array<PackedWeights, 4> weights;
  arch::WeightDecoder decoder;
  std::vector<std::uint8_t> decoded;  ///< LOADW: byte positions before they are interleaved
  std::size_t next_weights = 0;

  const std::int8_t* signed_spm(std::uint64_t addr) const {
    return reinterpret_cast<const std::int8_t*>(spm.data()) + addr;
  }
  std::int8_t* signed_spm(std::uint64_t addr) {
    return reinterpret_cast<std::int8_t*>(spm.data()) + addr;
  }
  /// Reads `channels` parameter records at `addr` into bias, multiplier and shift.
  void read_params(std::uint64_t addr, std::uint32_t channels);
};

/// What unsigned bytes are flipped with to become the datapath's signed values, and back.
inline std::uint8_t flip_of(std::uint32_t u8) { return u8 ? 0x80 : 0; }
inline std::int8_t flipped(std::int8_t byte, std::uint8_t flip) {
  return static_cast<std::int8_t>(byte ^ flip);
}

/// to[i] = from[i] ^ 0x80, eight at a time; may be in place.
inline void flip_bytes(const std::int8_t* from, std::size_t n, std::int8_t* to) {
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    std::uint64_t word;
    std::memcpy(&word, from + i, 8);
    word ^= 0x8080808080808080u;
    std::memcpy(to + i, &word, 8);
  }
  for (; i < n; ++i) to[i] = flipped(from[i], 0x80);
}

/// Maps n bytes through the 256-byte table at `table`.
inline void map_bytes(std::int8_t* bytes, std::size_t n, const std::uint8_t* table) {
  for (std::size_t i = 0; i < n; ++i)
    bytes[i] = static_cast<std::int8_t>(table[static_cast<std::uint8_t>(bytes[i]) ^ 0x80]);
}

/// The end of the output stage: the table, then unsigned bytes where the instruction has them.
template <class T>
void finish_bytes(const T& op, const ExecutorState& s, std::int8_t* bytes, std::size_t n) {
  if (op.lut_en) map_bytes(bytes, n, s.spm.data() + op.lut_addr);
  if (op.u8) flip_bytes(bytes, n, bytes);
}

template <class T>
OutputStage output_stage(const T& op, const std::vector<std::int32_t>& multiplier,
                         const std::vector<std::int32_t>& shift) {
  return {static_cast<Numerics>(op.rounding),
          multiplier.data(),
          shift.data(),
          op.ofm_zp,
          op.act_min,
          op.act_max};
}

/// The input tile of `op`, `channels` wide, as signed bytes with the tile's strides: the scratchpad
/// itself, or where the bytes are unsigned a flipped copy of the range.
template <class T>
const std::int8_t* signed_input(const T& op, std::uint64_t channels, ExecutorState& s) {
  const std::int8_t* bytes = s.signed_spm(op.ifm_addr);
  if (!op.u8) return bytes;
  const std::uint64_t n = std::uint64_t{op.ifm_h - 1} * op.ifm_row_stride +
                          std::uint64_t{op.ifm_w - 1} * op.ifm_px_stride + channels;
  s.flipped_input.resize(n + kSlackBytes);
  flip_bytes(bytes, n, s.flipped_input.data());
  return s.flipped_input.data();
}

void run_conv(const arch::Conv& c, ExecutorState& s);
void run_depthwise(const arch::Depthwise& d, ExecutorState& s);
void run_pool(const arch::Pool& p, ExecutorState& s);
void run_eltwise(const arch::Eltwise& e, ExecutorState& s);
void run_softmax(const arch::Softmax& m, ExecutorState& s);

/// The in-image taps of one output pixel (padding: `outside`, or nothing when it is null) appended
/// to `taps`.
template <class T>
void gather_taps(const T& op, const std::int8_t* image, std::size_t row_stride,
                 std::size_t px_stride, std::uint32_t y, std::uint32_t x,
                 const std::int8_t* outside, std::vector<const std::int8_t*>& taps) {
  const std::int64_t y0 = std::int64_t{y} * op.stride_h - op.pad_top,
                     x0 = std::int64_t{x} * op.stride_w - op.pad_left;
  for (std::uint32_t ky = 0; ky < op.k_h; ++ky) {
    const std::int64_t iy = y0 + std::int64_t{ky} * op.dil_h;
    const bool row_inside = iy >= 0 && iy < op.ifm_h;
    if (!row_inside && !outside) continue;
    const std::int8_t* row = row_inside ? image + iy * row_stride : nullptr;
    for (std::uint32_t kx = 0; kx < op.k_w; ++kx) {
      const std::int64_t ix = x0 + std::int64_t{kx} * op.dil_w;
      if (row_inside && ix >= 0 && ix < op.ifm_w)
        taps.push_back(row + ix * px_stride);
      else if (outside)
        taps.push_back(outside);
    }
  }
}

}  // namespace deputy::npu_model
