// POOL: maximum, average (half away from zero) or requantised mean of the taps inside the image.
// Sums are a depthwise convolution with weights of 1.
#include <algorithm>

#include "arch/numerics.h"
#include "npu_model/core/state.h"

namespace deputy::npu_model {
namespace {

using std::int32_t, std::int8_t, std::size_t, std::uint32_t, std::uint64_t;

void clamp_bytes(int8_t* dst, const int8_t* src, uint32_t n, int32_t low, int32_t high) {
  for (uint32_t c = 0; c < n; ++c)
    dst[c] = static_cast<int8_t>(std::clamp<int32_t>(src[c], low, high));
}

}  // namespace

void run_pool(const arch::Pool& p, ExecutorState& s) {
  const auto mode = static_cast<arch::PoolMode>(p.mode);
  const bool mean = mode == arch::PoolMode::kMean;
  const size_t padded = round_up(p.ofm_c, kBlock);
  const int channels = static_cast<int>(p.ofm_c);
  s.pair_weights.assign(padded, 0x00010001);
  s.constant_row.assign(padded + kSlackBytes, 0);
  s.multiplier.assign(padded, p.multiplier);
  s.shift.assign(padded, p.shift);
  s.init.assign(padded, 0);
  s.out.resize(padded);
  s.expanded.resize(padded + kSlackBytes);
  const OutputStage stage = output_stage(p, s.multiplier, s.shift);
  const int8_t* image = signed_input(p, p.ofm_c, s);
  // Unsigned bytes are averaged as such: halves round away from 0, not from 128.
  const int32_t origin = p.u8 ? 128 : 0;
  for (uint32_t y = 0; y < p.ofm_h; ++y)
    for (uint32_t x = 0; x < p.ofm_w; ++x) {
      s.taps.clear();
      gather_taps(p, image, p.ifm_row_stride, p.ifm_px_stride, y, x, nullptr, s.taps);
      const auto count = static_cast<int32_t>(s.taps.size());
      int8_t* dst =
          s.signed_spm(p.ofm_addr + uint64_t{y} * p.ofm_row_stride + uint64_t{x} * p.ofm_px_stride);
      if (mode == arch::PoolMode::kMax) {
        s.kernels->maximum(s.taps.data(), count, channels, s.expanded.data());
        clamp_bytes(dst, s.expanded.data(), p.ofm_c, p.act_min, p.act_max);
      } else {
        if (mean) std::ranges::fill(s.init, -count * p.ifm_zp);
        s.taps.push_back(s.constant_row.data());  // adds nothing where the count is odd
        s.kernels->depthwise(s.taps.data(), (count + 1) / 2, s.pair_weights.data(), 0,
                             s.init.data(), channels, s.out.data());
        if (mean)
          s.kernels->requantize(s.out.data(), channels, stage, 0, dst);
        else
          for (int c = 0; c < channels; ++c) {
            const int32_t average =
                arch::average_half_away(s.out[c] + count * origin, count) - origin;
            dst[c] = static_cast<int8_t>(arch::clamp_i32(average, p.act_min, p.act_max));
          }
      }
      finish_bytes(p, s, dst, p.ofm_c);
    }
}

}  // namespace deputy::npu_model
