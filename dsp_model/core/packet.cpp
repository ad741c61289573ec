#include "dsp_model/core/packet.h"

#include <algorithm>

#include "base/check.h"

namespace deputy::dsp_model {
namespace {

using arch::DspOp, arch::DspOpcode, arch::DspRegisterSet, arch::DspSlot;

bool is_control(DspOpcode code) {
  switch (code) {
    case DspOpcode::kSLoop:
    case DspOpcode::kSLoopi:
    case DspOpcode::kSMtc:
    case DspOpcode::kSMfc:
    case DspOpcode::kSHalt:
    case DspOpcode::kSWait:
    case DspOpcode::kSRti:
    case DspOpcode::kSTrap:
      return true;
    default:
      return false;
  }
}

bool is_vector(const DspOp& op) {
  const auto slot = static_cast<DspSlot>(op.slot);
  if (slot == DspSlot::kA || slot == DspSlot::kM) return true;
  return slot == DspSlot::kL && op.code >= DspOpcode::kLVld;
}

// An order in which no operation reads what an earlier one wrote. Loads and stores come before
// changes of the control registers, which hold the circular buffers. False: there is none.
bool find_order(const arch::DspPacket& packet, std::array<int, arch::kDspSlots>& order) {
  std::array<arch::DspUses, arch::kDspSlots> uses;
  for (int i = 0; i < packet.count; ++i) uses[i] = arch::dsp_uses(packet.ops[i]);
  // Last slot first: loads, then multiplications, which most often read what the others replace.
  for (int i = 0; i < packet.count; ++i) order[i] = packet.count - 1 - i;
  const auto first_try = order;
  const auto later = [](int a, int b) { return a > b; };
  do {
    DspRegisterSet written;
    bool good = true, control_written = false;
    for (int i = 0; i < packet.count && good; ++i) {
      const DspOp& op = packet.ops[order[i]];
      good = (uses[order[i]].reads & written).none() &&
             !(op.slot == static_cast<int>(DspSlot::kL) && control_written);
      written |= uses[order[i]].writes;
      control_written |= op.code == DspOpcode::kSMtc;
    }
    if (good) return true;
  } while (std::next_permutation(order.begin(), order.begin() + packet.count, later));
  order = first_try;
  return false;
}

}  // namespace

void prepare(std::span<const std::uint32_t> words, std::size_t at,
             const arch::DspLatencyConfig& latency, const HandlerTable& handlers, Packet& packet) {
  packet = {};
  arch::DspPacket decoded;
  packet.fault = arch::decode_dsp_packet(words, at, decoded);
  packet.state =
      packet.fault == arch::DspDecodeFault::kNone ? Packet::State::kGood : Packet::State::kBad;
  if (packet.state == Packet::State::kBad) return;
  std::array<int, arch::kDspSlots> order{};
  packet.crossed = !find_order(decoded, order);
  packet.count = decoded.count;
  DspRegisterSet reads;
  for (int i = 0; i < decoded.count; ++i) {
    const DspOp& op = packet.ops[i] = decoded.ops[order[i]];
    packet.handlers[i] = handlers[static_cast<std::size_t>(op.code)];
    packet.slots |= static_cast<std::uint8_t>(1 << op.slot);
    packet.vector_operations += is_vector(op);
    if (op.slot == static_cast<int>(DspSlot::kL)) {
      packet.memory = true, packet.memory_op = static_cast<std::uint8_t>(i);
      const auto bytes =
          static_cast<std::uint8_t>(is_indexed(op.code) ? arch::kDspVectorBytes : op.size);
      (arch::dsp_op_info(op.code).role == arch::DspRole::kRead ? packet.written_bytes
                                                               : packet.read_bytes) = bytes;
    }
    if (is_control(op.code))
      packet.control = true, packet.control_op = static_cast<std::uint8_t>(i);
    const arch::DspUses uses = arch::dsp_uses(op);
    reads |= uses.reads;
    packet.written[i] = uses.writes;
    for (std::size_t id = 0; id < uses.writes.size(); ++id) {
      if (!uses.writes[id]) continue;
      const int cycles = arch::dsp_result_latency(op, id, latency);
      DEPUTY_CHECK(packet.write_count < packet.writes.size(),
                   "a packet writes more registers than there is room for");
      packet.writes[packet.write_count++] = {static_cast<std::uint8_t>(id),
                                             static_cast<std::uint8_t>(cycles)};
    }
  }
  for (std::size_t id = 0; id < reads.size(); ++id) {
    if (!reads[id]) continue;
    DEPUTY_CHECK(packet.read_count < packet.reads.size(),
                 "a packet reads more registers than there is room for");
    packet.reads[packet.read_count++] = static_cast<std::uint8_t>(id);
  }
}

}  // namespace deputy::dsp_model
