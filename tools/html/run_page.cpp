#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "arch/memory_map.h"
#include "tools/bounds.h"
#include "tools/html/packed.h"
#include "tools/html/page.h"

namespace deputy::tools {
namespace {

using Json = nlohmann::ordered_json;

// About 12 bytes each: beyond these a page would outgrow 5 MB.
constexpr std::size_t kMostSlices = 150'000;
constexpr std::size_t kMostChanges = 20'000;
constexpr const char* kFormat = "deputy-run-page-1";

double ns(std::uint64_t ps) { return static_cast<double>(ps) / 1000; }

struct Drawn {
  sim::TraceSlice slice;
  std::uint64_t commands = 1, busy_ps = 0;
};

// Neighbours of the same operator and kind with a gap of at most `gap_ps` between them are one.
std::vector<Drawn> drawn(const sim::TraceTrack& track, std::uint64_t gap_ps, bool merge) {
  std::vector<Drawn> out;
  for (const sim::TraceSlice& slice : track.slices) {
    const std::uint64_t busy = slice.to_ps - slice.from_ps;
    if (merge && !out.empty() && out.back().slice.op == slice.op &&
        out.back().slice.what == slice.what && slice.from_ps <= out.back().slice.to_ps + gap_ps) {
      Drawn& last = out.back();
      last.slice.to_ps = slice.to_ps, last.slice.bytes += slice.bytes,
      last.slice.macs += slice.macs;
      ++last.commands, last.busy_ps += busy;
    } else {
      out.push_back({slice, 1, busy});
    }
  }
  return out;
}

// Numbers of a slice: gap since the one before, duration, kind, operator + 1, bytes, MACs, command,
// commands, busy time.
Json packed_track(const sim::TraceTrack& track, const std::vector<Drawn>& slices,
                  std::map<std::string_view, std::size_t>& kinds) {
  PackedNumbers numbers;
  std::uint64_t now = 0;
  for (const Drawn& d : slices) {
    const sim::TraceSlice& s = d.slice;
    numbers.add(s.from_ps - now), numbers.add(s.to_ps - s.from_ps);
    numbers.add(kinds.try_emplace(s.what, kinds.size()).first->second);
    numbers.add(static_cast<std::uint64_t>(s.op + 1)), numbers.add(s.bytes), numbers.add(s.macs),
        numbers.add(s.command);
    numbers.add(d.commands), numbers.add(s.to_ps - s.from_ps - d.busy_ps);
    now = s.to_ps;
  }
  return {{"name", track.name},
          {"slices", slices.size()},
          {"commands", track.slices.size()},
          {"data", numbers.text()}};
}

Json timeline_json(const TraceView& view, const sim::Trace& trace, const Simulation& s) {
  std::vector<std::vector<Drawn>> slices;
  std::size_t count = 0;
  for (const auto& track : view.tracks)
    slices.push_back(drawn(track, 0, false)), count += slices.back().size();
  std::uint64_t gap = 0;
  const bool merged = count > kMostSlices;
  for (gap = 1000; merged && count > kMostSlices; gap *= 4) {
    count = 0;
    for (std::size_t t = 0; t < slices.size(); ++t)
      slices[t] = drawn(view.tracks[t], gap, true), count += slices[t].size();
    if (gap > s.soc.end_ps) break;
  }
  Json tracks = Json::array(), fences = Json::array(), signals = Json::array();
  std::map<std::string_view, std::size_t> kinds;
  for (std::size_t t = 0; t < slices.size(); ++t)
    tracks.push_back(packed_track(view.tracks[t], slices[t], kinds));
  std::vector<std::string> names(kinds.size());
  for (const auto& [name, n] : kinds) names[n] = name;
  for (const sim::TraceFence& f : view.fences) {
    if (fences.size() >= kMostChanges) break;
    fences.push_back({ns(f.at_ps), f.timeline, f.value, f.track, f.signalled ? 1 : 0});
  }
  std::size_t changes = 0;
  for (const sim::TraceSignal& signal : view.signals) {
    if (!signal.name.starts_with("irq.") && signal.kind != sim::SignalKind::kPulse) continue;
    Json times = Json::array();
    for (const auto& [at, value] : signal.changes)
      if (value && ++changes <= kMostChanges) times.push_back(ns(at));
    signals.push_back({{"name", signal.name}, {"at_ns", times}});
  }
  return {{"inference_ns", {ns(s.inference.start_ps), ns(s.inference.end_ps)}},
          {"end_ns", ns(s.soc.end_ps)},
          {"merged_gap_ns", merged ? ns(gap / 4) : 0.0},
          {"dropped", trace.dropped()},
          {"kinds", names},
          {"tracks", tracks},
          {"fences", fences},
          {"signals", signals}};
}

Json traffic_json(const sim::Trace& trace) {
  Json out = Json::array();
  for (const sim::TraceTraffic& t : trace.traffic())
    out.push_back({{"memory", t.name},
                   {"interval_ns", ns(t.interval_ps)},
                   {"read", t.bytes[0]},
                   {"write", t.bytes[1]}});
  return out;
}

Json power_json(const soc::PowerTrace& power) {
  Json components = Json::object();
  for (const auto& [component, nj] : power.nj) {
    Json values = Json::array();
    for (std::size_t i = 0; i < nj.size();
         ++i)  // a hundredth of a microwatt is below every row's uncertainty
      values.push_back(std::round(power.length_ps(i)
                                      ? nj[i] * 1e11 / static_cast<double>(power.length_ps(i))
                                      : 0) /
                       1e5);
    components[component] = values;
  }
  return {{"interval_ns", ns(power.interval_ps)}, {"mw", components}};
}

Json memory_json(const TraceView& view, const Simulation& s) {
  Json regions = Json::array(), spans = Json::array();
  for (int r = 0; r < arch::kRegionCount; ++r) {
    const auto region = static_cast<arch::Region>(r);
    constexpr const char* kNames[] = {"constants", "fast arena", "slow arena"};
    const std::uint64_t bytes = s.executable.region_bytes(region);
    if (bytes == 0) continue;
    regions.push_back({{"region", r},
                       {"name", arch::is_external(region)
                                    ? "external " + std::to_string(arch::external_index(region))
                                    : kNames[r]},
                       {"memory", s.executable.region_in_sram(region) ? "SRAM" : "DRAM"},
                       {"bytes", bytes}});
  }
  for (const MemorySpan& m : view.memory)
    spans.push_back({m.region, m.op, m.what, ns(m.from_ps), ns(m.to_ps), m.offset, m.bytes});
  return {{"regions", regions}, {"spans", spans}};
}

}  // namespace

Json run_page_data(const TraceView& view, const sim::Trace& trace, const Simulation& simulation,
                   const Report& report, const soc::SocConfig& soc) {
  const MemoryRates rates = memory_rates(soc);
  return Json{{"format", kFormat},
              {"machine",
               {{"macs_per_cycle", simulation.executable.target.mac.per_cycle()},
                {"npu_clock_mhz", report.target.npu_clock_mhz},
                {"sram_bytes_per_cycle", rates.sram},
                {"dram_bytes_per_cycle", rates.dram}}},
              {"timeline", timeline_json(view, trace, simulation)},
              {"traffic", traffic_json(trace)},
              {"power", power_json(report.power_trace)},
              {"memory", memory_json(view, simulation)}};
}

base::Result<std::string> run_page(Json report, const Json& data, const std::string& path) {
  const auto lacks = [&](const std::string& what) {
    return base::Error{base::ErrorKind::kInput, path, what,
                       "write it with deputy run MODEL --report FILE.json --page-data"};
  };
  if (!data.is_object()) return lacks("has no timeline, no traffic, power and memory over time");
  if (data.value("format", "") != kFormat) return lacks("has the page's data of another version");
  for (const char* part : {"machine", "timeline", "traffic", "power", "memory"})
    if (!data.contains(part)) return lacks(std::string("has no ") + part + " in its page's data");
  report.erase("sim_wall_ms");  // a page is the same each time
  Json out = {{"format", kFormat}, {"report", std::move(report)}};
  for (const auto& [name, value] : data.items()) out[name] = value;
  return page_with(out.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace deputy::tools
