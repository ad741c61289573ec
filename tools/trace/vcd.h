// Chosen signals of a run as a value change dump: IEEE 1364-2005, clause 18, four-state.
#pragma once

#include <string>

#include "tools/trace/view.h"

namespace deputy::tools {

/// Interrupt lines, doorbells (events), which unit is busy, fill of queues, timelines. Times in ps.
/// `end_ps`: the run's end.
std::string vcd_text(const TraceView& view, std::uint64_t end_ps);

}  // namespace deputy::tools
