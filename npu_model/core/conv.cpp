// CONV: rows of packed input (im2col), multiplied by packed weights in blocks of 6 pixels x 64
// channels that are requantised while still in the first-level cache. Few pixels (fully connected)
// skip the packing of weights, which would cost more than the products.
#pragma GCC optimize("O3")  // the loops over sums are worth vectors
#include <algorithm>
#include <cstring>

#include "npu_model/core/state.h"

namespace deputy::npu_model {
namespace {

using std::int32_t, std::int64_t, std::int8_t, std::size_t, std::uint32_t, std::uint64_t,
    std::uint8_t;

int32_t wrap_add(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}
// a - k * b, wrapping.
int32_t wrap_sub_product(int32_t a, int32_t k, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) -
                              static_cast<uint32_t>(k) * static_cast<uint32_t>(b));
}

template <class Element>
void fill_panels(const int8_t* raw, PackedWeights& w, int group_taps) {
  const size_t groups = round_up(w.taps, group_taps) / group_taps;
  auto* packed = reinterpret_cast<Element*>(w.packed.data());
  const size_t panel = groups * kPanel * group_taps;
  for (uint32_t o = 0; o < w.channels; ++o) {
    const int8_t* src = raw + o * w.taps;
    Element* dst = packed + o / kPanel * panel + o % kPanel * group_taps;
    int32_t sum = 0;
    for (size_t k = 0; k < w.taps; k += group_taps, dst += kPanel * group_taps) {
      const int n = static_cast<int>(std::min<size_t>(group_taps, w.taps - k));
      for (int i = 0; i < n; ++i) dst[i] = src[k + i], sum += src[k + i];
    }
    w.sums[o] = sum;
  }
}

bool holds_same(const PackedWeights& w, const int8_t* spm) {
  if (w.stride == w.taps) return std::memcmp(w.raw.data(), spm, w.raw.size()) == 0;
  for (uint32_t o = 0; o < w.channels; ++o)
    if (std::memcmp(w.raw.data() + o * w.taps, spm + uint64_t{o} * w.stride, w.taps) != 0)
      return false;
  return true;
}

const PackedWeights& packed_weights(const arch::Conv& c, size_t taps, ExecutorState& s) {
  const int8_t* spm = s.signed_spm(c.w_addr);
  for (const PackedWeights& w : s.weights)
    if (w.addr == c.w_addr && w.stride == c.w_oc_stride && w.channels == c.ofm_c &&
        w.taps == taps && holds_same(w, spm))
      return w;
  PackedWeights& w = s.weights[s.next_weights];
  s.next_weights = (s.next_weights + 1) % s.weights.size();
  w.addr = c.w_addr, w.stride = c.w_oc_stride, w.channels = c.ofm_c, w.taps = taps;
  w.raw.resize(c.ofm_c * taps);
  for (uint32_t o = 0; o < c.ofm_c; ++o)
    std::memcpy(w.raw.data() + o * taps, spm + uint64_t{o} * c.w_oc_stride, taps);
  const int group_taps = s.kernels->group_taps;
  const size_t groups = round_up(taps, group_taps) / group_taps;
  w.packed.assign(round_up(c.ofm_c, kPanel) / kPanel * groups * 64, 0);
  w.sums.assign(round_up(c.ofm_c, kBlock), 0);
  if (s.kernels->element_bytes == 1)
    fill_panels<int8_t>(w.raw.data(), w, group_taps);
  else
    fill_panels<std::int16_t>(w.raw.data(), w, group_taps);
  return w;
}

// Packs the taps of output pixels into rows.
class InputPacker {
 public:
  InputPacker(const arch::Conv& c, const ExecutorState& s)
      : c_(c),
        kernels_(*s.kernels),
        image_(s.signed_spm(c.ifm_addr)),
        padding_(kernels_.padding_byte(c.ifm_zp)) {}

  void pack(uint64_t pixel, uint8_t* dst) const {
    const int64_t y0 = static_cast<int64_t>(pixel / c_.ofm_w) * c_.stride_h - c_.pad_top;
    const int64_t x0 = static_cast<int64_t>(pixel % c_.ofm_w) * c_.stride_w - c_.pad_left;
    for (uint32_t ky = 0; ky < c_.k_h; ++ky) {
      const int64_t iy = y0 + int64_t{ky} * c_.dil_h;
      if (iy < 0 || iy >= c_.ifm_h)
        dst = pad(dst, c_.k_w);
      else
        dst = pack_row(image_ + iy * c_.ifm_row_stride, x0, dst);
    }
  }

 private:
  uint8_t* pad(uint8_t* dst, int64_t pixels) const {
    const size_t bytes = static_cast<size_t>(pixels) * c_.ifm_c * kernels_.element_bytes;
    std::memset(dst, padding_, bytes);
    return dst + bytes;
  }
  uint8_t* copy(const int8_t* src, uint8_t* dst, int64_t pixels) const {
    const size_t n = static_cast<size_t>(pixels) * c_.ifm_c;
    kernels_.pack_input(dst, src, n, c_.ifm_zp, flip_of(c_.u8));
    return dst + n * kernels_.element_bytes;
  }
  uint8_t* pack_row(const int8_t* row, int64_t x0, uint8_t* dst) const {
    if (c_.dil_w == 1 && (c_.ifm_px_stride == c_.ifm_c || c_.k_w == 1)) {
      // The taps inside the image are contiguous bytes.
      const int64_t k = c_.k_w;
      const int64_t left = std::clamp<int64_t>(-x0, 0, k);
      const int64_t end = std::clamp<int64_t>(int64_t{c_.ifm_w} - x0, left, k);
      if (left > 0) dst = pad(dst, left);
      if (end > left) dst = copy(row + (x0 + left) * c_.ifm_px_stride, dst, end - left);
      return end < k ? pad(dst, k - end) : dst;
    }
    for (uint32_t kx = 0; kx < c_.k_w; ++kx) {
      const int64_t ix = x0 + int64_t{kx} * c_.dil_w;
      dst = ix >= 0 && ix < c_.ifm_w ? copy(row + ix * c_.ifm_px_stride, dst, 1) : pad(dst, 1);
    }
    return dst;
  }

  const arch::Conv& c_;
  const Kernels& kernels_;
  const int8_t* image_;
  uint8_t padding_;
};

// Takes finished sums to where they go: accumulators, or requantised to the output tile.
class Sink {
 public:
  Sink(const arch::Conv& c, ExecutorState& s)
      : c_(c), s_(s), stage_(output_stage(c, s.multiplier, s.shift)) {}

  // `offset` is added to every sum.
  void take(uint64_t pixel, uint32_t first, int channels, int32_t offset, int32_t* sums) const {
    if (offset != 0)
      for (int o = 0; o < channels; ++o) sums[o] = wrap_add(sums[o], offset);
    int32_t* held = s_.accumulators.data() + pixel * c_.ofm_c + first;
    if (c_.acc_keep)
      for (int o = 0; o < channels; ++o) sums[o] = wrap_add(sums[o], held[o]);
    if (c_.acc_hold) {
      std::copy(sums, sums + channels, held);
      return;
    }
    int8_t* dst = s_.signed_spm(c_.ofm_addr + pixel / c_.ofm_w * c_.ofm_row_stride +
                                pixel % c_.ofm_w * c_.ofm_px_stride + first);
    s_.kernels->requantize(sums, channels, stage_, static_cast<int>(first), dst);
    finish_bytes(c_, s_, dst, static_cast<size_t>(channels));
  }

 private:
  const arch::Conv& c_;
  ExecutorState& s_;
  OutputStage stage_;
};

void prepare_bias(const arch::Conv& c, ExecutorState& s) {
  if (!c.acc_keep || !c.acc_hold) s.read_params(c.prm_addr, c.ofm_c);
  if (c.acc_keep) s.bias.assign(round_up(c.ofm_c, kBlock), 0);
}

// The weight zero point takes w_zp * sum(x - ifm_zp) from every output channel of a pixel; padding
// taps add nothing to that sum. `row` holds the pixel's packed taps.
int32_t weight_offset(const arch::Conv& c, const Kernels& k, const uint8_t* row, size_t taps) {
  if (c.w_zp == 0) return 0;
  const int32_t sum =
      wrap_sub_product(k.sum_input(row, taps), k.input_bias(c.ifm_zp), static_cast<int32_t>(taps));
  return wrap_sub_product(0, c.w_zp, sum);
}

void run_gemm(const arch::Conv& c, size_t taps, ExecutorState& s) {
  const Kernels& k = *s.kernels;
  const PackedWeights& w = packed_weights(c, taps, s);
  const size_t groups = round_up(taps, k.group_taps) / k.group_taps;
  const size_t row_bytes = groups * k.group_taps * k.element_bytes;
  s.init.resize(w.sums.size());
  for (size_t o = 0; o < w.sums.size(); ++o)
    s.init[o] = wrap_sub_product(s.bias[o], k.input_bias(c.ifm_zp), w.sums[o]);

  const uint64_t pixels = uint64_t{c.ofm_h} * c.ofm_w;
  const size_t block =
      std::clamp<size_t>(32768 / row_bytes, kTilePixels, 96) / kTilePixels * kTilePixels;
  s.input.resize(block * row_bytes + 2 * kSlackBytes);
  s.row_offset.resize(block);
  const InputPacker packer(c, s);
  const Sink sink(c, s);
  alignas(64) int32_t out[kTilePixels * kBlock];
  for (uint64_t start = 0; start < pixels; start += block) {
    const auto rows = static_cast<int>(std::min<uint64_t>(block, pixels - start));
    for (int r = 0; r < rows; ++r) {
      uint8_t* row = s.input.data() + r * row_bytes;
      packer.pack(start + r, row);
      s.row_offset[r] = weight_offset(c, k, row, taps);
    }
    for (uint32_t first = 0; first < c.ofm_c; first += kBlock) {
      const int channels = static_cast<int>(std::min<uint32_t>(kBlock, c.ofm_c - first));
      const int panels = (channels + kPanel - 1) / kPanel;
      for (int r = 0; r < rows; r += kTilePixels) {
        const int n = std::min(kTilePixels, rows - r);
        k.gemm(s.input.data() + r * row_bytes, row_bytes,
               w.packed.data() + first / kPanel * groups * 64, groups * 64,
               static_cast<int>(groups), n, panels, s.init.data() + first, out);
        for (int i = 0; i < n; ++i)
          sink.take(start + r + i, first, channels, s.row_offset[r + i], out + i * kBlock);
      }
    }
  }
}

void run_dot(const arch::Conv& c, size_t taps, ExecutorState& s) {
  const Kernels& k = *s.kernels;
  const auto pixels = static_cast<int>(c.ofm_h * c.ofm_w);
  const size_t padded = round_up(taps, 64), row_bytes = padded * k.element_bytes;
  s.input.assign((pixels + 1) * row_bytes + 2 * kSlackBytes, 0);
  s.row_offset.resize(kDotPixels);
  const InputPacker packer(c, s);
  for (int r = 0; r < pixels; ++r) {
    uint8_t* row = s.input.data() + r * row_bytes;
    packer.pack(r, row);
    std::memset(row + taps * k.element_bytes, 0, (padded - taps) * k.element_bytes + kSlackBytes);
    s.row_offset[r] = weight_offset(c, k, row, taps);
  }
  uint8_t* ones = s.input.data() + pixels * row_bytes;
  std::memset(ones, 1, taps);
  const Sink sink(c, s);
  alignas(64) int32_t out[kDotPixels * kBlock] = {}, sums[kBlock] = {};
  for (uint32_t first = 0; first < c.ofm_c; first += kBlock) {
    const int channels = static_cast<int>(std::min<uint32_t>(kBlock, c.ofm_c - first));
    k.dot(s.input.data(), row_bytes, pixels, ones,
          s.signed_spm(c.w_addr + uint64_t{first} * c.w_oc_stride), c.w_oc_stride, taps, channels,
          out, sums);
    for (int o = 0; o < channels; ++o) {
      const int32_t init = wrap_sub_product(s.bias[first + o], k.input_bias(c.ifm_zp), sums[o]);
      for (int r = 0; r < pixels; ++r) out[r * kBlock + o] = wrap_add(out[r * kBlock + o], init);
    }
    for (int r = 0; r < pixels; ++r)
      sink.take(r, first, channels, s.row_offset[r], out + r * kBlock);
  }
}

}  // namespace

void run_conv(const arch::Conv& c, ExecutorState& s) {
  const size_t taps = size_t{c.k_h} * c.k_w * c.ifm_c;
  prepare_bias(c, s);
  if (uint64_t{c.ofm_h} * c.ofm_w <= kDotPixels)
    run_dot(c, taps, s);
  else
    run_gemm(c, taps, s);
}

}  // namespace deputy::npu_model
