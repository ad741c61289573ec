// A packet as the core runs it: decoded once, its operations in an order in which none sees
// another's result.
#pragma once

#include <array>
#include <cstdint>

#include "arch/dsp_config.h"
#include "arch/dsp_packet.h"
#include "dsp_model/core/machine.h"

namespace deputy::dsp_model {

struct Packet {
  enum class State : std::uint8_t { kUnread, kGood, kBad };
  struct Result {
    std::uint8_t id = 0, latency = 0;
  };
  State state = State::kUnread;
  arch::DspDecodeFault fault = arch::DspDecodeFault::kNone;
  std::uint8_t count = 0, read_count = 0, write_count = 0, slots = 0, vector_operations = 0;
  std::uint8_t read_bytes = 0,
               written_bytes = 0;  ///< of the data memory; a masked access counts whole
  bool memory = false;             ///< has a load or store: ops[memory_op]
  bool control =
      false;  ///< ops[control_op] changes the flow, touches control registers or may wait
  bool crossed = false;  ///< every order lets one see another's result: run on copies
  std::uint8_t memory_op = 0, control_op = 0;
  std::array<arch::DspOp, arch::kDspSlots> ops{};
  std::array<Handler, arch::kDspSlots> handlers{};  ///< null: the core's own
  std::array<std::uint8_t, 24> reads{};             ///< register numbers of dsp_uses()
  std::array<Result, 16> writes{};
  std::array<arch::DspRegisterSet, arch::kDspSlots> written{};
};

/// Decodes the packet at words[at] into `packet`.
void prepare(std::span<const std::uint32_t> words, std::size_t at,
             const arch::DspLatencyConfig& latency, const HandlerTable& handlers, Packet& packet);

}  // namespace deputy::dsp_model
