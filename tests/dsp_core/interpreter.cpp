#include "tests/dsp_core/interpreter.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace deputy::dsp_test {
namespace {

using arch::DspFault, arch::DspOp;
using I = std::int64_t;
using Lanes = std::vector<I>;

I clamp_to(I value, int bits) {
  const I high = (I{1} << (bits - 1)) - 1, low = -high - 1;
  return value > high ? high : value < low ? low : value;
}
I clamp_unsigned(I value, int bits) {
  const I high = (I{1} << bits) - 1;
  return value > high ? high : value < 0 ? 0 : value;
}
// floor(v / 2^n + 1/2)
I rounded_shift(I v, int n) {
  if (n == 0) return v;
  const I floor_part = v >> n;
  const bool half = (v >> (n - 1)) & 1;
  return floor_part + (half ? 1 : 0);
}
std::uint32_t mirrored(std::uint32_t v) {
  std::uint32_t out = 0;
  for (int i = 0; i < 32; ++i)
    if (v & (1u << i)) out |= 1u << (31 - i);
  return out;
}
I leading_zeros(std::uint64_t v, int bits) {
  I n = 0;
  while (n < bits && !(v >> (bits - 1 - n) & 1)) ++n;
  return n;
}
bool starts(const std::string& text, const char* with) { return text.rfind(with, 0) == 0; }

}  // namespace

I Interpreter::lane(const std::uint8_t* bytes, int size, int i, bool is_signed) const {
  std::uint64_t out = 0;
  for (int k = 0; k < size; ++k) out |= std::uint64_t{bytes[i * size + k]} << (8 * k);
  if (is_signed && size < 8 && out >> (8 * size - 1)) out |= ~std::uint64_t{0} << (8 * size);
  return static_cast<I>(out);
}
bool Interpreter::chosen(const DspOp& op, int byte) const {
  if (op.p == 0) return true;
  return op.p <= 4 ? m[op.p - 1][byte] : !m[op.p - 5][byte];
}
void Interpreter::write_r(int d, I value, std::vector<Write>& writes) {
  if (d != 0) writes.push_back([this, d, value] { r[d] = static_cast<std::uint32_t>(value); });
}
void Interpreter::write_v(const DspOp& op, int d, int size, const Lanes& lanes,
                          std::vector<Write>& writes) {
  std::vector<std::pair<int, std::uint8_t>> bytes;
  for (int i = 0; i < static_cast<int>(lanes.size()); ++i)
    for (int k = 0; k < size; ++k)
      if (chosen(op, i * size + k))
        bytes.push_back({i * size + k,
                         static_cast<std::uint8_t>(lanes[static_cast<std::size_t>(i)] >> (8 * k))});
  writes.push_back([this, d, bytes] {
    for (const auto& [at, value] : bytes) v[d][at] = value;
  });
}

void Interpreter::run(std::uint64_t most) {
  while (!halted && fault == DspFault::kNone && packets < most) {
    try {
      step();
      ++packets;
    } catch (const Fault& f) {
      fault = f.fault;
    }
  }
}

void Interpreter::step() {
  if (pc < 0 || pc >= static_cast<I>(program.size())) throw Fault{DspFault::kFetch};
  arch::DspPacket packet;
  if (arch::decode_dsp_packet(program, static_cast<std::size_t>(pc), packet) !=
      arch::DspDecodeFault::kNone)
    throw Fault{DspFault::kDecode};
  std::vector<Write> writes;
  const I after = pc + packet.count;
  I next = after;
  // Control first, then memory, as the faults of a packet have an order; nothing is written before
  // all are through.
  for (int i = 0; i < packet.count; ++i) operation(packet.ops[i], after, writes, next);
  for (const Write& w : writes) w();
  for (int l = 3; l >= 0; --l) {
    Loop& loop = loops[l];
    if (!loop.active || next != loop.end) continue;
    if (--loop.left > 0) {
      next = loop.start;
      break;
    }
    loop.active = false;
  }
  pc = next;
}

void Interpreter::operation(const DspOp& op, I after, std::vector<Write>& writes, I& next) {
  const arch::DspOpInfo& info = arch::dsp_op_info(op.code);
  std::string name = info.name;
  int size = 0;
  if (const auto dot = name.find('.'); dot != std::string::npos) {
    size = name[dot + 1] == 'b' ? 1 : name[dot + 1] == 'h' ? 2 : 4;
    name = name.substr(0, dot);
  }
  switch (info.slot) {
    case arch::DspSlot::kS:
      return scalar(name, op, after, writes, next);
    case arch::DspSlot::kA:
      return vector(name, size, op, writes);
    case arch::DspSlot::kM:
      return multiply(name, size, op, writes);
    case arch::DspSlot::kL:
      return memory(info.name, op, writes);
  }
}

void Interpreter::scalar(const std::string& n, const DspOp& op, I after, std::vector<Write>& writes,
                         I& next) {
  const std::uint32_t ua = r[op.a], ub = r[op.b], ud = r[op.d];
  const I a = static_cast<std::int32_t>(ua), b = static_cast<std::int32_t>(ub);
  const I imm = op.imm;
  const auto set = [&](I value) { write_r(op.d, value, writes); };
  if (n == "add")
    set(a + b);
  else if (n == "sub")
    set(a - b);
  else if (n == "and")
    set(ua & ub);
  else if (n == "or")
    set(ua | ub);
  else if (n == "xor")
    set(ua ^ ub);
  else if (n == "shl")
    set(I{ua} << (ub % 32));
  else if (n == "shr")
    set(I{ua} >> (ub % 32));
  else if (n == "sar")
    set(a >> (ub % 32));
  else if (n == "min")
    set(a < b ? a : b);
  else if (n == "max")
    set(a > b ? a : b);
  else if (n == "slt")
    set(a < b ? 1 : 0);
  else if (n == "sltu")
    set(ua < ub ? 1 : 0);
  else if (n == "seq")
    set(a == b ? 1 : 0);
  else if (n == "adds")
    set(clamp_to(a + b, 32));
  else if (n == "subs")
    set(clamp_to(a - b, 32));
  else if (n == "addbr")
    set(mirrored(mirrored(ua) + mirrored(ub)));
  else if (n == "mul")
    set(static_cast<I>(std::uint64_t{ua} * ub));
  else if (n == "mulh")
    set((a * b) >> 32);
  else if (n == "mulr")
    set(clamp_to(rounded_shift(a * b, 31), 32));
  else if (n == "madd")
    set(static_cast<I>(std::uint64_t{ud} + std::uint64_t{ua} * ub));
  else if (n == "div")
    set(b == 0 ? -1 : a / b);
  else if (n == "divu")
    set(ub == 0 ? I{0xFFFFFFFF} : I{ua / ub});
  else if (n == "rem")
    set(b == 0 ? a : a % b);
  else if (n == "isqrt") {
    I root = 0;
    while ((root + 1) * (root + 1) <= I{ua})
      root += (root + 1000) * (root + 1000) <= I{ua} ? 1000 : 1;
    set(root);
  } else if (n == "abs")
    set(clamp_to(a < 0 ? -a : a, 32));
  else if (n == "clz")
    set(leading_zeros(ua, 32));
  else if (n == "brev")
    set(mirrored(ua));
  else if (n == "sel")
    set(r[op.c] != 0 ? ua : ub);
  else if (n == "addi")
    set(a + imm);
  else if (n == "andi")
    set(a & imm);
  else if (n == "ori")
    set(a | imm);
  else if (n == "shli")
    set(I{ua} << (imm & 31));
  else if (n == "shri")
    set(I{ua} >> (imm & 31));
  else if (n == "sari")
    set(a >> (imm & 31));
  else if (n == "slti")
    set(a < imm ? 1 : 0);
  else if (n == "muli")
    set(a * imm);
  else if (n == "movi")
    set(imm);
  else if (n == "movhi")
    set((imm & 0xFFFF) << 16 | (ud & 0xFFFF));
  else if (n == "beq")
    next = a == b ? pc + imm : next;
  else if (n == "bne")
    next = a != b ? pc + imm : next;
  else if (n == "blt")
    next = a < b ? pc + imm : next;
  else if (n == "bge")
    next = a >= b ? pc + imm : next;
  else if (n == "bltu")
    next = ua < ub ? pc + imm : next;
  else if (n == "bgeu")
    next = ua >= ub ? pc + imm : next;
  else if (n == "jmp")
    next = pc + imm;
  else if (n == "call")
    write_r(31, after, writes), next = pc + imm;
  else if (n == "jr")
    next = ua;
  else if (n == "loop" || n == "loopi") {
    const I times = n == "loop" ? I{ua} : I{op.a};
    const I end = pc + imm;
    if (end <= after || end > static_cast<I>(program.size())) throw Fault{DspFault::kLoop};
    for (int l = 0; l < 4; ++l) {
      if (!loops[l].active) continue;
      if (l >= op.d) throw Fault{DspFault::kLoop};
      const bool inside = pc >= loops[l].start && pc < loops[l].end;
      if (inside && end > loops[l].end) throw Fault{DspFault::kLoop};
    }
    if (times == 0)
      next = end;
    else
      writes.push_back([this, level = op.d, after, end, times] {
        loops[level] = {true, after, end, times};
      });
  } else if (n == "endloop") {
    writes.push_back([this, level = op.d % 4] {
      for (int l = level; l < 4; ++l) loops[l].active = false;
    });
  } else if (n == "mtc" || n == "mfc") {
    const auto& row = arch::dsp_controls()[static_cast<std::size_t>(imm)];
    const std::string access = row.access, which = row.name;
    const bool write = n == "mtc";
    if (access.find(write ? 'w' : 'r') == std::string::npos) throw Fault{DspFault::kControl};
    if (write) {
      writes.push_back([this, which, imm, value = ud] {
        if (which == "pending")
          control[imm] &= ~value;
        else if (which == "enable")
          control[imm] = value & 7;
        else if (which == "interrupts")
          control[imm] = value & 1;
        else if (which == "dma_mem_high")
          control[imm] = value & 0xFF;
        else if (which == "mail_out")
          mail_out.push_back(value);
        else
          control[imm] = value;
      });
    } else if (which == "mail_in") {
      set(mail_in.empty() ? 0 : mail_in.front());
      if (!mail_in.empty()) writes.push_back([this] { mail_in.pop_front(); });
    } else if (which == "mail_waiting")
      set(static_cast<I>(mail_in.size()));
    else if (which == "mail_room")
      set(8 - static_cast<I>(mail_out.size()));
    else
      set(control[imm]);
  } else if (n == "halt")
    writes.push_back([this] { halted = true; });
  else if (n == "trap")
    throw Fault{DspFault::kTrap};
  else
    throw std::runtime_error("the interpreter does not know " + n);
}

void Interpreter::vector(const std::string& n, int size, const DspOp& op,
                         std::vector<Write>& writes) {
  const int bits = 8 * size;
  const int count = size ? 128 / size : 0;
  const auto x = [&](int i) { return lane(v[op.a], size, i); };
  const auto y = [&](int i) { return lane(v[op.b], size, i); };
  const auto ux = [&](int i) { return lane(v[op.a], size, i, false); };
  const auto uy = [&](int i) { return lane(v[op.b], size, i, false); };
  Lanes out;
  const auto each = [&](auto f) {
    for (int i = 0; i < count; ++i) out.push_back(f(i));
    write_v(op, op.d, size, out, writes);
  };
  const auto shift_by = [&](auto f) {
    const bool per_lane = n.ends_with("v"), constant = n.ends_with("i");
    each([&](int i) {
      const std::uint64_t amount = constant   ? static_cast<std::uint64_t>(op.imm)
                                   : per_lane ? static_cast<std::uint64_t>(uy(i))
                                              : r[op.b];
      return f(i, static_cast<int>(amount % static_cast<std::uint64_t>(bits)));
    });
  };
  const auto set_mask = [&](auto f) {
    std::vector<bool> mask(128);
    for (int i = 0; i < 128; ++i) mask[static_cast<std::size_t>(i)] = f(i);
    writes.push_back([this, d = op.d, mask] {
      for (int i = 0; i < 128; ++i) m[d][i] = mask[static_cast<std::size_t>(i)];
    });
  };
  const auto pair = [&](int element, const Lanes& first, const Lanes& second) {
    DspOp always = op;
    always.p = 0;
    write_v(always, op.d, element, first, writes),
        write_v(always, op.d + 1, element, second, writes);
  };
  // 256 bytes: A and then B.
  std::vector<I> both;
  for (int i = 0; i < 128; ++i) both.push_back(v[op.a][i]);
  for (int i = 0; i < 128; ++i) both.push_back(v[op.b][i]);

  if (n == "vadd")
    each([&](int i) { return x(i) + y(i); });
  else if (n == "vsub")
    each([&](int i) { return x(i) - y(i); });
  else if (n == "vadds")
    each([&](int i) { return clamp_to(x(i) + y(i), bits); });
  else if (n == "vsubs")
    each([&](int i) { return clamp_to(x(i) - y(i), bits); });
  else if (n == "vavg")
    each([&](int i) { return (x(i) + y(i) + 1) >> 1; });
  else if (n == "vnavg")
    each([&](int i) { return clamp_to((x(i) - y(i) + 1) >> 1, bits); });
  else if (n == "vmin")
    each([&](int i) { return std::min(x(i), y(i)); });
  else if (n == "vmax")
    each([&](int i) { return std::max(x(i), y(i)); });
  else if (n == "vaddu")
    each([&](int i) { return clamp_unsigned(ux(i) + uy(i), bits); });
  else if (n == "vsubu")
    each([&](int i) { return clamp_unsigned(ux(i) - uy(i), bits); });
  else if (n == "vminu")
    each([&](int i) { return std::min(ux(i), uy(i)); });
  else if (n == "vmaxu")
    each([&](int i) { return std::max(ux(i), uy(i)); });
  else if (n == "vand" || n == "vor" || n == "vxor" || n == "vandn" || n == "vmov") {
    for (int i = 0; i < 128; ++i) {
      const I a = v[op.a][i], b = v[op.b][i];
      out.push_back(n == "vand"    ? a & b
                    : n == "vor"   ? a | b
                    : n == "vxor"  ? a ^ b
                    : n == "vandn" ? a & ~b
                                   : a);
    }
    write_v(op, op.d, 1, out, writes);
  } else if (n == "vabs")
    each([&](int i) { return clamp_to(x(i) < 0 ? -x(i) : x(i), bits); });
  else if (n == "vneg")
    each([&](int i) { return clamp_to(-x(i), bits); });
  else if (n == "vclz")
    each([&](int i) { return leading_zeros(static_cast<std::uint64_t>(ux(i)), bits); });
  else if (n == "vshl" || n == "vshli" || n == "vshlv")
    shift_by([&](int i, int k) { return static_cast<I>(static_cast<std::uint64_t>(x(i)) << k); });
  else if (n == "vshr" || n == "vshri")
    shift_by([&](int i, int k) { return ux(i) >> k; });
  else if (n == "vsar" || n == "vsari" || n == "vsarv")
    shift_by([&](int i, int k) { return x(i) >> k; });
  else if (n == "vrsar" || n == "vrsari" || n == "vrsarv")
    shift_by([&](int i, int k) { return rounded_shift(x(i), k); });
  else if (n == "vshls" || n == "vshlsi")
    shift_by([&](int i, int k) { return clamp_to(x(i) * (I{1} << k), bits); });
  else if (n == "vcmpeq")
    set_mask([&](int byte) { return x(byte / size) == y(byte / size); });
  else if (n == "vcmpgt")
    set_mask([&](int byte) { return x(byte / size) > y(byte / size); });
  else if (n == "vcmpgtu")
    set_mask([&](int byte) { return ux(byte / size) > uy(byte / size); });
  else if (n == "mand")
    set_mask([&](int i) { return m[op.a][i] && m[op.b][i]; });
  else if (n == "mor")
    set_mask([&](int i) { return m[op.a][i] || m[op.b][i]; });
  else if (n == "mxor")
    set_mask([&](int i) { return m[op.a][i] != m[op.b][i]; });
  else if (n == "mandn")
    set_mask([&](int i) { return m[op.a][i] && !m[op.b][i]; });
  else if (n == "mtail")
    set_mask([&](int i) { return static_cast<std::uint32_t>(i) < r[op.a]; });
  else if (n == "mcount")
    write_r(op.d, std::count(m[op.a], m[op.a] + 128, true), writes);
  else if (n == "vsplat")
    each([&](int) { return I{r[op.a]}; });
  else if (n == "viota")
    each([&](int i) { return I{i}; });
  else if (n == "vlane")
    each([&](int) { return x(static_cast<int>(r[op.b] % static_cast<unsigned>(count))); });
  else if (n == "vext")
    write_r(op.d, x(static_cast<int>(r[op.b] % static_cast<unsigned>(count))), writes);
  else if (n == "vins") {
    const int at = static_cast<int>(r[op.b] % static_cast<unsigned>(count));
    for (int i = 0; i < count; ++i) out.push_back(i == at ? I{r[op.a]} : lane(v[op.d], size, i));
    write_v(op, op.d, size, out, writes);
  } else if (n == "vzip") {
    const int g = 1 << (op.imm % 8);
    Lanes all;
    for (int k = 0; k < 256; ++k) {
      const int element = k / g, byte = k % g;
      all.push_back(both[static_cast<std::size_t>((element % 2) * 128 + element / 2 * g + byte)]);
    }
    pair(1, {all.begin(), all.begin() + 128}, {all.begin() + 128, all.end()});
  } else if (n == "vunzip") {
    const int g = 1 << (op.imm % 8);
    Lanes even, odd;
    for (int k = 0; k < 256; ++k)
      (k / g % 2 ? odd : even).push_back(both[static_cast<std::size_t>(k)]);
    pair(1, even, odd);
  } else if (n == "valign" || n == "valigni") {
    const std::uint32_t at = (n == "valign" ? r[op.c] : static_cast<std::uint32_t>(op.imm)) % 128;
    for (std::uint32_t i = 0; i < 128; ++i) out.push_back(both[at + i]);
    write_v(op, op.d, 1, out, writes);
  } else if (n == "vperm") {
    for (int i = 0; i < 128; ++i) out.push_back(v[op.a][v[op.b][i] % 128]);
    write_v(op, op.d, 1, out, writes);
  } else if (n == "vlut") {
    for (int i = 0; i < 128; ++i) {
      const I at = lane(v[op.b], 1, i) + 128;
      out.push_back(at < 128 ? v[op.a][at] : v[op.a + 1][at - 128]);
    }
    write_v(op, op.d, 1, out, writes);
  } else if (n == "vpack" || n == "vpacku") {
    for (int i = 0; i < count; ++i)
      out.push_back(n == "vpack" ? clamp_to(x(i), bits / 2) : clamp_unsigned(x(i), bits / 2));
    for (int i = 0; i < count; ++i)
      out.push_back(n == "vpack" ? clamp_to(y(i), bits / 2) : clamp_unsigned(y(i), bits / 2));
    write_v(op, op.d, size / 2, out, writes);
  } else if (n == "vunpk" || n == "vunpku") {
    Lanes low, high;
    for (int i = 0; i < count; ++i)
      (i < count / 2 ? low : high).push_back(n == "vunpk" ? x(i) : ux(i));
    pair(2 * size, low, high);
  } else if (n == "vbfly") {
    Lanes sum, difference;
    for (int i = 0; i < count; ++i)
      sum.push_back((x(i) + y(i) + 1) >> 1),
          difference.push_back(clamp_to((x(i) - y(i) + 1) >> 1, bits));
    pair(size, sum, difference);
  } else if (starts(n, "vnar")) {
    each([&](int i) {
      const I shift = n == "vnar" ? op.imm : n == "vnarr" ? I{r[op.b]} : uy(i);
      return clamp_to(
          rounded_shift(lane(a[op.a], 2 * size, i), static_cast<int>(shift % (16 * size))), bits);
    });
  } else if (n == "vmova") {
    for (int i = 0; i < 128; ++i) out.push_back(a[op.a][op.imm % 2 * 128 + i]);
    write_v(op, op.d, 1, out, writes);
  } else if (starts(n, "vred")) {
    I best = x(0);
    for (int i = 1; i < count; ++i)
      best = n == "vredadd"   ? best + x(i)
             : n == "vredmax" ? std::max(best, x(i))
                              : std::min(best, x(i));
    write_r(op.d, best, writes);
  } else {
    throw std::runtime_error("the interpreter does not know " + n);
  }
}

void Interpreter::multiply(const std::string& n, int size, const DspOp& op,
                           std::vector<Write>& writes) {
  const int bits = 8 * size, count = size ? 128 / size : 0;
  const auto x = [&](int i) { return lane(v[op.a], size, i); };
  const auto sums = [&](int element, const Lanes& values) {
    writes.push_back([this, d = op.d, element, values] {
      for (int i = 0; i < static_cast<int>(values.size()); ++i)
        for (int k = 0; k < element; ++k)
          a[d][i * element + k] = static_cast<std::uint8_t>(
              static_cast<std::uint64_t>(values[static_cast<std::size_t>(i)]) >> (8 * k));
    });
  };
  // Which lane of B, or the scalar, multiplies lane i; `group` bytes are taken together.
  const char mode = n.size() > 4 ? n.back() : ' ';
  Lanes out;
  if (starts(n, "vmpy") || starts(n, "vmac") || starts(n, "vmsu")) {
    for (int i = 0; i < count; ++i) {
      I b = 0;
      if (mode == 's')
        b = size == 2 ? static_cast<std::int16_t>(r[op.b]) : static_cast<std::int32_t>(r[op.b]);
      else if (mode == 'l')
        b = lane(v[op.b], size, op.imm % count);
      else if (mode == 'r')
        b = lane(v[op.b], size, static_cast<int>(r[op.c] % static_cast<unsigned>(count)));
      else
        b = lane(v[op.b], size, i);
      const auto product = static_cast<std::uint64_t>(x(i) * b),
                 old = static_cast<std::uint64_t>(lane(a[op.d], 2 * size, i));
      out.push_back(static_cast<I>(starts(n, "vmpy")   ? product
                                   : starts(n, "vmac") ? old + product
                                                       : old - product));
    }
    return sums(2 * size, out);
  }
  if (starts(n, "vdot")) {
    const bool sets = starts(n, "vdotz");
    const bool by_lane = n == "vdotl" || n == "vdotzl", by_register = n == "vdotr" || n == "vdotzr";
    for (int i = 0; i < 32; ++i) {
      I sum = sets ? 0 : lane(a[op.d], 4, i);
      const int from = by_lane ? op.imm % 32 : by_register ? static_cast<int>(r[op.c] % 32) : i;
      for (int k = 0; k < 4 / size; ++k)
        sum += lane(v[op.a], size, i * (4 / size) + k) * lane(v[op.b], size, from * (4 / size) + k);
      out.push_back(sum);
    }
    if (sets) out.resize(64, 0);
    return sums(4, out);
  }
  if (n == "vacz") return sums(4, Lanes(64, 0));
  if (n == "vacw") {
    for (int i = 0; i < 32; ++i) out.push_back(lane(v[op.a], 4, i));
    out.resize(64, 0);
    return sums(4, out);
  }
  if (n == "vach" || n == "vacq") {
    const int wide = n == "vach" ? 4 : 8;
    for (int i = 0; i < 256 / wide; ++i)
      out.push_back(static_cast<I>(static_cast<std::uint64_t>(lane(v[op.a], wide / 2, i))
                                   << (op.imm % (8 * wide))));
    return sums(wide, out);
  }
  if (n == "vcmul" || n == "vcmulc") {
    for (int i = 0; i < 64; i += 2) {
      const I ar = x(i), ai = x(i + 1), br = lane(v[op.b], 2, i),
              bi = lane(v[op.b], 2, i + 1) * (n == "vcmulc" ? -1 : 1);
      out.push_back(clamp_to(rounded_shift(ar * br - ai * bi, 15), 16));
      out.push_back(clamp_to(rounded_shift(ar * bi + ai * br, 15), 16));
    }
    return write_v(op, op.d, 2, out, writes);
  }
  for (int i = 0; i < count; ++i) {
    const I b = n == "vmulqs" ? (size == 2 ? I{static_cast<std::int16_t>(r[op.b])}
                                           : I{static_cast<std::int32_t>(r[op.b])})
                              : lane(v[op.b], size, i);
    if (n == "vmul")
      out.push_back(x(i) * b);
    else if (n == "vmulq" || n == "vmulqs")
      out.push_back(clamp_to(rounded_shift(x(i) * b, bits - 1), bits));
    else
      throw std::runtime_error("the interpreter does not know " + n);
  }
  write_v(op, op.d, size, out, writes);
}

void Interpreter::memory(const std::string& n, const DspOp& op, std::vector<Write>& writes) {
  static const std::map<std::string, int> kSizes = {
      {"ldw", 4},    {"ldh", 2},     {"ldhu", 2},    {"ldb", 1},     {"ldbu", 1},   {"stw", 4},
      {"sth", 2},    {"stb", 1},     {"ldwbr", 4},   {"stwbr", 4},   {"vld", 128},  {"vst", 128},
      {"vldu", 128}, {"vstu", 128},  {"vldm", 128},  {"vstm", 128},  {"vlds.b", 1}, {"vlds.h", 2},
      {"vlds.w", 4}, {"vgath.h", 2}, {"vgath.w", 4}, {"vscat.h", 2}, {"vscat.w", 4}};
  const int size = kSizes.at(n);
  const auto limit = static_cast<I>(tcm.size());
  if (starts(n, "vgath") || starts(n, "vscat")) {
    std::vector<std::pair<int, I>> elements;
    for (int i = 0; i < 128 / size; ++i)
      if (chosen(op, i * size))
        elements.push_back({i, (I{r[op.a]} + lane(v[op.b], size, i, false)) & 0xFFFFFFFF});
    for (const auto& [i, at] : elements) {
      if (at % size) throw Fault{DspFault::kAlign};
      if (at + size > limit) throw Fault{DspFault::kAddress};
    }
    for (const auto& [i, at] : elements)
      for (int k = 0; k < size; ++k) {
        if (starts(n, "vgath"))
          writes.push_back([this, d = op.d, to = i * size + k,
                            byte = tcm[static_cast<std::size_t>(at + k)]] { v[d][to] = byte; });
        else
          writes.push_back([this, to = static_cast<std::size_t>(at + k),
                            byte = v[op.d][i * size + k]] { tcm[to] = byte; });
      }
    return;
  }
  const I base = r[op.a];
  I moved = base + I{op.imm} * size;
  if (op.circular) {
    const I first = control[op.circular - 1], bytes = control[4 + op.circular - 1];
    if (base < first || base >= first + bytes || std::abs(I{op.imm} * size) > bytes)
      throw Fault{DspFault::kCircular};
    if (op.imm >= 0 && moved >= first + bytes) moved -= bytes;
    if (op.imm < 0 && moved < first) moved += bytes;
  }
  moved &= 0xFFFFFFFF;
  const bool reversed = n.ends_with("br");
  const I at = op.post || reversed ? base : moved;
  const bool anywhere = n == "vldu" || n == "vstu" || n == "vldm" || n == "vstm";
  if (!anywhere && at % size) throw Fault{DspFault::kAlign};
  for (int k = 0; k < size; ++k)
    if (chosen(op, k % 128) && at + k >= limit) throw Fault{DspFault::kAddress};
  const bool load = n.find("ld") != std::string::npos;
  if (n[0] == 'v') {
    for (int k = 0; k < 128; ++k) {
      if (!chosen(op, k)) continue;
      if (load)
        writes.push_back([this, d = op.d, k, byte = tcm[static_cast<std::size_t>(at + k % size)]] {
          v[d][k] = byte;
        });
      else
        writes.push_back(
            [this, to = static_cast<std::size_t>(at + k), byte = v[op.d][k]] { tcm[to] = byte; });
    }
  } else if (load) {
    write_r(op.d, lane(tcm.data() + at, size, 0, !n.ends_with("u")), writes);
  } else {
    for (int k = 0; k < size; ++k)
      writes.push_back([this, to = static_cast<std::size_t>(at + k),
                        byte = static_cast<std::uint8_t>(r[op.d] >> (8 * k))] { tcm[to] = byte; });
  }
  if (op.post) write_r(op.a, moved, writes);
  if (reversed) write_r(op.a, mirrored(mirrored(r[op.a]) + mirrored(r[op.b])), writes);
}

}  // namespace deputy::dsp_test
