// A report as JSON, and back.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "tools/json_archive.h"
#include "tools/json_text.h"
#include "tools/report.h"

namespace deputy::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "deputy-report-1";

constexpr auto traffic_fields = [](auto& a, auto& count) {
  a.value("read", count.read_bytes), a.value("write", count.write_bytes),
      a.value("transactions", count.transactions);
};

template <class A, class B>
void bounds_fields(A& a, B& bounds) {
  a.object_if(bounds.cycles() > 0, "bound_cycles", [&](auto& in) {
    in.value("compute", bounds.compute), in.value("scratchpad", bounds.scratchpad),
        in.value("decoder", bounds.decoder);
    in.value("sram", bounds.sram), in.value("dram", bounds.dram),
        in.derived("largest", bounds.cycles());
  });
}

template <class A, class O>
void op_fields(A& a, O& op) {
  a.value("index", op.index), a.value("name", op.name), a.value("kind", op.kind),
      a.value("engine", op.engine);
  a.value("start_ns", op.start_ns), a.value("latency_ns", op.latency_ns);
  a.value("cycles", op.cycles), a.value("own_cycles", op.own_cycles);
  a.value("macs", op.macs), a.value("mac_utilisation", op.mac_utilisation);
  a.object("bytes", [&](auto& in) {
    in.value("load", op.load_bytes), in.value("store", op.store_bytes),
        in.value("weights", op.weight_bytes), in.value("decoded", op.decoded_bytes);
  });
  a.value("energy_nj", op.energy_nj), a.value("energy_by_component_nj", op.energy_by_component_nj),
      a.value("bound", op.bound);
  bounds_fields(a, op.bounds);
  if (op.bounds.cycles() > 0) a.derived("bound_ratio", op.bound_ratio());
  a.object_if(op.dsp.has_value(), "dsp", [&](auto& in) {
    if constexpr (A::kReads) op.dsp.emplace();
    DspTime::fields(*op.dsp, [&](auto& count, const char* name) { in.value(name, count); });
  });
  a.value_if(op.fused_into >= 0, "fused_into", op.fused_into);
  a.value_if(!op.tiles.empty(), "tiles", op.tiles);
  a.value_if(!op.reason.empty(), "reason", op.reason);
}

template <class A, class P>
void provenance_fields(A& a, P& p) {
  a.object_if(p.cache.state != "off", "cache", [&](auto& in) {
    in.value("state", p.cache.state), in.value("key", p.cache.key), in.value("note", p.cache.text);
  });
  a.object_if(!p.quirk_files.empty(), "quirks", [&](auto& in) {
    in.list("files", p.quirk_files, [](auto& f, auto& file) {
      std::size_t entries = file.quirks.size();
      f.value("file", file.path), f.value("sha256", file.sha256), f.value("entries", entries);
      if constexpr (A::kReads) file.quirks.resize(entries);  // what they say is not in the report
    });
    in.list("applied", p.quirks, [](auto& f, auto& q) {
      f.value("id", q.id), f.value("file", q.file), f.value("sha256", q.sha256),
          f.value("action", q.action), f.value("reason", q.reason);
      f.value("ops", q.ops);
    });
  });
  a.value_if(!p.notes.empty(), "notes", p.notes);
}

template <class A, class R>
void power_fields(A& a, R& r) {
  a.object("power", [&](auto& in) {
    auto& p = r.power;
    in.value("volts", p.volts), in.value("average_mw", p.average_mw),
        in.value("peak_mw", p.peak_mw), in.value("peak_start_ns", p.peak_start_ns);
    in.value("inference_nj", p.inference_nj), in.value("inference_mw", p.inference_mw),
        in.value("interval_ns", p.interval_ns);
    std::vector<double> by_interval;
    for (std::size_t i = 0; i < r.power_trace.intervals(); ++i)
      by_interval.push_back(r.power_trace.total_nj(i));
    in.value("nj_by_interval", by_interval);
    if constexpr (A::kReads)
      r.power_trace.nj["all"] = by_interval;  // components over time are the page's
  });
  a.object_if(r.battery.has_value(), "battery", [&](auto& in) {
    if constexpr (A::kReads) r.battery.emplace();
    auto& b = *r.battery;
    in.value("mah", b.mah), in.value("volts", b.volts), in.value("efficiency", b.efficiency),
        in.value("period_ms", b.period_ms);
    in.value("active_ms", b.active_ms), in.value("active_uj", b.active_uj),
        in.value("idle_uj", b.idle_uj), in.value("sleep_mw", b.sleep_mw);
    in.value("duty", b.duty), in.value("average_mw", b.average_mw), in.value("hours", b.hours);
  });
}

template <class A, class R>
void energy_fields(A& a, R& r) {
  a.object("energy_nj", [&](auto& in) {
    if constexpr (A::kReads) {
      r.energy_nj = in.json().template get<std::map<std::string, double>>();
      r.total_energy_nj = in.json().at("total");
      r.energy_nj.erase("total");
    } else {
      for (const auto& [component, nj] : r.energy_nj) in.value(component.c_str(), nj);
      in.value("total", r.total_energy_nj);
    }
  });
  a.value("energy_by_cause_nj", r.energy_by_cause_nj),
      a.value("energy_by_basis_nj", r.energy_by_basis_nj);
  a.list("energy_rows", r.energy_rows, [](auto& in, auto& row) {
    in.value("row", row.row), in.value("nj", row.nj), in.value("basis", row.basis),
        in.value("source", row.source);
  });
}

host_runtime::RecoveryStep step_named(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(host_runtime::RecoveryStep::kToCpu); ++i)
    if (name == host_runtime::recovery_step_name(static_cast<host_runtime::RecoveryStep>(i)))
      return static_cast<host_runtime::RecoveryStep>(i);
  throw nlohmann::json::other_error::create(501, "'" + name + "' is no step of a recovery",
                                            nullptr);
}

template <class A, class R>
void failure_fields(A& a, R& r) {
  a.value_if(!r.failure.empty(), "failure", r.failure);
  a.object_if(r.recover != "none" || !r.recovery.empty(), "recovery", [&](auto& in) {
    in.value("policy", r.recover), in.value("bound_ns", r.bound_ns),
        in.value("restarts", r.restarts), in.value("programs_on_cpu", r.degraded);
    in.list("steps", r.recovery, [](auto& s, auto& e) {
      std::string step = host_runtime::recovery_step_name(e.step);
      s.ns("time_ns", e.time_ps), s.value("step", step), s.value("engine", e.engine),
          s.value("what", e.what);
      if constexpr (A::kReads) e.step = step_named(step);
    });
  });
  a.list_if(!r.faults.empty(), "faults", r.faults, [](auto& in, auto& f) {
    in.value("kind", f.kind), in.value("target", f.target), in.value("fired", f.fired);
  });
  a.list_if(!r.faults.empty(), "fault_events", r.fault_events, [](auto& in, auto& e) {
    in.value("kind", e.kind), in.value("target", e.target), in.ns("time_ns", e.time_ps),
        in.value("address", e.address);
  });
}

// Responses are told by three ranks; read back there are a hundred of them that have these.
template <class A, class T>
void response_fields(A& a, T& t) {
  a.object_if(!t.response_ps.empty(), "response_ns", [&](auto& in) {
    std::uint64_t p50 = t.response_at(0.5), p99 = t.response_at(0.99), most = t.response_at(1);
    in.ns("p50", p50), in.ns("p99", p99), in.ns("most", most);
    if constexpr (A::kReads) {
      t.response_ps.assign(100, p50);
      std::fill(t.response_ps.begin() + 50, t.response_ps.end(), p99), t.response_ps.back() = most;
    }
  });
}

// Times from the first frame's preparation on; what was at work before begins earlier than 0.
template <class A, class T>
void busy_fields(A& a, T& t) {
  using Intervals = std::map<std::string, std::vector<std::array<double, 3>>>;
  if constexpr (A::kReads) {
    const auto busy = a.json().value("busy_ns", Intervals());
    double first = 0;
    for (const auto& [engine, rows] : busy)
      for (const auto& row : rows) first = std::min(first, row[0]);
    const auto ps = [](double ns) { return static_cast<std::uint64_t>(std::llround(ns * 1000)); };
    t.from_ps = ps(-first), t.to_ps += t.from_ps;
    for (const auto& [engine, rows] : busy)
      for (const auto& row : rows)
        t.busy[engine].push_back({ps(row[0] - first), ps(row[1] - first), ps(row[2])});
  } else {
    const auto from = static_cast<double>(t.from_ps);
    Intervals busy;
    for (const auto& [engine, intervals] : t.busy)
      for (const auto& i : intervals)
        busy[engine].push_back({(static_cast<double>(i.start_ps) - from) / 1000,
                                (static_cast<double>(i.end_ps) - from) / 1000,
                                static_cast<double>(i.busy_ps) / 1000});
    a.value_if(!busy.empty(), "busy_ns", busy);
  }
}

template <class A, class R>
void report_fields(A& a, R& r, bool with_wall) {
  a.value("model", r.model), a.value("soc", r.soc), a.value("executable_hash", r.executable_hash),
      a.value("numerics", r.numerics);
  a.value("engine", r.engine), a.value("timing_only", r.timing_only),
      a.value("latency_ns", r.latency_ns), a.value("total_ns", r.total_ns);
  a.object("cycles", [&](auto& in) {
    in.value("npu", r.npu_cycles), in.value("npu_busy", r.npu_busy_cycles),
        in.value("host", r.host_cycles), in.value("dsp_busy", r.dsp_busy_cycles);
  });
  a.object("macs", [&](auto& in) { in.value("total", r.macs), in.value("npu", r.npu_macs); });
  a.value("mac_utilisation", r.mac_utilisation);
  a.object("target", [&](auto& in) {
    auto& t = r.target;
    in.value("npu_clock_mhz", t.npu_clock_mhz), in.value("host_clock_mhz", t.host_clock_mhz),
        in.value("dsp_clock_mhz", t.dsp_clock_mhz);
    in.value("macs_per_cycle", t.macs_per_cycle), in.value("sram_bytes_per_cycle", t.rates.sram),
        in.value("dram_bytes_per_cycle", t.rates.dram);
    in.value("sram_bytes", t.sram_bytes), in.value("sram_used_bytes", t.sram_used_bytes);
  });
  provenance_fields(a, r.provenance);
  bounds_fields(a, r.bounds);
  if (r.bounds.cycles() > 0) a.derived("bound_ratio", r.bound_ratio());
  energy_fields(a, r);
  power_fields(a, r);
  a.object_if(!r.dram_device.empty(), "dram", [&](auto& in) {
    in.value("device", r.dram_device), in.value("utilisation", r.dram_utilisation);
  });
  a.map("bytes", r.memory_bytes, traffic_fields);
  if constexpr (A::kReads) {
    for (const auto& [initiator, targets] : a.json().at("bytes_by_initiator").items()) {
      JsonReader in(a.json().at("bytes_by_initiator"));
      in.map(initiator.c_str(), r.initiator_bytes[initiator], traffic_fields);
    }
  } else {
    JsonWriter in(a.json()["bytes_by_initiator"] = Json::object());
    for (auto& [initiator, targets] : r.initiator_bytes)
      if (!targets.empty()) in.map(initiator.c_str(), targets, traffic_fields);
  }
  a.object("npu_dram_bytes", [&](auto& in) {
    in.value("feature_maps", r.dram_map_bytes), in.value("weights", r.dram_weight_bytes);
  });
  a.value("copied_bytes", r.copied_bytes), a.value("interrupts", r.interrupts),
      a.value("kernel_events", r.kernel_events);
  a.value_if(with_wall, "sim_wall_ms", r.sim_wall_ms);
  a.value("counters", r.counters);
  a.list("ops", r.ops, [](auto& in, auto& op) { op_fields(in, op); });
  failure_fields(a, r);
  a.object_if(r.frames.has_value(), "frames", [&](auto& in) {
    if constexpr (A::kReads) r.frames.emplace();
    auto& t = *r.frames;
    std::uint64_t duration_ps = t.to_ps - t.from_ps;
    in.value("frames", t.frames), in.value("in_flight", t.in_flight),
        in.ns("duration_ns", duration_ps);
    if constexpr (A::kReads) t.to_ps = duration_ps;
    response_fields(in, t);
    in.value_if(!t.utilisation.empty(), "utilisation", t.utilisation);
    busy_fields(in, t);
  });
  a.value("imbalances", r.imbalances);
}

}  // namespace

std::string report_json(const Report& r, bool reproducible) {
  Json out = Json::object();
  JsonWriter writer(out);
  report_fields(writer, r, !reproducible);
  return json_text(kFormat, out);
}

base::Result<Report> report_of_json(const Json& json, const std::string& path) {
  const auto bad = [&](std::string what) {
    return base::Error{base::ErrorKind::kInput, path, std::move(what),
                       "write one with deputy run MODEL --report FILE.json"};
  };
  try {
    if (!json.is_object() || json.value("format", "") != kFormat)
      return bad("is no report of deputy run");
    Report out;
    out.recover = "none";
    JsonReader reader(json);
    report_fields(reader, out, true);
    out.power_trace.interval_ps =
        static_cast<std::uint64_t>(std::llround(out.power.interval_ns * 1000));
    out.power_trace.end_ps = static_cast<std::uint64_t>(std::llround(out.total_ns * 1000));
    return out;
  } catch (const nlohmann::json::exception& e) {
    return bad(fmt::format("is no whole report of this version: {}", e.what()));
  }
}

}  // namespace deputy::tools
