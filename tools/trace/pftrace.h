// A run as a Perfetto trace (ui.perfetto.dev): protobuf messages of perfetto/trace/trace.proto,
// written field by field.
#pragma once

#include <string>

#include "tools/trace/view.h"

namespace deputy::tools {

/// The file's bytes. Tracks: each unit's slices with source operator, command, bytes and MACs;
/// rings of jobs with arrows along timelines; interrupts and doorbells; counters of memory
/// bandwidth, power and queues. Perfetto's unit is the ns: slices carry their ps.
std::string pftrace(const TraceView& view, const sim::Trace& trace, const Report& report);

}  // namespace deputy::tools
