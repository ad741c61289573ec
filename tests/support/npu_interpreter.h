// A plain interpreter of NPU programs for tests: loops written from the instruction set's text
// alone, no timing, no speed. Programs run in stream order, or in random orders that the waits
// allow; if those ever give different bytes, a wait is missing.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "arch/isa.h"
#include "arch/npu_config.h"
#include "arch/numerics.h"
#include "arch/softmax.h"
#include "tests/support/naive_codec.h"

namespace deputy::test {

/// The instructions of a program; throws when the stream is not well formed.
inline std::vector<arch::Instruction> decode_program(std::span<const std::uint32_t> words) {
  std::vector<arch::Instruction> out;
  while (!words.empty()) {
    const arch::Decoded d = arch::decode(words);
    if (d.fault != arch::DecodeFault::kNone) throw std::runtime_error("not an instruction");
    out.push_back(d.instruction);
    words = words.subspan(d.instruction.header.words);
  }
  if (out.empty() || !std::holds_alternative<arch::End>(out.back().op))
    throw std::runtime_error("no END");
  return out;
}

class NpuInterpreter {
 public:
  NpuInterpreter(const arch::NpuConfig& config, std::vector<std::span<std::uint8_t>> regions)
      : spm_(static_cast<std::size_t>(config.spm.bytes), 0xA5),
        accumulators_(static_cast<std::size_t>(config.mac.accumulators)),
        regions_(std::move(regions)) {}

  void execute(const arch::Operation& op) {
    std::visit([this](const auto& o) { run(o); }, op);
  }

 private:
  std::uint8_t& spm(std::uint64_t at) {
    if (at >= spm_.size()) throw std::runtime_error("outside the scratchpad");
    return spm_[at];
  }
  std::int8_t spm8(std::uint64_t at) { return static_cast<std::int8_t>(spm(at)); }
  // A feature map's byte as the datapath sees it.
  std::int8_t map8(std::uint64_t at, std::uint32_t u8) {
    return static_cast<std::int8_t>(spm(at) ^ (u8 ? 0x80 : 0));
  }
  std::int32_t spm32(std::uint64_t at) {
    std::uint32_t v = 0;
    for (int i = 0; i < 4; ++i)
      v |= static_cast<std::uint32_t>(spm(at + static_cast<unsigned>(i))) << (8 * i);
    return static_cast<std::int32_t>(v);
  }
  std::uint8_t& memory(std::uint32_t region, std::uint64_t at) {
    if (region >= regions_.size() || at >= regions_[region].size())
      throw std::runtime_error("outside region " + std::to_string(region));
    return regions_[region][at];
  }

  template <class F>
  void each_byte(const arch::Transfer& t, F&& f) {
    for (std::uint64_t p = 0; p < t.planes; ++p)
      for (std::uint64_t r = 0; r < t.rows; ++r)
        for (std::uint64_t b = 0; b < t.row_bytes; ++b)
          f(memory(t.region, t.mem_offset + p * t.mem_plane_stride + r * t.mem_row_stride + b),
            spm(t.spm_addr + p * t.spm_plane_stride + r * t.spm_row_stride + b));
  }
  void run(const arch::End&) {}
  void run(const arch::Load& t) {
    each_byte(t, [](std::uint8_t& mem, std::uint8_t& local) { local = mem; });
  }
  void run(const arch::LoadWeights& l) {
    std::vector<std::uint8_t> stream, table;
    for (std::uint64_t i = 0; i < l.stream_bytes; ++i)
      stream.push_back(memory(l.region, l.mem_offset + i));
    if (!l.fixed_code)
      for (std::uint64_t i = 0; i < 145; ++i) table.push_back(spm(l.table_addr + i));
    const auto bytes = naive_decode(stream, l.fixed_code ? naive_fixed_table() : table, l.bytes);
    const std::uint64_t records = l.bytes / l.planes;
    for (std::uint64_t i = 0; i < l.bytes; ++i)
      spm(l.spm_addr + i % records * l.planes + i / records) = bytes[i];
  }
  void run(const arch::Store& t) {
    if (t.region == 0) throw std::runtime_error("a store to the constants");
    each_byte(t, [](std::uint8_t& mem, std::uint8_t& local) { mem = local; });
  }

  template <class T>
  void put(const T& o, std::uint32_t y, std::uint32_t x, std::uint32_t c, std::int64_t value) {
    auto q = static_cast<std::int8_t>(arch::clamp_i32(value, o.act_min, o.act_max));
    if (o.lut_en) q = spm8(o.lut_addr + static_cast<std::uint32_t>(q + 128));
    if (o.u8) q = static_cast<std::int8_t>(q ^ 0x80);
    spm(o.ofm_addr + std::uint64_t{y} * o.ofm_row_stride + std::uint64_t{x} * o.ofm_px_stride + c) =
        static_cast<std::uint8_t>(q);
  }
  // Calls f(tap index, value) for every tap inside the tile of input channel `c`.
  template <class T, class F>
  void window(const T& o, std::uint32_t y, std::uint32_t x, std::uint32_t c, F&& f) {
    for (std::int64_t ky = 0; ky < o.k_h; ++ky)
      for (std::int64_t kx = 0; kx < o.k_w; ++kx) {
        const std::int64_t iy = std::int64_t{y} * o.stride_h + ky * o.dil_h - o.pad_top;
        const std::int64_t ix = std::int64_t{x} * o.stride_w + kx * o.dil_w - o.pad_left;
        if (iy < 0 || ix < 0 || iy >= o.ifm_h || ix >= o.ifm_w) continue;
        f(ky * o.k_w + kx, map8(o.ifm_addr + static_cast<std::uint64_t>(iy) * o.ifm_row_stride +
                                    static_cast<std::uint64_t>(ix) * o.ifm_px_stride + c,
                                o.u8));
      }
  }
  template <class T>
  std::int64_t output_stage(const T& o, std::int32_t acc, std::uint64_t params) {
    return std::int64_t{arch::requantize(acc, {spm32(params + 4), spm32(params + 8)},
                                         static_cast<Numerics>(o.rounding))} +
           o.ofm_zp;
  }

  void run(const arch::Conv& o) {
    const bool holds = o.acc_keep || o.acc_hold;
    if (holds && std::uint64_t{o.ofm_h} * o.ofm_w * o.ofm_c > accumulators_.size())
      throw std::runtime_error("accumulators");
    std::size_t index = 0;
    for (std::uint32_t y = 0; y < o.ofm_h; ++y)
      for (std::uint32_t x = 0; x < o.ofm_w; ++x)
        for (std::uint32_t n = 0; n < o.ofm_c; ++n, ++index) {
          const std::uint64_t params = o.prm_addr + std::uint64_t{n} * 12;
          auto acc = static_cast<std::uint32_t>(o.acc_keep ? accumulators_[index] : spm32(params));
          for (std::uint32_t c = 0; c < o.ifm_c; ++c)
            window(o, y, x, c, [&](std::int64_t tap, std::int32_t value) {
              acc += static_cast<std::uint32_t>(
                  (value - o.ifm_zp) * (spm8(o.w_addr + std::uint64_t{n} * o.w_oc_stride +
                                             static_cast<std::uint64_t>(tap) * o.ifm_c + c) -
                                        o.w_zp));
            });
          if (o.acc_hold)
            accumulators_[index] = static_cast<std::int32_t>(acc);
          else
            put(o, y, x, n, output_stage(o, static_cast<std::int32_t>(acc), params));
        }
  }
  void run(const arch::Depthwise& o) {
    if (o.ofm_c != o.ifm_c * o.depth_mult) throw std::runtime_error("depthwise channels");
    for (std::uint32_t y = 0; y < o.ofm_h; ++y)
      for (std::uint32_t x = 0; x < o.ofm_w; ++x)
        for (std::uint32_t n = 0; n < o.ofm_c; ++n) {
          const std::uint64_t params = o.prm_addr + std::uint64_t{n} * 12;
          auto acc = static_cast<std::uint32_t>(spm32(params));
          window(o, y, x, n / o.depth_mult, [&](std::int64_t tap, std::int32_t value) {
            acc += static_cast<std::uint32_t>(
                (value - o.ifm_zp) *
                (spm8(o.w_addr + static_cast<std::uint64_t>(tap) * o.w_tap_stride + n) - o.w_zp));
          });
          put(o, y, x, n, output_stage(o, static_cast<std::int32_t>(acc), params));
        }
  }
  void run(const arch::Pool& o) {
    for (std::uint32_t y = 0; y < o.ofm_h; ++y)
      for (std::uint32_t x = 0; x < o.ofm_w; ++x)
        for (std::uint32_t c = 0; c < o.ofm_c; ++c) {
          std::int32_t best = -128, sum = 0, centred = 0, count = 0;
          window(o, y, x, c, [&](std::int64_t, std::int32_t v) {
            best = std::max(best, v), sum += v, centred += v - o.ifm_zp, ++count;
          });
          if (count == 0) throw std::runtime_error("an empty pooling window");
          const auto mode = static_cast<arch::PoolMode>(o.mode);
          if (mode == arch::PoolMode::kMax) put(o, y, x, c, best);
          if (mode == arch::PoolMode::kAverage)
            put(o, y, x, c,
                o.u8 ? arch::average_half_away(sum + 128 * count, count) - 128
                     : arch::average_half_away(sum, count));
          if (mode == arch::PoolMode::kMean)
            put(o, y, x, c,
                std::int64_t{arch::requantize(centred, {o.multiplier, o.shift},
                                              static_cast<Numerics>(o.rounding))} +
                    o.ofm_zp);
        }
  }
  void run(const arch::Eltwise& o) {
    const arch::EltwiseRequant r{static_cast<std::int32_t>(o.left_shift),
                                 {o.a_mult, o.a_shift},
                                 {o.b_mult, o.b_shift},
                                 {o.o_mult, o.o_shift}};
    const auto rounding = static_cast<Numerics>(o.rounding);
    for (std::uint32_t y = 0; y < o.ofm_h; ++y)
      for (std::uint32_t x = 0; x < o.ofm_w; ++x)
        for (std::uint32_t c = 0; c < o.ofm_c; ++c) {
          const auto operand = [&](std::uint64_t addr, std::uint64_t row, std::uint64_t px,
                                   std::uint64_t ch) -> std::int32_t {
            return map8(addr + y * row + x * px + c * ch, o.u8);
          };
          const std::int32_t a = operand(o.a_addr, o.a_row_stride, o.a_px_stride, o.a_ch_stride);
          const std::int32_t b = operand(o.b_addr, o.b_row_stride, o.b_px_stride, o.b_ch_stride);
          std::int64_t result = 0;
          switch (static_cast<arch::EltwiseMode>(o.mode)) {
            case arch::EltwiseMode::kAdd:
              result =
                  std::int64_t{arch::eltwise_add(a - o.a_zp, b - o.b_zp, r, rounding)} + o.ofm_zp;
              break;
            case arch::EltwiseMode::kSub: {
              result = std::int64_t{sub(a - o.a_zp, b - o.b_zp, r, rounding)} + o.ofm_zp;
              break;
            }
            case arch::EltwiseMode::kMul:
              result =
                  std::int64_t{arch::eltwise_mul(a - o.a_zp, b - o.b_zp, r, rounding)} + o.ofm_zp;
              break;
            case arch::EltwiseMode::kMin:
              result = std::min(a, b);
              break;
            case arch::EltwiseMode::kMax:
              result = std::max(a, b);
              break;
          }
          put(o, y, x, c, result);
        }
  }
  // The second operand is negated after it has been rescaled.
  static std::int32_t sub(std::int32_t a, std::int32_t b, const arch::EltwiseRequant& r,
                          Numerics mode) {
    if (mode == Numerics::kFp32) {
      arch::EltwiseRequant negated = r;
      negated.b.multiplier = -r.b.multiplier;
      return arch::eltwise_add(a, b, negated, mode);
    }
    const std::int32_t sa = arch::requantize(a * (1 << r.left_shift), r.a, mode);
    const std::int32_t sb = arch::requantize(b * (1 << r.left_shift), r.b, mode);
    return arch::requantize(sa - sb, r.out, mode);
  }
  void run(const arch::Lut& o) {
    for (std::uint32_t i = 0; i < o.count; ++i)
      spm(o.ofm_addr + std::uint64_t{i}) =
          spm(o.lut_addr + static_cast<std::uint64_t>(spm8(o.ifm_addr + std::uint64_t{i}) + 128));
  }
  void run(const arch::Softmax& o) {
    std::vector<std::int32_t> table(256);
    for (std::size_t i = 0; i < 256; ++i) table[i] = spm32(o.exp_addr + 4 * i);
    std::vector<std::uint8_t> row(o.length);
    for (std::uint64_t r = 0; r < o.rows; ++r) {
      for (std::uint32_t i = 0; i < o.length; ++i)
        row[i] = spm(o.ifm_addr + r * o.ifm_row_stride + i);
      arch::softmax_row(row.data(), o.length, table.data(), static_cast<Numerics>(o.rounding),
                        std::bit_cast<float>(o.scale), o.u8 ? 0x80 : 0, row.data());
      for (std::uint32_t i = 0; i < o.length; ++i)
        spm(o.ofm_addr + r * o.ofm_row_stride + i) = row[i];
    }
  }
  void run(const arch::Fill& o) {
    for (std::uint32_t i = 0; i < o.count; ++i)
      spm(o.addr + std::uint64_t{i}) = static_cast<std::uint8_t>(o.value);
  }

  std::vector<std::uint8_t> spm_;
  std::vector<std::int32_t> accumulators_;
  std::vector<std::span<std::uint8_t>> regions_;
};

/// How the three queues take turns.
enum class Order { kStream, kRandom, kEagerLoads, kLateStores, kLateLoads };

/// Runs a program on anything with execute(operation); the order is legal by the waits, otherwise
/// as hostile as asked.
template <class Npu>
void run_program(Npu& npu, std::span<const std::uint32_t> words, Order order,
                 std::mt19937& random) {
  const std::vector<arch::Instruction> program = decode_program(words);
  std::array<std::vector<const arch::Instruction*>, 3> queues;
  std::array<std::uint32_t, 3> issued{}, done{};
  for (const arch::Instruction& i : program) {
    const arch::Header& h = i.header;
    if (h.wait_load > issued[0] || h.wait_compute > issued[1] || h.wait_store > issued[2])
      throw std::runtime_error("a wait for a later instruction");
    if (i.queue() == arch::Queue::kControl) continue;
    const auto q = static_cast<std::size_t>(i.queue()) - 1;
    if (order == Order::kStream) npu.execute(i.op);
    queues[q].push_back(&i), ++issued[q];
  }
  if (order == Order::kStream) return;
  const auto pick = [&](const std::vector<std::size_t>& ready) {
    const auto find = [&](std::size_t q) {
      return std::find(ready.begin(), ready.end(), q) != ready.end();
    };
    if (order == Order::kEagerLoads && find(0)) return std::size_t{0};
    if (order == Order::kLateStores && ready.back() == 2 && ready.size() > 1)
      return ready[random() % (ready.size() - 1)];
    if (order == Order::kLateLoads && ready.front() == 0 && ready.size() > 1)
      return ready[1 + random() % (ready.size() - 1)];
    return ready[random() % ready.size()];
  };
  while (done != issued) {
    std::vector<std::size_t> ready;
    for (std::size_t q = 0; q < 3; ++q) {
      if (done[q] == issued[q]) continue;
      const arch::Header& h = queues[q][done[q]]->header;
      if (done[0] >= h.wait_load && done[1] >= h.wait_compute && done[2] >= h.wait_store)
        ready.push_back(q);
    }
    if (ready.empty()) throw std::runtime_error("deadlock");
    const std::size_t q = pick(ready);
    npu.execute(queues[q][done[q]]->op);
    ++done[q];
  }
}

}  // namespace deputy::test
