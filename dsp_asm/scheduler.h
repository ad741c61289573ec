// List scheduling: straight-line operations into packets, longest chain of latencies first, so that
// they issue with as few stalls as their dependences and slots allow.
#pragma once

#include <vector>

#include "arch/dsp_config.h"
#include "arch/dsp_packet.h"

namespace deputy::dsp_asm {

struct Scheduled {
  std::size_t source = 0;  ///< index of the operation in what was given
  arch::DspOp op;
};
/// `ops` in order of the text; none may branch. Running the packets has the effect of running the
/// operations one after the other. With `no_alias`, accesses through different address registers
/// are taken to be apart. Packets are in order; operations of a packet in order of their slots.
std::vector<std::vector<Scheduled>> schedule(const std::vector<arch::DspOp>& ops,
                                             const arch::DspLatencyConfig& latency, bool no_alias);

}  // namespace deputy::dsp_asm
