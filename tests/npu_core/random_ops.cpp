#include "tests/npu_core/random_ops.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "arch/numerics.h"

namespace deputy::npu_test {

using std::int32_t, std::uint32_t, std::uint64_t, std::uint8_t;

uint64_t Random::next() {
  uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

std::int8_t Random::byte() {
  if (chance(10)) return static_cast<std::int8_t>(chance(50) ? -128 : 127);
  return static_cast<std::int8_t>(range(-128, 127));
}

uint32_t Layout::take(uint64_t bytes) {
  next_ += random_.range(0, 3);
  const uint64_t at = next_;
  next_ += bytes;
  return static_cast<uint32_t>(at);
}

void random_scale(Random& random, uint32_t rounding, double magnitude, int32_t& multiplier,
                  int32_t& shift) {
  const double real =
      127.0 / magnitude * std::exp2(static_cast<double>(random.range(-30, 15)) / 10);
  if (random.chance(20)) {  // a power of two: ties happen
    const int e = std::ilogb(real);
    const arch::Requant r =
        rounding == 2 ? arch::float_requant(std::ldexp(1.0f, e)) : arch::Requant{1 << 30, e + 1};
    multiplier = r.multiplier, shift = r.shift;
    return;
  }
  const arch::Requant r = rounding == 2 ? arch::float_requant(static_cast<float>(real))
                                        : arch::quantize_multiplier(real);
  multiplier = r.multiplier, shift = r.shift;
}

void random_params(Random& random, std::vector<uint8_t>& spm, uint32_t addr, uint32_t channels,
                   uint32_t rounding, bool extreme) {
  for (uint32_t c = 0; c < channels; ++c) {
    int32_t record[3];
    record[0] = static_cast<int32_t>(random.range(-20000, 20000));
    random_scale(random, rounding, 20000, record[1], record[2]);
    if (extreme) {
      const int32_t edges[] = {INT32_MIN, INT32_MAX, 0, -1, 1, 1 << 30, -(1 << 30)};
      record[0] =
          random.chance(50) ? edges[random.range(0, 6)] : static_cast<int32_t>(random.next());
      record[1] =
          random.chance(50) ? edges[random.range(0, 6)] : static_cast<int32_t>(random.next());
      record[2] = static_cast<int32_t>(random.range(-40, 40));
    }
    std::memcpy(spm.data() + addr + 12 * c, record, 12);
  }
}

namespace {

// Sometimes dense, sometimes with gaps, sometimes column-major.
template <class Stride>
uint64_t strides(Random& random, uint64_t h, uint64_t w, uint64_t c, Stride& row, Stride& px) {
  const uint64_t gap = random.chance(50) ? 0 : random.range(1, 9);
  if (random.chance(10)) {
    row = static_cast<Stride>(c + gap);
    px = static_cast<Stride>(h * row + gap);
  } else {
    px = static_cast<Stride>(c + gap);
    row = static_cast<Stride>(w * px + (random.chance(50) ? 0 : random.range(1, 20)));
  }
  return (h - 1) * row + (w - 1) * px + c;
}

template <class T>
void random_kernel(Random& r, T& o) {
  o.k_h = r.range(1, 5), o.k_w = r.range(1, 5);
  if (r.chance(30)) o.k_h = o.k_w = 1;
  o.stride_h = r.range(1, 3), o.stride_w = r.range(1, 3);
  o.dil_h = r.chance(70) ? 1 : r.range(2, 3), o.dil_w = r.chance(70) ? 1 : r.range(2, 3);
  o.ifm_h = r.range(1, 12), o.ifm_w = r.range(1, 12);
  o.pad_top = r.chance(40) ? 0 : r.range(-3, 4), o.pad_left = r.chance(40) ? 0 : r.range(-3, 4);
  o.ofm_h = r.range(1, 9), o.ofm_w = r.range(1, 9);
}

template <class T>
void random_output(Random& r, T& o) {
  o.ofm_zp = r.byte();
  o.act_min = r.chance(60) ? -128 : r.range(-128, 0);
  o.act_max = r.chance(60) ? 127 : r.range(0, 127);
  o.rounding = r.range(0, 2);
  o.lut_en = r.chance(20);
  o.u8 = r.chance(25);
}

uint32_t random_channels(Random& r) {
  return static_cast<uint32_t>(r.chance(60)   ? r.range(1, 20)
                               : r.chance(80) ? r.range(20, 150)
                                              : 16 * r.range(1, 10));
}

}  // namespace

arch::Conv random_conv(Random& r, std::vector<uint8_t>& spm) {
  for (;;) {
    arch::Conv c;
    random_kernel(r, c);
    random_output(r, c);
    c.ifm_c = random_channels(r), c.ofm_c = random_channels(r);
    c.ifm_zp = r.byte();
    if (r.chance(40)) c.w_zp = r.byte();
    const uint64_t taps = uint64_t{c.k_h} * c.k_w * c.ifm_c;
    if (taps * c.ofm_c * c.ofm_h * c.ofm_w > 3'000'000) continue;
    c.w_oc_stride = static_cast<uint32_t>(taps + (r.chance(60) ? 0 : r.range(1, 7)));
    Layout layout(r, spm.size());
    c.ofm_addr =
        layout.take(strides(r, c.ofm_h, c.ofm_w, c.ofm_c, c.ofm_row_stride, c.ofm_px_stride));
    c.lut_addr = layout.take(256);
    c.prm_addr = layout.take(12 * c.ofm_c);
    c.ifm_addr =
        layout.take(strides(r, c.ifm_h, c.ifm_w, c.ifm_c, c.ifm_row_stride, c.ifm_px_stride));
    c.w_addr = layout.take((c.ofm_c - 1) * c.w_oc_stride + taps);
    if (layout.full()) continue;
    if (r.chance(30))
      c.w_addr = static_cast<uint32_t>(spm.size() - ((c.ofm_c - 1) * c.w_oc_stride + taps));
    random_params(r, spm, c.prm_addr, c.ofm_c, c.rounding, r.chance(20));
    return c;
  }
}

arch::Depthwise random_depthwise(Random& r, std::vector<uint8_t>& spm) {
  for (;;) {
    arch::Depthwise d;
    random_kernel(r, d);
    random_output(r, d);
    d.depth_mult = r.chance(70) ? 1 : r.range(2, 9);
    d.ifm_c = r.chance(20) ? 1 : random_channels(r);
    d.ofm_c = d.ifm_c * d.depth_mult;
    d.ifm_zp = r.byte();
    if (r.chance(40)) d.w_zp = r.byte();
    const uint64_t taps = uint64_t{d.k_h} * d.k_w;
    d.w_tap_stride = d.ofm_c + (r.chance(60) ? 0 : r.range(1, 7));
    Layout layout(r, spm.size());
    d.ofm_addr =
        layout.take(strides(r, d.ofm_h, d.ofm_w, d.ofm_c, d.ofm_row_stride, d.ofm_px_stride));
    d.lut_addr = layout.take(256);
    d.prm_addr = layout.take(12 * d.ofm_c);
    d.w_addr = layout.take((taps - 1) * d.w_tap_stride + d.ofm_c);
    const uint64_t input = strides(r, d.ifm_h, d.ifm_w, d.ifm_c, d.ifm_row_stride, d.ifm_px_stride);
    d.ifm_addr = layout.take(input);
    if (layout.full()) continue;
    if (r.chance(30)) d.ifm_addr = static_cast<uint32_t>(spm.size() - input);
    random_params(r, spm, d.prm_addr, d.ofm_c, d.rounding, r.chance(20));
    return d;
  }
}

arch::Pool random_pool(Random& r, std::vector<uint8_t>& spm) {
  for (;;) {
    arch::Pool p;
    random_kernel(r, p);
    random_output(r, p);
    p.mode = r.range(0, 2);
    p.ofm_c = random_channels(r);
    p.ifm_zp = r.byte();
    random_scale(r, p.rounding, 128.0 * p.k_h * p.k_w, p.multiplier, p.shift);
    // Windows that see nothing are illegal: keep padding below the kernel and outputs inside.
    const auto inside = [](int64_t outputs, int64_t k, int64_t s, int64_t d, int64_t pad,
                           int64_t size) {
      for (int64_t y = 0; y < outputs; ++y) {
        bool any = false;
        for (int64_t t = 0; t < k; ++t)
          any |= y * s + t * d - pad >= 0 && y * s + t * d - pad < size;
        if (!any) return false;
      }
      return true;
    };
    if (!inside(p.ofm_h, p.k_h, p.stride_h, p.dil_h, p.pad_top, p.ifm_h) ||
        !inside(p.ofm_w, p.k_w, p.stride_w, p.dil_w, p.pad_left, p.ifm_w))
      continue;
    Layout layout(r, spm.size());
    p.ofm_addr =
        layout.take(strides(r, p.ofm_h, p.ofm_w, p.ofm_c, p.ofm_row_stride, p.ofm_px_stride));
    p.lut_addr = layout.take(256);
    const uint64_t input = strides(r, p.ifm_h, p.ifm_w, p.ofm_c, p.ifm_row_stride, p.ifm_px_stride);
    p.ifm_addr = layout.take(input);
    if (layout.full()) continue;
    if (r.chance(30)) p.ifm_addr = static_cast<uint32_t>(spm.size() - input);
    return p;
  }
}

arch::Eltwise random_eltwise(Random& r, std::vector<uint8_t>& spm) {
  for (;;) {
    arch::Eltwise e;
    random_output(r, e);
    e.mode = r.range(0, 4);
    e.ofm_h = r.range(1, 6), e.ofm_w = r.range(1, 6), e.ofm_c = random_channels(r);
    e.a_zp = r.byte(), e.b_zp = r.byte();
    const auto numerics = static_cast<Numerics>(e.rounding);
    const auto scale = [&] {
      return static_cast<float>(std::exp2(static_cast<double>(r.range(-40, 40)) / 10));
    };
    const float sa = scale(), sb = scale(), so = scale();
    const arch::EltwiseRequant q = e.mode == 2 ? arch::mul_requant(sa, sb, so * 60, numerics)
                                               : arch::add_requant(sa, sb, so, numerics);
    e.left_shift = q.left_shift;
    e.a_mult = q.a.multiplier, e.a_shift = q.a.shift, e.b_mult = q.b.multiplier,
    e.b_shift = q.b.shift;
    e.o_mult = q.out.multiplier, e.o_shift = q.out.shift;
    Layout layout(r, spm.size());
    const auto operand = [&](uint32_t& addr, uint32_t& row, uint32_t& px, uint32_t& ch) {
      const uint64_t bytes = strides(r, e.ofm_h, e.ofm_w, e.ofm_c, row, px);
      addr = layout.take(bytes);
      if (r.chance(15)) row = 0;
      if (r.chance(15)) px = 0;
      ch = r.chance(85);
    };
    operand(e.a_addr, e.a_row_stride, e.a_px_stride, e.a_ch_stride);
    operand(e.b_addr, e.b_row_stride, e.b_px_stride, e.b_ch_stride);
    if (r.chance(25)) {  // in place
      const bool a = e.a_ch_stride && e.a_row_stride >= e.ofm_c && e.a_px_stride >= e.ofm_c;
      if (!a) continue;
      e.ofm_addr = e.a_addr, e.ofm_row_stride = e.a_row_stride, e.ofm_px_stride = e.a_px_stride;
    } else {
      e.ofm_addr =
          layout.take(strides(r, e.ofm_h, e.ofm_w, e.ofm_c, e.ofm_row_stride, e.ofm_px_stride));
    }
    e.lut_addr = layout.take(256);
    if (!layout.full()) return e;
  }
}

arch::Softmax random_softmax(Random& r, std::vector<uint8_t>& spm) {
  for (;;) {
    arch::Softmax m;
    m.rows = static_cast<uint32_t>(r.range(1, 12));
    m.length = static_cast<uint32_t>(r.chance(70) ? r.range(1, 40) : r.range(40, 1500));
    m.rounding = static_cast<uint32_t>(r.range(0, 2));
    m.u8 = r.chance(30);
    m.scale = std::bit_cast<int32_t>(r.chance(80) ? 1.0f / 256 : 0.0039084f);
    Layout layout(r, spm.size());
    m.ifm_row_stride = m.length + (r.chance(50) ? 0 : static_cast<uint32_t>(r.range(1, 9)));
    m.ofm_row_stride = m.length + (r.chance(50) ? 0 : static_cast<uint32_t>(r.range(1, 9)));
    m.ifm_addr = layout.take(m.ifm_row_stride * m.rows);
    m.ofm_addr = layout.take(m.ofm_row_stride * m.rows);
    m.exp_addr = layout.take(1024);
    if (layout.full()) continue;
    if (r.chance(20)) m.ofm_addr = m.ifm_addr, m.ofm_row_stride = m.ifm_row_stride;
    if (r.chance(10)) m.ifm_row_stride = 0, m.ofm_addr += m.ofm_addr == m.ifm_addr ? m.length : 0;
    if (m.ofm_addr + (m.rows - 1) * m.ofm_row_stride + m.length > m.exp_addr) continue;
    // Exponentials of a random scale, each off by a little.
    const double scale = std::exp2(static_cast<double>(r.range(-100, 20)) / 10);
    for (uint32_t d = 0; d < 256; ++d) {
      const double real = std::exp(-scale * d);
      int32_t word = std::bit_cast<int32_t>(static_cast<float>(real));
      if (m.rounding != 2)
        word =
            d == 0
                ? INT32_MAX
                : static_cast<int32_t>(std::min(real * 2147483648.0 + r.range(0, 3), 2147483647.0));
      std::memcpy(spm.data() + m.exp_addr + 4 * d, &word, 4);
    }
    return m;
  }
}

}  // namespace deputy::npu_test
