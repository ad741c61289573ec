#include "tests/dsp_core/random_program.h"

#include <algorithm>
#include <map>

#include "arch/bitpack.h"
#include "arch/dsp_packet.h"

namespace deputy::dsp_test {
namespace {

using arch::DspControl, arch::DspFormat, arch::DspOp, arch::DspOpcode, arch::DspOpInfo,
    arch::DspPacket;

// r1-r4 are addresses that stay; r5-r8 are addresses within the circular buffers; the rest is
// anything.
constexpr int kAddresses = 4, kFirstFree = 9;
constexpr int kReversedRegister = 29, kStepRegister = 30;

class Maker {
 public:
  Maker(std::uint64_t seed, bool wild) : random_(seed), wild_(wild) {}

  RandomProgram make() {
    RandomProgram out;
    for (int i = 0; i < kRandomTcmBytes; ++i) out.tcm.push_back(byte());
    for (int i = below(4); i > 0; --i) out.mail.push_back(static_cast<std::uint32_t>(random_()));
    set_up();
    body(30 + below(50), 0);
    const int end = static_cast<int>(packets_.size());
    DspOp halt = arch::make_dsp_op(DspOpcode::kSHalt);
    add({halt});
    resolve(end);
    for (DspPacket& packet : packets_)
      for (int i = 0; i < packet.count; ++i) {
        packet.ops[i].last = i + 1 == packet.count;
        out.words.push_back(arch::encode_dsp_op(packet.ops[i]));
      }
    if (wild_ && below(8) == 0)
      out.words[static_cast<std::size_t>(below(static_cast<int>(out.words.size())))] ^=
          1u << below(32);
    return out;
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  std::uint8_t byte() {
    const int kind = below(8);
    return kind == 0   ? 0x80
           : kind == 1 ? 0x7F
           : kind == 2 ? 0
           : kind == 3 ? 0xFF
                       : static_cast<std::uint8_t>(random_());
  }

  void add(std::vector<DspOp> ops) {
    DspPacket packet;
    for (const DspOp& op : ops) packet.ops[packet.count++] = op;
    packets_.push_back(packet);
  }
  void load_word(int r, std::uint32_t word) {
    DspOp low = arch::make_dsp_op(DspOpcode::kSMovi), high = arch::make_dsp_op(DspOpcode::kSMovhi);
    low.d = high.d = static_cast<std::uint8_t>(r);
    low.imm = static_cast<std::int16_t>(word), high.imm = static_cast<std::int16_t>(word >> 16);
    add({low}), add({high});
  }
  void set_up() {
    for (int r = 1; r <= kAddresses; ++r)
      load_word(r, static_cast<std::uint32_t>(2048 * r + 128 * below(8) + 4096));
    for (int c = 0; c < 4; ++c) {
      const std::uint32_t base = static_cast<std::uint32_t>(1024 * c),
                          bytes = static_cast<std::uint32_t>(128 * (1 + below(4)));
      for (const int which : {0, 4}) {
        load_word(kFirstFree, which ? bytes : base);
        DspOp op = arch::make_dsp_op(DspOpcode::kSMtc);
        op.d = kFirstFree, op.imm = which + c;
        add({op});
      }
      load_word(kAddresses + 1 + c,
                base + static_cast<std::uint32_t>(below(static_cast<int>(bytes / 128)) * 128));
    }
    for (int i = 0; i < 6; ++i)
      load_word(kFirstFree + below(16), static_cast<std::uint32_t>(random_()));
    for (int v = 0; v < 8; ++v) {
      DspOp op = arch::make_dsp_op(DspOpcode::kLVld);
      op.d = static_cast<std::uint8_t>(v), op.a = static_cast<std::uint8_t>(1 + below(kAddresses)),
      op.imm = below(16);
      add({op});
    }
    // The step of the bit-reversed addressing: 32 words.
    load_word(kReversedRegister, 8192), load_word(kStepRegister, 64);
  }

  void body(int count, int level) {
    for (int i = 0; i < count; ++i) {
      const int kind = below(30);
      if (kind == 0 && level < 4 && count >= 4) {
        loop(level);
      } else if (kind == 1) {
        branch();
      } else {
        packet();
      }
    }
  }

  void loop(int level) {
    DspOp op = arch::make_dsp_op(chance(50) ? DspOpcode::kSLoopi : DspOpcode::kSLoop);
    op.d = static_cast<std::uint8_t>(wild_ && chance(5) ? below(4) : level);
    if (op.code == DspOpcode::kSLoopi) {
      op.a = static_cast<std::uint8_t>(below(6));
    } else {
      DspOp set = arch::make_dsp_op(DspOpcode::kSMovi);
      set.d = kFirstFree, set.imm = below(6);
      add({set});
      op.a = kFirstFree;
    }
    const std::size_t at = packets_.size();
    add({op});
    body(1 + below(6), level + 1);
    targets_[at] = static_cast<int>(packets_.size());
  }

  // Forward, and not into or out of a loop, by a target that is fixed when the next packets are
  // there.
  void branch() {
    constexpr DspOpcode kinds[] = {DspOpcode::kSBeq, DspOpcode::kSBne,  DspOpcode::kSBlt,
                                   DspOpcode::kSBge, DspOpcode::kSBltu, DspOpcode::kSBgeu,
                                   DspOpcode::kSJmp, DspOpcode::kSCall};
    DspOp op = arch::make_dsp_op(kinds[below(8)]);
    if (op.code != DspOpcode::kSJmp && op.code != DspOpcode::kSCall)
      op.a = any_scalar(), op.b = any_scalar();
    const std::size_t at = packets_.size();
    add({op});
    for (int i = below(4); i >= 0; --i) packet();
    targets_[at] = static_cast<int>(packets_.size());
  }

  std::uint8_t any_scalar() {
    return static_cast<std::uint8_t>(chance(10) ? 0 : kFirstFree + below(16));
  }

  bool usable(const DspOpInfo& info) {
    if (info.latency == arch::DspLatency::kControl && info.code != DspOpcode::kSMtc &&
        info.code != DspOpcode::kSEndloop)
      return wild_ && info.code == DspOpcode::kSTrap && chance(5);
    return info.code != DspOpcode::kSEndloop;
  }

  DspOp operation(int slot) {
    const auto rows = arch::dsp_op_infos();
    for (;;) {
      const DspOpInfo& info = rows[static_cast<std::size_t>(below(static_cast<int>(rows.size())))];
      if (static_cast<int>(info.slot) != slot || !usable(info)) continue;
      DspOp op = arch::make_dsp_op(info.code);
      arch::with_dsp_format(info.format, [&](auto f) {
        arch::DspEncoded<f()>::fields(op, [&](auto& member, const base::Field& field) {
          const std::string_view name = field.name;
          if (name == "imm") {
            const auto low = static_cast<std::int64_t>(arch::field_low(field)),
                       high = static_cast<std::int64_t>(arch::field_high(field));
            const auto value =
                static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1)) +
                low;
            member = static_cast<std::remove_reference_t<decltype(member)>>(value);
          } else if (name == "p") {
            member = static_cast<std::remove_reference_t<decltype(member)>>(
                chance(60) ? 0 : below(arch::kDspPredicates));
          }
        });
        return 0;
      });
      // Few registers, so that results meet.
      for (const arch::DspOperand& operand : info.operands) {
        std::uint8_t* field = operand.field == 'D'   ? &op.d
                              : operand.field == 'A' ? &op.a
                              : operand.field == 'B' ? &op.b
                              : operand.field == 'C' ? &op.c
                                                     : nullptr;
        if (!operand.file || !field) continue;
        switch (operand.file) {
          case 'r':
            *field = any_scalar();
            break;
          case 'v':
            *field = static_cast<std::uint8_t>(below(10));
            break;
          case 'V':
            *field = static_cast<std::uint8_t>(2 * below(5));
            break;
          case 'a':
          case 'm':
            *field = static_cast<std::uint8_t>(below(4));
            break;
          default:
            break;
        }
      }
      if (slot == 3) address(op, info);
      if (op.code == DspOpcode::kSMtc || op.code == DspOpcode::kSMfc) {
        // Those that neither depend on time nor change the buffers.
        constexpr DspControl kinds[] = {DspControl::kPending,    DspControl::kEnable,
                                        DspControl::kVector,     DspControl::kReturn,
                                        DspControl::kMailIn,     DspControl::kMailWaiting,
                                        DspControl::kMailOut,    DspControl::kDmaMemLow,
                                        DspControl::kDmaMemHigh, DspControl::kDmaTcm};
        op.imm = static_cast<int>(kinds[below(10)]);
        const char needed = op.code == DspOpcode::kSMtc ? 'w' : 'r';
        if (!wild_ &&
            std::string_view(arch::dsp_controls()[static_cast<std::size_t>(op.imm)].access)
                    .find(needed) == std::string_view::npos)
          continue;
      }
      if (arch::check_dsp_op(op) == arch::DspDecodeFault::kNone) return op;
    }
  }

  void address(DspOp& op, const DspOpInfo& info) {
    op.a = static_cast<std::uint8_t>(1 + below(kAddresses));
    if (info.format == DspFormat::kMem) {
      op.circular = 0, op.post = 0;
      if (info.size == 128) op.imm = below(16) - 8;
      if (chance(30)) {
        const int c = below(4);
        op.circular = static_cast<std::uint8_t>(c + 1),
        op.a = static_cast<std::uint8_t>(kAddresses + 1 + c);
        op.imm = below(info.size == 128 ? 3 : 32) * (chance(50) ? 1 : -1);
        if (info.size == 128) op.imm = std::clamp(op.imm, -1, 1);
        op.post = info.size == 128 && chance(50);  // smaller steps would misalign the vectors
      } else if (chance(30)) {
        op.post = 1,
        op.imm = info.size == 128 ? below(3) - 1 : 128 / info.size * (below(3) - 1) % 128;
      }
    } else if (info.format == DspFormat::kMemP) {
      op.imm = below(16) - 8;
    } else if (op.code == DspOpcode::kLLdwbr || op.code == DspOpcode::kLStwbr) {
      op.a = kReversedRegister, op.b = kStepRegister;
    }
    if (wild_ && chance(2)) op.a = any_scalar();
  }

  void packet() {
    DspPacket packet;
    for (int slot = 0; slot < arch::kDspSlots; ++slot) {
      if (!chance(slot == 3 ? 40 : 60)) continue;
      for (int tries = 0; tries < 20; ++tries) {
        DspPacket next = packet;
        next.ops[next.count++] = operation(slot);
        if (arch::check_dsp_packet(next) != arch::DspDecodeFault::kNone) continue;
        // Gathers and scatters need small offsets: made in v10 by a packet before.
        DspOp& op = next.ops[next.count - 1u];
        if (op.code >= DspOpcode::kLVgathH) indexes(op);
        packet = next;
        break;
      }
    }
    if (packet.count) packets_.push_back(packet);
  }
  void indexes(DspOp& op) {
    const bool halves = op.code == DspOpcode::kLVgathH || op.code == DspOpcode::kLVscatH;
    // (any vector >> so many bits) << log2 of the element: aligned, below 2048 bytes.
    DspOp right = arch::make_dsp_op(halves ? DspOpcode::kAVshriH : DspOpcode::kAVshriW),
          left = arch::make_dsp_op(halves ? DspOpcode::kAVshliH : DspOpcode::kAVshliW);
    right.d = left.d = left.a = 10, right.a = static_cast<std::uint8_t>(below(10));
    right.imm = halves ? 6 : 23, left.imm = halves ? 1 : 2;
    if (wild_ && chance(10)) left.imm = 0;
    add({right}), add({left});
    op.b = 10;
  }

  void resolve(int end) {
    std::vector<int> at{0};
    for (const DspPacket& packet : packets_) at.push_back(at.back() + packet.count);
    for (const auto& [from, to] : targets_)
      packets_[from].ops[0].imm = at[static_cast<std::size_t>(std::min(to, end))] - at[from];
  }

  std::mt19937_64 random_;
  bool wild_;
  std::vector<DspPacket> packets_;
  std::map<std::size_t, int> targets_;
};

}  // namespace

RandomProgram random_program(std::uint64_t seed, bool wild) { return Maker(seed, wild).make(); }

}  // namespace deputy::dsp_test
