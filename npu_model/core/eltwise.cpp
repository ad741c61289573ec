// ELTWISE: an input has 256 values, so its scaled form comes from a table made once per
// instruction; the sums then go through the same requantiser as convolutions.
#include <algorithm>
#include <array>

#include "arch/numerics.h"
#include "npu_model/core/state.h"

namespace deputy::npu_model {
namespace {

using arch::EltwiseMode;
using std::int32_t, std::int8_t, std::size_t, std::uint32_t, std::uint64_t, std::uint8_t;

constexpr size_t kChunk = 256;
using ScaledValues = std::array<int32_t, 256>;  // by the input's bits

ScaledValues scaled_values(const arch::Eltwise& e, int32_t zp, arch::Requant r, Numerics mode) {
  ScaledValues table;
  for (int32_t bits = 0; bits < 256; ++bits) {
    const int32_t value = flipped(static_cast<int8_t>(bits), flip_of(e.u8)) - zp;
    table[bits] = mode == Numerics::kFp32 ? value * r.multiplier
                                          : arch::requantize(value * (1 << e.left_shift), r, mode);
  }
  return table;
}

// One instruction's operands and tables.
class Datapath {
 public:
  Datapath(const arch::Eltwise& e, ExecutorState& s)
      : e_(e), s_(s), mode_(static_cast<EltwiseMode>(e.mode)) {
    stage_ = {
        static_cast<Numerics>(e.rounding), multiplier_, shift_, e.ofm_zp, e.act_min, e.act_max};
    arch::Requant out{e.o_mult, e.o_shift};
    if (mode_ == EltwiseMode::kAdd || mode_ == EltwiseMode::kSub) {
      a_ = scaled_values(e, e.a_zp, {e.a_mult, e.a_shift}, stage_.mode);
      b_ = scaled_values(e, e.b_zp, {e.b_mult, e.b_shift}, stage_.mode);
      if (mode_ == EltwiseMode::kSub)
        for (int32_t& v : b_) v = -v;
      if (stage_.mode == Numerics::kFp32) {
        // One fixed-point stage, half up at o_shift bits: a single rounding with a multiplier of 1.
        stage_.mode = Numerics::kSingle;
        out = {1, 31 - e.o_shift};
      }
    }
    std::fill_n(multiplier_, kChunk, out.multiplier);
    std::fill_n(shift_, kChunk, out.shift);
  }

  /// n results from elements `a_step` and `b_step` bytes apart.
  void run(const int8_t* a, size_t a_step, const int8_t* b, size_t b_step, size_t n, int8_t* dst) {
    for (size_t done = 0; done < n; done += kChunk) {
      const size_t count = std::min(kChunk, n - done);
      run_chunk(a + done * a_step, a_step, b + done * b_step, b_step, count, dst + done);
    }
  }

 private:
  void run_chunk(const int8_t* a, size_t a_step, const int8_t* b, size_t b_step, size_t n,
                 int8_t* dst) {
    const std::uint8_t flip = flip_of(e_.u8);
    const auto value = [flip](int8_t byte) -> int32_t { return flipped(byte, flip); };
    switch (mode_) {
      case EltwiseMode::kAdd:
      case EltwiseMode::kSub:
        for (size_t i = 0; i < n; ++i)
          sums_[i] =
              a_[static_cast<uint8_t>(a[i * a_step])] + b_[static_cast<uint8_t>(b[i * b_step])];
        break;
      case EltwiseMode::kMul:
        for (size_t i = 0; i < n; ++i)
          sums_[i] = (value(a[i * a_step]) - e_.a_zp) * (value(b[i * b_step]) - e_.b_zp);
        break;
      case EltwiseMode::kMin:
        for (size_t i = 0; i < n; ++i)
          sums_[i] = std::min(value(a[i * a_step]), value(b[i * b_step]));
        break;
      case EltwiseMode::kMax:
        for (size_t i = 0; i < n; ++i)
          sums_[i] = std::max(value(a[i * a_step]), value(b[i * b_step]));
        break;
    }
    if (mode_ == EltwiseMode::kMin || mode_ == EltwiseMode::kMax)
      for (size_t i = 0; i < n; ++i)
        dst[i] = static_cast<int8_t>(std::clamp(sums_[i], e_.act_min, e_.act_max));
    else
      s_.kernels->requantize(sums_, static_cast<int>(n), stage_, 0, dst);
    finish_bytes(e_, s_, dst, n);
  }

  const arch::Eltwise& e_;
  ExecutorState& s_;
  EltwiseMode mode_;
  OutputStage stage_;
  ScaledValues a_{}, b_{};
  int32_t multiplier_[kChunk], shift_[kChunk], sums_[kChunk] = {};
};

}  // namespace

void run_eltwise(const arch::Eltwise& e, ExecutorState& s) {
  Datapath datapath(e, s);
  // Pixels that follow each other without a gap in all three tiles run as one.
  const bool dense = e.a_ch_stride && e.b_ch_stride && e.a_px_stride == e.ofm_c &&
                     e.b_px_stride == e.ofm_c && e.ofm_px_stride == e.ofm_c;
  const uint32_t runs = dense ? 1 : e.ofm_w;
  const size_t n = dense ? size_t{e.ofm_w} * e.ofm_c : e.ofm_c;
  for (uint32_t y = 0; y < e.ofm_h; ++y)
    for (uint32_t x = 0; x < runs; ++x) {
      const auto at = [&](uint64_t addr, uint64_t row, uint64_t px) {
        return s.signed_spm(addr + y * row + x * px);
      };
      datapath.run(at(e.a_addr, e.a_row_stride, e.a_px_stride), e.a_ch_stride,
                   at(e.b_addr, e.b_row_stride, e.b_px_stride), e.b_ch_stride, n,
                   at(e.ofm_addr, e.ofm_row_stride, e.ofm_px_stride));
    }
}

}  // namespace deputy::npu_model
