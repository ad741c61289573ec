#include "arch/dsp_packet.h"

#include <fmt/format.h>

#include "arch/bitpack.h"
#include "base/check.h"

namespace deputy::arch {
namespace {

constexpr int kOpcodeBits = 7;

// The operation of a slot by its number; nullptr where there is none.
const DspOpInfo* by_number(unsigned slot, unsigned opcode) {
  static const auto rows = [] {
    std::array<std::array<const DspOpInfo*, 1 << kOpcodeBits>, kDspSlots> out{};
    for (const auto& row : dsp_op_infos()) {
      DEPUTY_CHECK(row.opcode < 1 << kOpcodeBits, "a slot has more operations than its field");
      out[static_cast<int>(row.slot)][row.opcode] = &row;
    }
    return out;
  }();
  return rows[slot][opcode];
}

int field_value(const DspOp& op, char field) {
  switch (field) {
    case 'D':
      return op.d;
    case 'A':
      return op.a;
    case 'B':
      return op.b;
    case 'C':
      return op.c;
    default:
      return op.imm;
  }
}

bool register_fits(const DspOperand& operand, const DspOp& op) {
  const int n = field_value(op, operand.field);
  switch (operand.file) {
    case 'a':
      return n < kDspAccumulators;
    case 'm':
      return n < kDspMasks;
    case 'V':
      return n % 2 == 0;
    case 'c':
      return n < static_cast<int>(DspControl::kCount);
    default:
      return true;
  }
}

}  // namespace

std::string_view dsp_decode_fault_text(DspDecodeFault fault) {
  switch (fault) {
    case DspDecodeFault::kNone:
      return "none";
    case DspDecodeFault::kTruncated:
      return "the program ends within a packet";
    case DspDecodeFault::kUnknownOpcode:
      return "no such operation";
    case DspDecodeFault::kBadField:
      return "a field is out of range or a reserved bit is set";
    case DspDecodeFault::kBadRegister:
      return "no such register";
    case DspDecodeFault::kBadOrder:
      return "slots do not ascend";
    case DspDecodeFault::kDoubleWrite:
      return "two operations of a packet write one register";
  }
  return "?";
}

DspOp make_dsp_op(DspOpcode code) {
  const DspOpInfo& info = dsp_op_info(code);
  DspOp op;
  op.code = code, op.opcode = info.opcode, op.slot = static_cast<std::uint8_t>(info.slot),
  op.size = info.size;
  return op;
}

std::uint32_t encode_dsp_op(const DspOp& op) {
  return with_dsp_format(dsp_op_info(op.code).format, [&](auto f) {
    std::vector<std::uint32_t> words;
    pack(DspEncoded<f()>{op}, words);
    return words[0];
  });
}

DspDecodeFault check_dsp_op(const DspOp& op) {
  const DspOpInfo& info = dsp_op_info(op.code);
  const bool fits = with_dsp_format(
      info.format, [&](auto f) { return first_bad_field(DspEncoded<f()>{op}) == nullptr; });
  if (!fits) return DspDecodeFault::kBadField;
  for (const DspOperand& operand : info.operands)
    if (operand.file && !register_fits(operand, op)) return DspDecodeFault::kBadRegister;
  const bool moves = op.post || op.code == DspOpcode::kLLdwbr;
  if (moves && info.operands[0].file == 'r' && info.role == DspRole::kWrite && op.d == op.a && op.d)
    return DspDecodeFault::kDoubleWrite;
  return DspDecodeFault::kNone;
}

DspDecodeFault decode_dsp_op(std::uint32_t word, DspOp& op) {
  const DspOpInfo* info = by_number(word >> kOpcodeBits & 3, word & ((1 << kOpcodeBits) - 1));
  if (!info) return DspDecodeFault::kUnknownOpcode;
  op = with_dsp_format(info->format, [&](auto f) -> DspOp {
    return unpack<DspEncoded<f()>>({&word, 1});
  });
  op.code = info->code, op.size = info->size;
  if (const DspDecodeFault fault = check_dsp_op(op); fault != DspDecodeFault::kNone) return fault;
  return encode_dsp_op(op) == word ? DspDecodeFault::kNone : DspDecodeFault::kBadField;
}

DspDecodeFault decode_dsp_packet(std::span<const std::uint32_t> words, std::size_t at,
                                 DspPacket& packet) {
  packet = {};
  for (;;) {
    if (at + packet.count >= words.size()) return DspDecodeFault::kTruncated;
    if (packet.count == kDspSlots) return DspDecodeFault::kBadOrder;
    DspOp& op = packet.ops[packet.count];
    if (const auto fault = decode_dsp_op(words[at + packet.count], op);
        fault != DspDecodeFault::kNone)
      return fault;
    ++packet.count;
    if (op.last) return check_dsp_packet(packet);
  }
}

DspDecodeFault check_dsp_packet(const DspPacket& packet) {
  DspRegisterSet written;
  for (int i = 0; i < packet.count; ++i) {
    if (i > 0 && packet.ops[i].slot <= packet.ops[i - 1].slot) return DspDecodeFault::kBadOrder;
    const DspRegisterSet writes = dsp_uses(packet.ops[i]).writes;
    if ((written & writes).any()) return DspDecodeFault::kDoubleWrite;
    written |= writes;
  }
  return DspDecodeFault::kNone;
}

DspUses dsp_uses(const DspOp& op) {
  const DspOpInfo& info = dsp_op_info(op.code);
  DspUses uses;
  const bool merges = info.predicated() && op.p != 0;
  if (merges) uses.reads.set(static_cast<std::size_t>(kDspMaskId + (op.p - 1) % kDspMasks));
  for (const DspOperand& operand : info.operands) {
    const auto n = static_cast<std::size_t>(field_value(op, operand.field));
    std::size_t id = n;
    int count = 1;
    switch (operand.file) {
      case 'r':
      case '[':
        break;
      case 'v':
        id = kDspVectorId + n;
        break;
      case 'V':
        id = kDspVectorId + n, count = 2;
        break;
      case 'a':
        id = kDspAccumulatorId + n;
        break;
      case 'm':
        id = kDspMaskId + n;
        break;
      default:
        continue;
    }
    if (operand.file == '[') {
      uses.reads.set(id);
      const bool reversed = op.code == DspOpcode::kLLdwbr || op.code == DspOpcode::kLStwbr;
      if (op.post || reversed) uses.writes.set(id);
      continue;
    }
    const bool destination = operand.field == 'D';
    const bool reads =
        !destination || info.role == DspRole::kRead || info.role == DspRole::kModify || merges;
    const bool writes =
        destination && (info.role == DspRole::kWrite || info.role == DspRole::kModify);
    for (int i = 0; i < count; ++i, ++id) {
      // An accumulating operation takes its sum late, so it may follow the one before it directly.
      const bool forwards = operand.file == 'a' && info.slot == DspSlot::kM;
      if (reads) uses.reads.set(forwards ? id - kDspAccumulatorId + kDspForwardId : id);
      if (writes) uses.writes.set(id);
      if (writes && forwards) uses.writes.set(id - kDspAccumulatorId + kDspForwardId);
    }
  }
  if (op.code == DspOpcode::kSCall) uses.writes.set(kDspLinkRegister);
  uses.reads.reset(0), uses.writes.reset(0);
  return uses;
}

int dsp_result_latency(const DspOp& op, std::size_t id, const DspLatencyConfig& config) {
  const DspOpInfo& info = dsp_op_info(op.code);
  if (id >= kDspForwardId) return 1;
  const bool loads_scalar =
      info.memory() && info.role == DspRole::kWrite && info.operands[0].file == 'r' && id == op.d;
  if (info.memory() && id < kDspVectorId && !loads_scalar)
    return config.scalar;  // the address register
  switch (info.latency) {
    case DspLatency::kScalarMul:
      return config.scalar_mul;
    case DspLatency::kDivide:
      return config.divide;
    case DspLatency::kVector:
      return config.vector;
    case DspLatency::kPermute:
      return config.permute;
    case DspLatency::kReduce:
      return config.reduce;
    case DspLatency::kMac:
      return config.mac;
    case DspLatency::kLoad:
      return config.load;
    case DspLatency::kGather:
      return config.gather;
    case DspLatency::kScalar:
    case DspLatency::kControl:
    case DspLatency::kStore:
      break;
  }
  return config.scalar;
}

std::string disassemble_dsp_op(const DspOp& op, std::size_t at) {
  const DspOpInfo& info = dsp_op_info(op.code);
  std::string text;
  if (op.p) text = fmt::format("({}m{}) ", op.p > kDspMasks ? "!" : "", (op.p - 1) % kDspMasks);
  text += info.name;
  const char* separator = " ";
  for (const DspOperand& operand : info.operands) {
    if (!operand.file) break;
    const int n = field_value(op, operand.field);
    text += separator, separator = ", ";
    switch (operand.file) {
      case '#':
        text += std::to_string(n);
        break;
      case '@':
        text += std::to_string(static_cast<long long>(at) + n);
        break;
      case 'c':
        text += dsp_controls()[static_cast<std::size_t>(n)].name;
        break;
      case '[':
        if (op.post)
          text += fmt::format("[r{}]{:+}", n, op.imm);
        else if (op.imm)
          text +=
              fmt::format("[r{} {} {}]", n, op.imm < 0 ? '-' : '+', op.imm < 0 ? -op.imm : op.imm);
        else
          text += fmt::format("[r{}]", n);
        if (op.circular) text += fmt::format("%c{}", op.circular - 1);
        break;
      default:
        text += fmt::format("{}{}", operand.file == 'V' ? 'v' : operand.file, n);
    }
  }
  return text;
}

std::string disassemble_dsp_packet(const DspPacket& packet, std::size_t at) {
  std::string text;
  for (int i = 0; i < packet.count; ++i)
    text += (i ? " || " : "") + disassemble_dsp_op(packet.ops[i], at);
  return text;
}

}  // namespace deputy::arch
