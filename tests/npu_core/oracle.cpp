#include "tests/npu_core/oracle.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>

namespace deputy::npu_test {
namespace {

using Wide = __int128;
using std::int32_t, std::int64_t, std::int8_t, std::uint32_t, std::uint64_t, std::uint8_t;

Wide floor_div(Wide a, Wide b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }
int32_t wrap(Wide v) {
  return static_cast<int32_t>(static_cast<uint32_t>(static_cast<unsigned __int128>(v)));
}

struct Memory {
  std::vector<uint8_t>& bytes;
  int32_t s8(uint64_t a) const { return static_cast<int8_t>(bytes.at(a)); }
  // A feature map's byte: signed, or unsigned with the zero point moved by 128.
  int32_t value(uint64_t a, uint32_t u8) const { return u8 ? bytes.at(a) - 128 : s8(a); }
  int32_t s32(uint64_t a) const {
    int32_t v;
    if (a + 4 > bytes.size()) throw std::out_of_range("word");
    std::memcpy(&v, &bytes[a], 4);
    return v;
  }
};

template <class T>
void put(const T& o, Oracle& m, uint64_t addr, int64_t value) {
  if (value < o.act_min) value = o.act_min;
  if (value > o.act_max) value = o.act_max;
  auto byte = static_cast<uint8_t>(static_cast<int8_t>(value));
  if (o.lut_en) byte = m.spm.at(o.lut_addr + static_cast<uint64_t>(value + 128));
  if (o.u8) byte = static_cast<uint8_t>(static_cast<int8_t>(byte) + 128);
  m.spm.at(addr) = byte;
}

template <class T>
uint64_t out_addr(const T& o, uint64_t y, uint64_t x, uint64_t c) {
  return o.ofm_addr + y * o.ofm_row_stride + x * o.ofm_px_stride + c;
}

// Input row or column that tap k of output o reads; -1 outside.
int64_t source(int64_t o, int64_t k, int64_t stride, int64_t dilation, int64_t pad, int64_t size) {
  const int64_t i = o * stride + k * dilation - pad;
  return i < 0 || i >= size ? -1 : i;
}

void run(const arch::Conv& c, Oracle& m) {
  const Memory mem{m.spm};
  for (uint32_t y = 0; y < c.ofm_h; ++y)
    for (uint32_t x = 0; x < c.ofm_w; ++x)
      for (uint32_t o = 0; o < c.ofm_c; ++o) {
        const uint64_t index = (uint64_t{y} * c.ofm_w + x) * c.ofm_c + o;
        const uint64_t prm = c.prm_addr + uint64_t{12} * o;
        Wide acc = c.acc_keep ? m.accumulators.at(index) : mem.s32(prm);
        for (uint32_t ky = 0; ky < c.k_h; ++ky)
          for (uint32_t kx = 0; kx < c.k_w; ++kx) {
            const int64_t iy = source(y, ky, c.stride_h, c.dil_h, c.pad_top, c.ifm_h);
            const int64_t ix = source(x, kx, c.stride_w, c.dil_w, c.pad_left, c.ifm_w);
            if (iy < 0 || ix < 0) continue;
            for (uint32_t i = 0; i < c.ifm_c; ++i)
              acc +=
                  (mem.value(c.ifm_addr + iy * c.ifm_row_stride + ix * c.ifm_px_stride + i, c.u8) -
                   c.ifm_zp) *
                  (mem.s8(c.w_addr + uint64_t{o} * c.w_oc_stride +
                          (uint64_t{ky} * c.k_w + kx) * c.ifm_c + i) -
                   c.w_zp);
          }
        if (c.acc_hold)
          m.accumulators.at(index) = wrap(acc);
        else
          put(c, m, out_addr(c, y, x, o),
              naive_requantize(wrap(acc), mem.s32(prm + 4), mem.s32(prm + 8), c.rounding) +
                  c.ofm_zp);
      }
}

void run(const arch::Depthwise& d, Oracle& m) {
  const Memory mem{m.spm};
  for (uint32_t y = 0; y < d.ofm_h; ++y)
    for (uint32_t x = 0; x < d.ofm_w; ++x)
      for (uint32_t c = 0; c < d.ofm_c; ++c) {
        const uint64_t prm = d.prm_addr + uint64_t{12} * c;
        Wide acc = mem.s32(prm);
        for (uint32_t ky = 0; ky < d.k_h; ++ky)
          for (uint32_t kx = 0; kx < d.k_w; ++kx) {
            const int64_t iy = source(y, ky, d.stride_h, d.dil_h, d.pad_top, d.ifm_h);
            const int64_t ix = source(x, kx, d.stride_w, d.dil_w, d.pad_left, d.ifm_w);
            if (iy < 0 || ix < 0) continue;
            acc += (mem.value(d.ifm_addr + iy * d.ifm_row_stride + ix * d.ifm_px_stride +
                                  c / d.depth_mult,
                              d.u8) -
                    d.ifm_zp) *
                   (mem.s8(d.w_addr + (uint64_t{ky} * d.k_w + kx) * d.w_tap_stride + c) - d.w_zp);
          }
        put(d, m, out_addr(d, y, x, c),
            naive_requantize(wrap(acc), mem.s32(prm + 4), mem.s32(prm + 8), d.rounding) + d.ofm_zp);
      }
}

void run(const arch::Pool& p, Oracle& m) {
  const Memory mem{m.spm};
  for (uint32_t y = 0; y < p.ofm_h; ++y)
    for (uint32_t x = 0; x < p.ofm_w; ++x)
      for (uint32_t c = 0; c < p.ofm_c; ++c) {
        int64_t best = -128, sum = 0, sum_less_zp = 0, count = 0;
        for (uint32_t ky = 0; ky < p.k_h; ++ky)
          for (uint32_t kx = 0; kx < p.k_w; ++kx) {
            const int64_t iy = source(y, ky, p.stride_h, p.dil_h, p.pad_top, p.ifm_h);
            const int64_t ix = source(x, kx, p.stride_w, p.dil_w, p.pad_left, p.ifm_w);
            if (iy < 0 || ix < 0) continue;
            const int32_t v =
                mem.value(p.ifm_addr + iy * p.ifm_row_stride + ix * p.ifm_px_stride + c, p.u8);
            best = v > best ? v : best;
            sum += v, sum_less_zp += v - p.ifm_zp, ++count;
          }
        int64_t value = best;
        if (p.mode == 1 && p.u8)  // the unsigned bytes' average, halves up
          value = (2 * (sum + 128 * count) + count) / (2 * count) - 128;
        else if (p.mode == 1)
          value = (sum < 0 ? -1 : 1) * ((2 * std::llabs(sum) + count) / (2 * count));
        if (p.mode == 2)
          value = naive_requantize(wrap(sum_less_zp), p.multiplier, p.shift, p.rounding) + p.ofm_zp;
        put(p, m, out_addr(p, y, x, c), value);
      }
}

void run(const arch::Eltwise& e, Oracle& m) {
  const std::vector<uint8_t> before = m.spm;
  const auto at = [&](uint64_t a) -> int64_t {
    return e.u8 ? before.at(a) - 128 : static_cast<int8_t>(before.at(a));
  };
  for (uint32_t y = 0; y < e.ofm_h; ++y)
    for (uint32_t x = 0; x < e.ofm_w; ++x)
      for (uint32_t c = 0; c < e.ofm_c; ++c) {
        const int64_t a = at(e.a_addr + uint64_t{y} * e.a_row_stride + uint64_t{x} * e.a_px_stride +
                             c * e.a_ch_stride);
        const int64_t b = at(e.b_addr + uint64_t{y} * e.b_row_stride + uint64_t{x} * e.b_px_stride +
                             c * e.b_ch_stride);
        int64_t value = 0;
        if (e.mode == 0 || e.mode == 1) {
          const int64_t sign = e.mode == 1 ? -1 : 1;
          if (e.rounding == 2) {
            const Wide sum = Wide{a - e.a_zp} * e.a_mult + sign * Wide{b - e.b_zp} * e.b_mult;
            value = static_cast<int64_t>(
                floor_div(2 * sum + (Wide{1} << e.o_shift), Wide{2} << e.o_shift));
          } else {
            const Wide sa = naive_requantize(wrap(Wide{a - e.a_zp} << e.left_shift), e.a_mult,
                                             e.a_shift, e.rounding);
            const Wide sb = naive_requantize(wrap(Wide{b - e.b_zp} << e.left_shift), e.b_mult,
                                             e.b_shift, e.rounding);
            value = naive_requantize(wrap(sa + sign * sb), e.o_mult, e.o_shift, e.rounding);
          }
          value += e.ofm_zp;
        }
        if (e.mode == 2)
          value = naive_requantize(static_cast<int32_t>((a - e.a_zp) * (b - e.b_zp)), e.o_mult,
                                   e.o_shift, e.rounding) +
                  e.ofm_zp;
        if (e.mode == 3) value = a < b ? a : b;
        if (e.mode == 4) value = a > b ? a : b;
        put(e, m, out_addr(e, y, x, c), value);
      }
}

void run(const arch::Lut& l, Oracle& m) {
  const std::vector<uint8_t> before = m.spm;
  for (uint32_t i = 0; i < l.count; ++i)
    m.spm.at(l.ofm_addr + i) =
        before.at(l.lut_addr + static_cast<int8_t>(before.at(l.ifm_addr + i)) + 128);
}
void run(const arch::Fill& f, Oracle& m) {
  for (uint32_t i = 0; i < f.count; ++i) m.spm.at(f.addr + i) = static_cast<uint8_t>(f.value);
}
// floor(a / b + 1/2) for b > 0.
Wide nearest(Wide a, Wide b) { return floor_div(2 * a + b, 2 * b); }

void run(const arch::Softmax& m, Oracle& o) {
  const std::vector<uint8_t> before = o.spm;
  std::vector<uint8_t> table(before.begin() + m.exp_addr, before.begin() + m.exp_addr + 1024);
  const Memory mem{table};
  for (uint64_t row = 0; row < m.rows; ++row) {
    const auto at = [&](uint64_t i) -> int {
      const uint8_t byte = before.at(m.ifm_addr + row * m.ifm_row_stride + i);
      return m.u8 ? byte : static_cast<int8_t>(byte);
    };
    int top = at(0);
    for (uint64_t i = 1; i < m.length; ++i) top = at(i) > top ? at(i) : top;
    const auto entry = [&](uint64_t i) { return mem.s32(4 * static_cast<uint64_t>(top - at(i))); };
    const auto write = [&](uint64_t i, int64_t value) {  // 0..255 above the lowest byte
      o.spm.at(m.ofm_addr + row * m.ofm_row_stride + i) =
          static_cast<uint8_t>(m.u8 ? value : value - 128);
    };
    if (m.rounding == 2) {
      float sum = 0;
      for (uint64_t i = 0; i < m.length; ++i) {
        volatile float next = sum + std::bit_cast<float>(entry(i));
        sum = next;
      }
      volatile float product = sum * std::bit_cast<float>(m.scale);
      volatile float inverse = 1.0f / product;
      for (uint64_t i = 0; i < m.length; ++i) {
        volatile float scaled = std::bit_cast<float>(entry(i)) * inverse;
        volatile float raised = scaled + 0.5f;
        write(i, raised >= 255 ? 255 : static_cast<int64_t>(std::floor(raised)));
      }
      continue;
    }
    // Tables of exponentials only: entries are not negative and the first is the largest int32.
    uint32_t sum = 0;
    for (uint64_t i = 0; i < m.length; ++i)
      sum += static_cast<uint32_t>(nearest(entry(i), Wide{1} << 12));
    // sum = mantissa * 2^exponent, the mantissa in [1, 2) with 31 fractional bits.
    int headroom = 0;
    while (headroom < 31 && !(sum << headroom & 0x80000000u)) ++headroom;
    const Wide fraction = Wide{uint32_t{sum << headroom}} - (Wide{1} << 31);
    const Wide half = (fraction + INT32_MAX + 1) / 2;  // half the mantissa
    const auto high = [](Wide a, Wide b) { return nearest(a * b, Wide{1} << 31); };
    // 1 / half by Newton-Raphson from the usual straight line, 29 fractional bits.
    Wide x = std::llround(48.0 / 17 * (1 << 29)) + high(half, std::llround(-32.0 / 17 * (1 << 29)));
    for (int step = 0; step < 3; ++step) x += 4 * high(x, (Wide{1} << 29) - high(half, x));
    Wide reciprocal = 2 * x;
    if (reciprocal > INT32_MAX) reciprocal = INT32_MAX;
    const int shift = 12 - headroom + 23;
    for (uint64_t i = 0; i < m.length; ++i) {
      const Wide product = high(reciprocal, entry(i));
      const Wide value = nearest(product, Wide{1} << shift);
      write(i, value > 255 ? 255 : static_cast<int64_t>(value));
    }
  }
}
template <class T>
void run(const T&, Oracle&) {
  throw std::logic_error("not a compute instruction");
}

}  // namespace

int64_t naive_requantize(int32_t acc, int32_t multiplier, int32_t shift, uint32_t rounding) {
  if (rounding == 2) {
    const float scale = std::bit_cast<float>(multiplier);
    volatile float product = static_cast<float>(acc) * scale;
    const double value = product;
    if (std::isnan(value) || value > 1e9) return 1 << 30;
    return value < -1e9 ? -(1 << 30) : static_cast<int64_t>(std::nearbyint(value));
  }
  shift = shift < -31 ? -31 : shift > 30 ? 30 : shift;
  if (rounding == 1) {
    // floor(acc * m / 2^(31 - shift) + 1/2), kept to 32 bits
    const Wide unit = Wide{1} << (31 - shift);
    return wrap(floor_div(2 * Wide{acc} * multiplier + unit, 2 * unit));
  }
  const int32_t x = wrap(Wide{acc} << (shift > 0 ? shift : 0));
  const Wide high = floor_div(2 * Wide{x} * multiplier + (Wide{1} << 31), Wide{1} << 32);
  const int64_t saturated = high > INT32_MAX ? INT32_MAX : static_cast<int64_t>(high);
  const int64_t unit = int64_t{1} << (shift > 0 ? 0 : -shift);
  const int64_t magnitude = (2 * std::llabs(saturated) + unit) / (2 * unit);  // half away from zero
  return saturated < 0 ? -magnitude : magnitude;
}

void Oracle::execute(const arch::Operation& op) {
  std::visit([&](const auto& o) { run(o, *this); }, op);
}

}  // namespace deputy::npu_test
