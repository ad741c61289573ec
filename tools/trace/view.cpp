#include "tools/trace/view.h"

#include <fmt/format.h>

#include <algorithm>

namespace deputy::tools {
namespace {

// What the host did during a step of its own, it did for the step's operator.
void give_host_operators(const Simulation& s, sim::TraceTrack& host) {
  auto slice = host.slices.begin();
  for (const auto& record : s.inference.steps) {
    const arch::Step& step = s.executable.steps[record.step];
    if (step.kind != arch::StepKind::kHost) continue;
    while (slice != host.slices.end() && slice->to_ps <= record.start_ps) ++slice;
    for (; slice != host.slices.end() && slice->from_ps < record.end_ps; ++slice)
      if (slice->from_ps >= record.start_ps && slice->to_ps <= record.end_ps)
        slice->op = step.source_op;
  }
}

sim::TraceSignal busy_signal(const sim::TraceTrack& track) {
  sim::TraceSignal out{track.name + ".busy", sim::SignalKind::kLine, {}};
  for (const sim::TraceSlice& slice : track.slices) {
    const std::uint64_t from = std::min(slice.issued_ps, slice.from_ps);
    if (slice.to_ps <= from) continue;
    while (!out.changes.empty() && out.changes.back().first >= from) out.changes.pop_back();
    if (out.changes.empty() || out.changes.back().second == 0) out.changes.emplace_back(from, 1);
    out.changes.emplace_back(slice.to_ps, 0);
  }
  return out;
}

}  // namespace

TraceView view_of(const sim::Trace& trace, const Simulation& simulation, const Report& report) {
  TraceView out;
  std::vector<int> place(trace.tracks().size(), -1);
  for (std::size_t i = 0; i < place.size(); ++i) {
    if (trace.tracks()[i].slices.empty()) continue;
    place[i] = static_cast<int>(out.tracks.size());
    out.tracks.push_back(trace.tracks()[i]);
    if (out.tracks.back().name == "host") give_host_operators(simulation, out.tracks.back());
  }
  for (sim::TraceFence fence : trace.fences()) {
    if (fence.track >= 0) fence.track = place[static_cast<std::size_t>(fence.track)];
    out.fences.push_back(fence);
  }
  for (const OpReport& op : report.ops)
    out.ops.push_back(fmt::format("#{} {} {}", op.index, op.kind, op.name));
  for (const sim::TraceSignal& signal : trace.signals())
    if (!signal.changes.empty()) out.signals.push_back(signal);
  for (const sim::TraceTrack& track : out.tracks)
    if (sim::TraceSignal busy = busy_signal(track); !busy.changes.empty())
      out.signals.push_back(std::move(busy));
  out.memory = memory_spans(out, simulation);
  return out;
}

}  // namespace deputy::tools
