// A traced run made ready for those who draw it: tracks with something on them, work with the
// operator it was done for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/trace.h"
#include "tools/report.h"

namespace deputy::tools {

/// Memory that held an operator's result (or an input): from the first byte written to the last one
/// read. What another operator has overwritten is no longer read.
struct MemorySpan {
  int region = 0;        ///< arch::Region
  std::int64_t op = -1;  ///< who wrote it; -1: the host, before the first operator
  std::string what;      ///< "input 0", or "weights", of the operator; empty for its result
  std::uint64_t from_ps = 0, to_ps = 0;
  std::uint64_t offset = 0, bytes = 0;  ///< the smallest range with all of it
};

struct TraceView {
  std::vector<sim::TraceTrack> tracks;
  std::vector<sim::TraceSignal>
      signals;  ///< the trace's that ever changed, and TRACK.busy: 1 while the unit works
  std::vector<sim::TraceFence> fences;  ///< track: of `tracks` here
  std::vector<std::string> ops;         ///< "#14 CONV_2D name", by source operator
  std::vector<MemorySpan> memory;
};

TraceView view_of(const sim::Trace& trace, const Simulation& simulation, const Report& report);

/// What memory held over time, as transfers and host steps show it. Needs the tracks.
std::vector<MemorySpan> memory_spans(const TraceView& view, const Simulation& simulation);

}  // namespace deputy::tools
