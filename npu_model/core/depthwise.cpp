// DWCONV: for each output pixel, the pixels under the taps are summed channel by channel, two taps
// at a time. Padding taps point at a pixel full of the zero point, so that every pixel has the same
// taps and the zero point folds into the initial sums.
#include <algorithm>

#include "npu_model/core/state.h"

namespace deputy::npu_model {
namespace {

using std::int32_t, std::int8_t, std::size_t, std::uint32_t, std::uint64_t;

// The input with each channel repeated depth_mult times, as dense rows.
const int8_t* expand_channels(const arch::Depthwise& d, const int8_t* image, ExecutorState& s) {
  s.expanded.resize(uint64_t{d.ifm_h} * d.ifm_w * d.ofm_c + kSlackBytes);
  int8_t* dst = s.expanded.data();
  for (uint32_t y = 0; y < d.ifm_h; ++y)
    for (uint32_t x = 0; x < d.ifm_w; ++x) {
      const int8_t* src = image + uint64_t{y} * d.ifm_row_stride + uint64_t{x} * d.ifm_px_stride;
      for (uint32_t c = 0; c < d.ifm_c; ++c, dst += d.depth_mult)
        std::fill_n(dst, d.depth_mult, src[c]);
    }
  return s.expanded.data();
}

// Two taps a word, less the weight zero point, and the initial sums bias - zero point * sum of
// weights.
void pack_weights(const arch::Depthwise& d, size_t stride, ExecutorState& s) {
  const uint32_t taps = d.k_h * d.k_w;
  s.pair_weights.assign((taps + 1) / 2 * stride, 0);
  s.sums.assign(stride, 0);
  for (uint32_t t = 0; t < taps; ++t) {
    const int8_t* w = s.signed_spm(d.w_addr + uint64_t{t} * d.w_tap_stride);
    int32_t* pair = s.pair_weights.data() + t / 2 * stride;
    for (uint32_t c = 0; c < d.ofm_c; ++c) {
      const int32_t weight = w[c] - d.w_zp;
      pair[c] |= t % 2 ? weight * 65536 : weight & 0xFFFF;
      s.sums[c] += weight;
    }
  }
  s.init.resize(stride);
  for (size_t c = 0; c < stride; ++c) {
    const uint32_t fold = static_cast<uint32_t>(d.ifm_zp) * static_cast<uint32_t>(s.sums[c]);
    s.init[c] = static_cast<int32_t>(static_cast<uint32_t>(s.bias[c]) - fold);
  }
}

}  // namespace

void run_depthwise(const arch::Depthwise& d, ExecutorState& s) {
  const size_t stride = round_up(d.ofm_c, kBlock);
  s.read_params(d.prm_addr, d.ofm_c);
  pack_weights(d, stride, s);
  s.constant_row.assign(stride + kSlackBytes, static_cast<int8_t>(d.ifm_zp));
  s.out.resize(stride);

  const bool expand = d.depth_mult != 1;
  const int8_t* image = signed_input(d, d.ifm_c, s);
  if (expand) image = expand_channels(d, image, s);
  const size_t px_stride = expand ? d.ofm_c : d.ifm_px_stride;
  const size_t row_stride = expand ? size_t{d.ifm_w} * d.ofm_c : d.ifm_row_stride;
  const int pairs = static_cast<int>((d.k_h * d.k_w + 1) / 2);
  const OutputStage stage = output_stage(d, s.multiplier, s.shift);
  for (uint32_t y = 0; y < d.ofm_h; ++y)
    for (uint32_t x = 0; x < d.ofm_w; ++x) {
      s.taps.clear();
      gather_taps(d, image, row_stride, px_stride, y, x, s.constant_row.data(), s.taps);
      s.taps.push_back(
          s.constant_row.data());  // the missing half of an odd last pair; its weight is 0
      s.kernels->depthwise(s.taps.data(), pairs, s.pair_weights.data(), stride, s.init.data(),
                           static_cast<int>(d.ofm_c), s.out.data());
      int8_t* dst =
          s.signed_spm(d.ofm_addr + uint64_t{y} * d.ofm_row_stride + uint64_t{x} * d.ofm_px_stride);
      s.kernels->requantize(s.out.data(), static_cast<int>(d.ofm_c), stage, 0, dst);
      finish_bytes(d, s, dst, d.ofm_c);
    }
}

}  // namespace deputy::npu_model
