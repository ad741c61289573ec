#include "tools/trace/pftrace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "arch/memory_map.h"
#include "tools/trace/proto_writer.h"

namespace deputy::tools {
namespace {

// Field numbers of perfetto/trace: trace.proto, trace_packet.proto,
// track_event/{track_descriptor,counter_descriptor,track_event, debug_annotation}.proto,
// interned_data/interned_data.proto.
namespace packet {
constexpr std::uint32_t kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInterned = 12,
                        kFlags = 13, kTrack = 60;
}
namespace track {
constexpr std::uint32_t kUuid = 1, kName = 2, kParent = 5, kCounter = 8, kOrdering = 11, kRank = 12;
}
namespace event {
constexpr std::uint32_t kAnnotation = 4, kType = 9, kNameId = 10, kTrack = 11, kValue = 30,
                        kReal = 44, kFlow = 47;
}
namespace note {
constexpr std::uint32_t kNameId = 1, kNumber = 3, kTextId = 17;
}
namespace interned {
constexpr std::uint32_t kEventNames = 2, kNoteNames = 3, kNoteTexts = 29;
}
constexpr std::uint64_t kBegin = 1, kEnd = 2, kInstant = 3, kCount = 4;
constexpr std::uint64_t kExplicitOrder = 3, kStateCleared = 1, kNeedsState = 2;

std::uint64_t to_ns(std::uint64_t ps) { return ps / 1000; }
std::uint64_t flow_id(std::uint64_t timeline, std::uint64_t value) {
  return (timeline + 1) << 56 | (value & 0xFFFFFFFFFFFFFF);
}

class Writer {
 public:
  explicit Writer(const std::string& name) {
    ProtoWriter first, descriptor;
    descriptor.number(track::kUuid, kRoot)
        .text(track::kName, name)
        .number(track::kOrdering, kExplicitOrder);
    first.number(packet::kSequence, kSequenceId)
        .number(packet::kFlags, kStateCleared)
        .message(packet::kTrack, descriptor);
    file_.message(1, first);
  }

  std::uint64_t add_track(const std::string& name, const char* unit = nullptr) {
    const std::uint64_t uuid = kRoot + ++tracks_;
    ProtoWriter out, descriptor;
    descriptor.number(track::kUuid, uuid)
        .text(track::kName, name)
        .number(track::kParent, kRoot)
        .number(track::kRank, tracks_);
    if (unit) descriptor.message(track::kCounter, ProtoWriter().text(6, unit));
    out.number(packet::kSequence, kSequenceId)
        .number(packet::kFlags, kNeedsState)
        .message(packet::kTrack, descriptor);
    file_.message(1, out);
    return uuid;
  }

  /// Texts that packets name by number; the packet that uses a new one brings it.
  std::uint64_t id(std::uint32_t kind, const std::string& text) {
    const auto [it, fresh] = ids_[kind].try_emplace(text, ids_[kind].size() + 1);
    if (fresh) fresh_.message(kind, ProtoWriter().number(1, it->second).text(2, text));
    return it->second;
  }

  ProtoWriter number(const char* name, std::uint64_t value) {
    return ProtoWriter()
        .number(note::kNameId, id(interned::kNoteNames, name))
        .number(note::kNumber, value);
  }
  ProtoWriter text(const char* name, const std::string& value) {
    return ProtoWriter()
        .number(note::kNameId, id(interned::kNoteNames, name))
        .number(note::kTextId, id(interned::kNoteTexts, value));
  }

  void put(std::uint64_t at_ps, const ProtoWriter& what) {
    ProtoWriter out;
    out.number(packet::kTimestamp, to_ns(at_ps))
        .number(packet::kSequence, kSequenceId)
        .number(packet::kFlags, kNeedsState);
    if (!fresh_.bytes().empty()) out.message(packet::kInterned, fresh_);
    fresh_ = {};
    file_.message(1, out.message(packet::kTrackEvent, what));
  }

  const std::string& bytes() const { return file_.bytes(); }

 private:
  static constexpr std::uint64_t kRoot = 1, kSequenceId = 1;
  ProtoWriter file_, fresh_;
  std::uint64_t tracks_ = 0;
  std::map<std::uint32_t, std::map<std::string, std::uint64_t>> ids_;
};

// Signals and waits of timelines by track and time: a job's arrows.
std::vector<std::uint64_t> flows_of(const TraceView& view, int track, const sim::TraceSlice& job) {
  std::vector<std::uint64_t> out;
  for (const sim::TraceFence& fence : view.fences)
    if (fence.track == track && fence.at_ps == (fence.signalled ? job.to_ps : job.issued_ps))
      out.push_back(flow_id(fence.timeline, fence.value));
  return out;
}

ProtoWriter begin_of(Writer& w, const TraceView& view, std::uint64_t uuid,
                     const sim::TraceSlice& slice) {
  const bool has_op = slice.op >= 0 && slice.op < static_cast<std::int64_t>(view.ops.size());
  const std::string name(slice.what);
  ProtoWriter out;
  out.number(event::kType, kBegin).number(event::kTrack, uuid);
  out.number(event::kNameId,
             w.id(interned::kEventNames, has_op ? fmt::format("{} #{}", name, slice.op) : name));
  out.message(event::kAnnotation,
              w.text("source_op", has_op ? view.ops[static_cast<std::size_t>(slice.op)] : "none"));
  out.message(event::kAnnotation, w.number("command", slice.command));
  out.message(event::kAnnotation, w.number("bytes", slice.bytes));
  if (slice.macs) out.message(event::kAnnotation, w.number("macs", slice.macs));
  if (slice.region >= 0)
    out.message(event::kAnnotation, w.number("region", static_cast<std::uint64_t>(slice.region)));
  if (slice.region >= 0) out.message(event::kAnnotation, w.number("offset", slice.offset));
  if (slice.issued_ps < slice.from_ps)
    out.message(event::kAnnotation, w.number("issued_ps", slice.issued_ps));
  out.message(event::kAnnotation, w.number("start_ps", slice.from_ps));
  return out.message(event::kAnnotation, w.number("duration_ps", slice.to_ps - slice.from_ps));
}

void put_tracks(Writer& w, const TraceView& view) {
  for (std::size_t t = 0; t < view.tracks.size(); ++t) {
    const std::uint64_t uuid = w.add_track(view.tracks[t].name);
    const bool jobs = view.tracks[t].name.ends_with(".queue");
    for (const sim::TraceSlice& slice : view.tracks[t].slices) {
      ProtoWriter begin = begin_of(w, view, uuid, slice);
      if (jobs)
        for (const std::uint64_t flow : flows_of(view, static_cast<int>(t), slice))
          begin.fixed64(event::kFlow, flow);
      w.put(slice.from_ps, begin);
      w.put(slice.to_ps, ProtoWriter().number(event::kType, kEnd).number(event::kTrack, uuid));
    }
  }
}

// Points on timelines as instants, with the arrows from who signalled them to who waited.
void put_fences(Writer& w, const TraceView& view) {
  std::map<std::uint64_t, std::uint64_t> uuids;
  for (const sim::TraceFence& fence : view.fences)
    if (fence.signalled && !uuids.contains(fence.timeline))
      uuids[fence.timeline] = w.add_track(fmt::format("timeline {}", fence.timeline));
  for (const sim::TraceFence& fence : view.fences) {
    if (!fence.signalled) continue;
    ProtoWriter out;
    out.number(event::kType, kInstant).number(event::kTrack, uuids[fence.timeline]);
    out.number(event::kNameId, w.id(interned::kEventNames, "signal"));
    out.message(event::kAnnotation, w.number("value", fence.value));
    out.message(
        event::kAnnotation,
        w.text("by",
               fence.track < 0 ? "host" : view.tracks[static_cast<std::size_t>(fence.track)].name));
    w.put(fence.at_ps, out.fixed64(event::kFlow, flow_id(fence.timeline, fence.value)));
  }
}

void put_signals(Writer& w, const sim::Trace& trace) {
  for (const sim::TraceSignal& signal : trace.signals()) {
    if (signal.changes.empty() || signal.kind == sim::SignalKind::kTimeline) continue;
    const bool instants = signal.kind == sim::SignalKind::kPulse || signal.name.starts_with("irq.");
    const std::uint64_t uuid = w.add_track(signal.name, instants ? nullptr : "entries");
    for (const auto& [at, value] : signal.changes) {
      ProtoWriter out;
      out.number(event::kTrack, uuid);
      if (!instants) {
        w.put(at, out.number(event::kType, kCount).number(event::kValue, value));
      } else if (value != 0) {
        out.number(event::kType, kInstant)
            .number(event::kNameId, w.id(interned::kEventNames, signal.name));
        w.put(at, out);
      }
    }
  }
}

void put_counter(Writer& w, const std::string& name, const char* unit, std::uint64_t interval_ps,
                 const std::vector<double>& values) {
  const std::uint64_t uuid = w.add_track(name, unit);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (i == 0 || values[i] != values[i - 1])
      w.put(i * interval_ps, ProtoWriter()
                                 .number(event::kType, kCount)
                                 .number(event::kTrack, uuid)
                                 .real(event::kReal, values[i]));
}

void put_counters(Writer& w, const sim::Trace& trace, const Report& report) {
  for (const sim::TraceTraffic& memory : trace.traffic())
    for (int write = 0; write < 2; ++write) {
      std::vector<double> values;
      for (const std::uint64_t bytes : memory.bytes[static_cast<std::size_t>(write)])
        values.push_back(static_cast<double>(bytes) * 1e6 /
                         static_cast<double>(memory.interval_ps));
      if (!values.empty())
        values.push_back(0), put_counter(w, memory.name + (write ? " write" : " read"), "MB/s",
                                         memory.interval_ps, values);
    }
  const soc::PowerTrace& power = report.power_trace;
  std::vector<double> total;
  const auto mw = [&](double nj, std::size_t i) {
    return power.length_ps(i) ? nj * 1e6 / static_cast<double>(power.length_ps(i)) : 0;
  };
  for (std::size_t i = 0; i < power.intervals(); ++i) total.push_back(mw(power.total_nj(i), i));
  put_counter(w, "power", "mW", power.interval_ps, total);
  for (const auto& [component, nj] : power.nj) {
    std::vector<double> values;
    for (std::size_t i = 0; i < nj.size(); ++i) values.push_back(mw(nj[i], i));
    put_counter(w, "power." + component, "mW", power.interval_ps, values);
  }
}

}  // namespace

std::string pftrace(const TraceView& view, const sim::Trace& trace, const Report& report) {
  Writer w(fmt::format("{} on {}", report.model, report.soc));
  put_tracks(w, view);
  put_fences(w, view);
  put_signals(w, trace);
  put_counters(w, trace, report);
  return w.bytes();
}

}  // namespace deputy::tools
