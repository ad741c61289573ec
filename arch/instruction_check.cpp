#include "arch/instruction_check.h"

#include <bit>
#include <cmath>
#include <initializer_list>
#include <variant>

#include "arch/numerics.h"

namespace deputy::arch {
namespace {

using std::int32_t, std::int64_t, std::uint32_t, std::uint64_t;

constexpr uint64_t kTableBytes = 256;
constexpr uint64_t kMaxPoolTaps = uint64_t{1} << 22;  // keeps sums of 9-bit values within int32
constexpr int32_t kMaxFp32AddMultiplier = 1 << 22;    // keeps the sum of two products within int32

bool within(int64_t v, int64_t low, int64_t high) { return v >= low && v <= high; }

template <class T>
Tile input_tile(const T& o, uint64_t channels) {
  return {o.ifm_addr, o.ifm_row_stride, o.ifm_px_stride, o.ifm_h, o.ifm_w, channels};
}
template <class T>
Tile output_tile(const T& o) {
  return {o.ofm_addr, o.ofm_row_stride, o.ofm_px_stride, o.ofm_h, o.ofm_w, o.ofm_c};
}
template <class T>
Tile table_tile(const T& o) {
  return span_tile(o.lut_addr, kTableBytes);
}

// Collects the verdicts of one instruction; the first in executor.h's order wins, whatever order
// they come in.
class Verdict {
 public:
  explicit Verdict(std::uint64_t spm_bytes, std::uint64_t accumulators)
      : spm_bytes_(spm_bytes), accumulator_count_(accumulators) {}
  void require(bool supported) { unsupported_ |= !supported; }
  void touches(const Tile& t, bool write) {
    out_of_bounds_ |= t.end() > spm_bytes_;
    accesses_.push_back({t, write});
  }
  void reads(const Tile& t) { touches(t, false); }
  void writes(const Tile& t) {
    touches(t, true);
    require(writes_once(t));
  }
  void apart(const Tile& output, std::initializer_list<Tile> operands) {
    for (const Tile& t : operands) require(!may_overlap(output, t));
  }
  void accumulators(uint64_t needed) { accumulators_ |= needed > accumulator_count_; }
  NpuError error() const {
    return out_of_bounds_  ? NpuError::kSpmBounds
           : accumulators_ ? NpuError::kAccumulators
           : unsupported_  ? NpuError::kUnsupported
                           : NpuError::kNone;
  }
  AccessList& accesses() { return accesses_; }

 private:
  const uint64_t spm_bytes_, accumulator_count_;
  AccessList accesses_;
  bool unsupported_ = false, accumulators_ = false, out_of_bounds_ = false;
};

bool requant_supported(int32_t multiplier, int32_t shift, uint32_t rounding) {
  if (rounding == static_cast<uint32_t>(Numerics::kFp32))
    return std::isfinite(std::bit_cast<float>(multiplier));
  return within(shift, -31, 30);
}

// Clamp and table of an instruction that produces `output`.
template <class T>
void check_output(const T& o, const Tile& output, Verdict& v) {
  v.require(o.act_min <= o.act_max);
  v.writes(output);
  if (o.lut_en) {
    v.reads(table_tile(o));
    v.apart(output, {table_tile(o)});
  }
}

void check(const End&, Verdict&) {}

void check_transfer(const Transfer& t, bool write, Verdict& v) {
  // Planes of rows: the same shape as rows of pixels.
  v.touches({t.spm_addr, t.spm_plane_stride, t.spm_row_stride, t.planes, t.rows, t.row_bytes},
            write);
}
void check(const Load& l, Verdict& v) { check_transfer(l, true, v); }
void check(const LoadWeights& l, Verdict& v) {
  const Tile output = span_tile(l.spm_addr, l.bytes);
  v.require(l.bytes % l.planes == 0);
  v.writes(output);
  if (l.fixed_code) return;
  const Tile table = span_tile(l.table_addr, kCodeTableBytes);
  v.reads(table);
  v.apart(output, {table});
}
void check(const Store& s, Verdict& v) { check_transfer(s, false, v); }

void check(const Conv& c, Verdict& v) {
  const uint64_t taps = uint64_t{c.k_h} * c.k_w * c.ifm_c;
  const Tile input = input_tile(c, c.ifm_c), output = output_tile(c);
  const Tile weights{c.w_addr, 0, c.w_oc_stride, 1, c.ofm_c, taps};
  const Tile params = span_tile(c.prm_addr, uint64_t{c.ofm_c} * kChannelParamBytes);
  v.reads(input);
  v.reads(weights);
  if (c.acc_keep || c.acc_hold) v.accumulators(uint64_t{c.ofm_h} * c.ofm_w * c.ofm_c);
  if (!c.acc_keep || !c.acc_hold) v.reads(params);
  if (c.acc_hold) return;
  check_output(c, output, v);
  v.apart(output, {input, weights, params});
}

void check(const Depthwise& d, Verdict& v) {
  const Tile input = input_tile(d, d.ifm_c), output = output_tile(d);
  const uint64_t taps = uint64_t{d.k_h} * d.k_w;
  const Tile weights{d.w_addr, 0, d.w_tap_stride, 1, taps, d.ofm_c};
  const Tile params = span_tile(d.prm_addr, uint64_t{d.ofm_c} * kChannelParamBytes);
  v.require(uint64_t{d.ifm_c} * d.depth_mult == d.ofm_c);
  v.require(taps == 1 || d.w_tap_stride >= d.ofm_c);
  v.reads(input);
  v.reads(weights);
  v.reads(params);
  check_output(d, output, v);
  v.apart(output, {input, weights, params});
}

// Whether every output position of one axis sees at least one tap inside [0, size).
bool every_window_meets(uint32_t outputs, uint32_t taps, uint32_t stride, uint32_t dilation,
                        int32_t pad, uint32_t size) {
  for (uint32_t y = 0; y < outputs; ++y) {
    const int64_t first = int64_t{y} * stride - pad;
    const int64_t skip =
        first >= 0 ? 0 : (-first + dilation - 1) / dilation;  // taps above the image
    if (skip >= taps || first + skip * dilation >= size) return false;
  }
  return true;
}

void check(const Pool& p, Verdict& v) {
  const Tile input = input_tile(p, p.ofm_c), output = output_tile(p);
  v.require(uint64_t{p.k_h} * p.k_w <= kMaxPoolTaps);
  v.require(every_window_meets(p.ofm_h, p.k_h, p.stride_h, p.dil_h, p.pad_top, p.ifm_h));
  v.require(every_window_meets(p.ofm_w, p.k_w, p.stride_w, p.dil_w, p.pad_left, p.ifm_w));
  if (p.mode == static_cast<uint32_t>(PoolMode::kMean))
    v.require(requant_supported(p.multiplier, p.shift, p.rounding));
  v.reads(input);
  check_output(p, output, v);
  v.apart(output, {input});
}

bool add_supported(const Eltwise& e) {
  if (e.rounding == static_cast<uint32_t>(Numerics::kFp32)) {
    return within(e.a_mult, -kMaxFp32AddMultiplier, kMaxFp32AddMultiplier) &&
           within(e.b_mult, -kMaxFp32AddMultiplier, kMaxFp32AddMultiplier) &&
           within(e.o_shift, 1, 62);
  }
  return e.left_shift <= 22 && within(e.a_shift, -31, 0) && within(e.b_shift, -31, 0) &&
         within(e.o_shift, -31, 30);
}

void check(const Eltwise& e, Verdict& v) {
  const auto mode = static_cast<EltwiseMode>(e.mode);
  if (mode == EltwiseMode::kAdd || mode == EltwiseMode::kSub) v.require(add_supported(e));
  if (mode == EltwiseMode::kMul) v.require(requant_supported(e.o_mult, e.o_shift, e.rounding));
  const Tile output = output_tile(e);
  const Tile a{e.a_addr, e.a_row_stride, e.a_px_stride,
               e.ofm_h,  e.ofm_w,        e.a_ch_stride ? e.ofm_c : 1};
  const Tile b{e.b_addr, e.b_row_stride, e.b_px_stride,
               e.ofm_h,  e.ofm_w,        e.b_ch_stride ? e.ofm_c : 1};
  v.reads(a);
  v.reads(b);
  check_output(e, output, v);
  if (!(a == output)) v.apart(output, {a});
  if (!(b == output)) v.apart(output, {b});
}

void check(const Lut& l, Verdict& v) {
  const Tile input = span_tile(l.ifm_addr, l.count), output = span_tile(l.ofm_addr, l.count);
  v.reads(input);
  v.reads(table_tile(l));
  v.writes(output);
  v.apart(output, {table_tile(l)});
  if (!(input == output)) v.apart(output, {input});
}

void check(const Softmax& m, Verdict& v) {
  const Tile input{m.ifm_addr, m.ifm_row_stride, 0, m.rows, 1, m.length};
  const Tile output{m.ofm_addr, m.ofm_row_stride, 0, m.rows, 1, m.length};
  const Tile table = span_tile(m.exp_addr, kExpTableBytes);
  if (m.rounding == static_cast<uint32_t>(Numerics::kFp32)) {
    const float scale = std::bit_cast<float>(m.scale);
    v.require(std::isnormal(scale) && scale > 0);
  }
  v.reads(input);
  v.reads(table);
  v.writes(output);
  v.apart(output, {table});
  if (!(input == output)) v.apart(output, {input});
}

void check(const Fill& f, Verdict& v) { v.writes(span_tile(f.addr, f.count)); }

}  // namespace

NpuError check_instruction(const Operation& op, const NpuConfig& config) {
  Verdict verdict(static_cast<uint64_t>(config.spm.bytes),
                  static_cast<uint64_t>(config.mac.accumulators));
  std::visit([&](const auto& o) { check(o, verdict); }, op);
  return verdict.error();
}

AccessList spm_accesses(const Operation& op) {
  Verdict verdict(UINT64_MAX, UINT64_MAX);
  std::visit([&](const auto& o) { check(o, verdict); }, op);
  return verdict.accesses();
}

bool conflict(const AccessList& a, const AccessList& b) {
  for (const SpmAccess& x : a)
    for (const SpmAccess& y : b)
      if ((x.write || y.write) && may_overlap(x.tile, y.tile)) return true;
  return false;
}

}  // namespace deputy::arch
