// Words to packets and back, and which registers an operation reads and writes: shared by the
// assembler, the disassembler and the model, so that they cannot disagree about what a legal packet
// is.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <span>
#include <string>

#include "arch/dsp_config.h"
#include "arch/dsp_isa.h"

namespace deputy::arch {

enum class DspDecodeFault : std::uint8_t {
  kNone,
  kTruncated,
  kUnknownOpcode,
  kBadField,
  kBadRegister,
  kBadOrder,
  kDoubleWrite
};
std::string_view dsp_decode_fault_text(DspDecodeFault fault);

/// The word of an operation; its members must be in range (check_dsp_op).
std::uint32_t encode_dsp_op(const DspOp& op);
/// Reads one operation. Reserved bits must be 0.
DspDecodeFault decode_dsp_op(std::uint32_t word, DspOp& op);
/// Whether fields and registers are in range.
DspDecodeFault check_dsp_op(const DspOp& op);
/// An operation with its code, opcode and slot set.
DspOp make_dsp_op(DspOpcode code);

struct DspPacket {
  std::array<DspOp, kDspSlots> ops{};
  std::uint8_t count = 0;  ///< operations, which are the first of `ops`
};
/// Decodes the packet that starts at words[at]. Never looks at more than four words.
DspDecodeFault decode_dsp_packet(std::span<const std::uint32_t> words, std::size_t at,
                                 DspPacket& packet);
/// Whether slots ascend and no two operations write one register.
DspDecodeFault check_dsp_packet(const DspPacket& packet);

/// Registers as one set of numbers: r, v, a, m, then the accumulators as a multiply-accumulate sees
/// them, which may follow another one directly.
inline constexpr int kDspVectorId = 32, kDspAccumulatorId = 64, kDspMaskId = 68, kDspForwardId = 72,
                     kDspRegisterIds = 76;
using DspRegisterSet = std::bitset<kDspRegisterIds>;
struct DspUses {
  DspRegisterSet reads, writes;
};
DspUses dsp_uses(const DspOp& op);
/// Cycles from the issue of `op` until the register `id` that it writes can be read.
int dsp_result_latency(const DspOp& op, std::size_t id, const DspLatencyConfig& config);

/// "vadd.h v1, v2, v3", with "(m0) " or "(!m0) " before it where predicated. `at` is the packet's
/// word: targets are printed as absolute word numbers.
std::string disassemble_dsp_op(const DspOp& op, std::size_t at);
/// Operations joined by " || ".
std::string disassemble_dsp_packet(const DspPacket& packet, std::size_t at);

}  // namespace deputy::arch
