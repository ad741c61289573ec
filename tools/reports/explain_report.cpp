#include "tools/reports/explain_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "tools/table.h"

namespace deputy::tools {
namespace {

constexpr double kWorthIt = 0.01;    // of the latency or the energy: less is not told
constexpr std::size_t kWorst = 3;    // layers named
constexpr std::size_t kReasons = 3;  // reasons for the CPU named

using arch::Engine;
using Layers = std::vector<std::size_t>;

std::string waiting(const Layers& layers) {
  return layers.size() == 1 ? "1 layer waits" : fmt::format("{} layers wait", layers.size());
}

double time_of(const ReportFile& r, const Layers& layers) {
  double out = 0;
  for (const std::size_t i : layers) out += r.layers[i].own_ns;
  return out;
}

std::vector<std::string> worst(const ReportFile& r, Layers layers) {
  std::ranges::stable_sort(layers, std::greater(),
                           [&](std::size_t i) { return r.layers[i].own_ns; });
  std::vector<std::string> out;
  for (std::size_t i = 0; i < std::min(kWorst, layers.size()); ++i)
    out.push_back(
        fmt::format("{} {}", r.layer_text(layers[i]), human_time(r.layers[layers[i]].own_ns)));
  return out;
}

// What can be gained of the NPU's time when something changes that leaves `computing` of the cycles
// that each layer computes (1, unless it is the computing that changes) and `bounds` of all work
// together. Any layer may get faster: those that are held up by something else wait for the changed
// resource, too, now and then. What a layer computes is part of its own time, so it stays.
double saves(const ReportFile& r, const Bounds& bounds, double computing) {
  double least = bounds.cycles(), computes = 0;
  for (const ReportedLayer& l : r.layers)
    if (l.ran_on(Engine::kNpu)) computes += std::min(l.own_cycles, l.bounds.compute * computing);
  least = std::max(least, computes);
  return r.ns_of_npu(std::max(0.0, r.npu_busy_cycles - least));
}

// What a word of the report's column "bound" is about: the resource, and whose knobs they are.
struct Resource {
  const char* id;
  const char* word;  ///< in reports
  double Bounds::*cycles;
  const char* what;
  const char* advice;
};
constexpr Resource kResources[] = {
    {"dram", "DRAM", &Bounds::dram, " for DRAM",
     "raise its bandwidth (dram.*, noc.width_bytes), keep more in SRAM (sram.bytes), compress "
     "weights, or make the layers smaller"},
    {"sram", "SRAM", &Bounds::sram, " for the SRAM",
     "raise its bandwidth (sram.width_bytes, noc.width_bytes, noc.clock_mhz)"},
    {"compute", "compute", &Bounds::compute, " for the MAC array",
     "give it more lanes (npu.mac.oc_lanes, ic_lanes, pixels) or a faster clock (npu.clock_mhz)"},
    {"vector", "vector", &Bounds::compute, " for the vector units",
     "give them more lanes (npu.vec.out_lanes, ew_lanes, pool_lanes) or a faster clock "
     "(npu.clock_mhz)"},
    {"scratchpad", "scratchpad", &Bounds::scratchpad, " for the scratchpad",
     "give it more ports or width (npu.spm.*)"},
    {"decoder", "decoder", &Bounds::decoder, " for the weight decoder",
     "give it more lanes (npu.wdec.bytes_per_cycle)"},
};

std::string utilisation_text(const ReportFile& r) {
  return r.npu_macs > 0 ? fmt::format("; over all jobs the MAC array is used at {}",
                                      percent(r.mac_utilisation, 1))
                        : "";
}

void resource(const ReportFile& r, const Resource& what, Explanation& out) {
  Layers layers;
  double moved = 0;
  for (std::size_t i = 0; i < r.layers.size(); ++i)
    if (r.layers[i].ran_on(Engine::kNpu) && r.layers[i].bound == what.word)
      layers.push_back(i), moved += r.layers[i].bytes();
  if (layers.empty()) return;
  const bool computing = what.cycles == &Bounds::compute;
  Finding f{what.id, time_of(r, layers), 0, "", what.advice, {}, worst(r, layers)};
  const auto with = [&](double part) {  // of the resource's cycles are left
    Bounds b = r.bounds;
    b.*what.cycles *= part;
    return saves(r, b, computing ? part : 1);
  };
  f.saves = with(0);
  f.what_ifs.push_back({"that twice as fast", with(0.5)});
  f.what = waiting(layers) + what.what;
  if (f.id == "dram") {
    f.what += fmt::format(
        ": the NPU moves {} of weights and {} of feature maps there, {:.3g} bytes a cycle at most",
        human_bytes(r.dram_weight_bytes), human_bytes(r.dram_map_bytes),
        r.target.dram_bytes_per_cycle);
    if (r.dram_map_bytes > 0) {
      Bounds b = r.bounds;
      b.dram -= r.dram_map_bytes / r.target.dram_bytes_per_cycle,
          b.sram += r.dram_map_bytes / r.target.sram_bytes_per_cycle;
      f.what_ifs.push_back(
          {fmt::format("SRAM for all feature maps (it has {}, {} of them used)",
                       human_bytes(r.target.sram_bytes), human_bytes(r.target.sram_used_bytes)),
           saves(r, b, 1)});
    }
  } else if (f.id == "compute") {
    f.what += utilisation_text(r);
  } else {
    f.what += fmt::format("; they move {}", human_bytes(moved));
  }
  out.time.push_back(std::move(f));
}

// Layers in which no resource is busy half of the time.
void latency(const ReportFile& r, Explanation& out) {
  Layers layers;
  double bound = 0;
  for (std::size_t i = 0; i < r.layers.size(); ++i)
    if (r.layers[i].bound == "latency") layers.push_back(i), bound += r.layers[i].bounds.cycles();
  if (layers.empty()) return;
  Finding f{"latency",
            time_of(r, layers),
            saves(r, r.bounds, 1),
            fmt::format("{} mostly for something to begin: no resource is busy half of the time "
                        "({} of {} cycles)",
                        waiting(layers), static_cast<std::uint64_t>(bound),
                        static_cast<std::uint64_t>(time_of(r, layers) * r.target.npu_mhz / 1000)),
            "they are too small for their start-up: fuse or merge them, compile with --effort "
            "full, or lower the memories' latency (noc.latency, sram.latency)",
            {},
            worst(r, layers)};
  out.time.push_back(std::move(f));
}

void fallbacks(const ReportFile& r, Explanation& out) {
  Layers layers;
  std::map<std::string, double> reasons;
  for (std::size_t i = 0; i < r.layers.size(); ++i) {
    if (!r.layers[i].ran_on(Engine::kCpu)) continue;
    layers.push_back(i);
    reasons[r.layers[i].reason] += r.layers[i].own_ns;
  }
  if (layers.empty()) return;
  std::vector<std::pair<std::string, double>> sorted(reasons.begin(), reasons.end());
  std::ranges::stable_sort(sorted, std::greater(), &std::pair<std::string, double>::second);
  Finding f{
      "cpu",
      time_of(r, layers),
      time_of(r, layers),
      fmt::format("{} operator{} run on the CPU", layers.size(), layers.size() == 1 ? "" : "s"),
      fmt::format("change the network so that the NPU takes them ('deputy check MODEL' and "
                  "docs/constraints.md say what it takes), or give the CPU a faster clock "
                  "(host.clock_mhz){}",
                  r.target.dsp_mhz > 0
                      ? ""
                      : "; a DSP (dsp.present) takes SOFTMAX, RESIZE_* and some convolutions"),
      {},
      worst(r, layers)};
  if (layers.size() == 1) f.what = "1 operator runs on the CPU";
  for (std::size_t i = 0; i < std::min(kReasons, sorted.size()); ++i)
    if (!sorted[i].first.empty())
      f.what +=
          fmt::format("{} {}: {}", i ? ";" : ",", human_time(sorted[i].second), sorted[i].first);
  f.what_ifs.push_back({"a CPU twice as fast", f.takes / 2});
  out.time.push_back(std::move(f));
}

// A job of the DSP moves what it needs and computes by turns, so the two parts of its time add up.
void dsp(const ReportFile& r, Explanation& out) {
  Layers layers;
  double cycles = 0, program = 0, stalls = 0;
  for (std::size_t i = 0; i < r.layers.size(); ++i) {
    const ReportedLayer& l = r.layers[i];
    if (!l.ran_on(Engine::kDsp)) continue;
    layers.push_back(i);
    cycles += static_cast<double>(l.dsp.cycles),
        program += static_cast<double>(l.dsp.program_cycles),
        stalls += static_cast<double>(l.dsp.stall_cycles);
  }
  if (layers.empty() || cycles <= 0) return;
  const double takes = time_of(r, layers), moving = takes * (cycles - program) / cycles;
  Finding f{
      "dsp",
      takes,
      takes,
      fmt::format("{} operator{} on the DSP: {} of {:.0f} DSP cycles run kernels ({} of these are "
                  "stalls), {} move data and programs",
                  layers.size(), layers.size() == 1 ? " runs" : "s run", percent(program, cycles),
                  cycles, percent(stalls, program), percent(cycles - program, cycles)),
      2 * program >= cycles
          ? "a faster clock (dsp.clock_mhz), lower latencies (dsp.latency.*), or another engine "
            "for some of them (--force OPERATOR=npu or =cpu, 'deputy bench engines' compares)"
          : "move the data sooner (noc.width_bytes, noc.clock_mhz, dsp.dma.*, more of it in SRAM: "
            "sram.bytes), or put them on another engine (--force OPERATOR=npu or =cpu)",
      {},
      worst(r, layers)};
  // What moves goes over the bus, which has a clock of its own.
  f.what_ifs.push_back({"a DSP clock twice as fast", takes / 2});
  f.what_ifs.push_back({"data that need not be moved", moving});
  out.time.push_back(std::move(f));
}

std::string jobs_text(double npu, double dsp) {
  const auto some = [](double n, const char* engine) {
    return fmt::format("{:.0f} {} job{}", n, engine, n == 1 ? "" : "s");
  };
  std::string out = npu > 0 || dsp == 0 ? some(npu, "NPU") : "";
  if (dsp > 0) out += (out.empty() ? "" : " and ") + some(dsp, "DSP");
  return out + (npu + dsp == 1 ? " is launched" : " are launched");
}

void runtime(const ReportFile& r, Explanation& out) {
  const double jobs = r.jobs(Engine::kNpu) + r.jobs(Engine::kDsp), ns = r.runtime_ns();
  Finding f{"launch",
            ns,
            ns,
            jobs_text(r.jobs(Engine::kNpu), r.jobs(Engine::kDsp)),
            "fewer jobs: let the NPU take what splits its programs, several inferences in flight "
            "(--frames), a faster host or register bus (host.clock_mhz, noc.clock_mhz), "
            "inputs in place instead of copied (--io)",
            {},
            {}};
  if (jobs > 0) f.what += fmt::format(", {} for each beside its own time", human_time(ns / jobs));
  f.what += fmt::format("; {} are copied in and out", human_bytes(r.copied_bytes));
  if (jobs > 1) f.what_ifs.push_back({"one job instead of all", ns * (jobs - 1) / jobs});
  out.time.push_back(std::move(f));
}

struct EnergyAdvice {
  const char* component;
  const char* advice;
};
constexpr EnergyAdvice kEnergyAdvice[] = {
    {"dram",
     "move fewer bytes there: more SRAM (sram.bytes), compressed weights, a smaller network"},
    {"sram",
     "smaller SRAM costs less a byte (sram.bytes); fuse layers so that maps stay in the "
     "scratchpad"},
    {"noc", "move fewer bytes: fusion, larger tiles (npu.spm.bytes)"},
    {"host", "keep the CPU out: fewer operators on it, fewer launches and copies"},
    {"dsp.core",
     "fewer DSP cycles, or another engine for its operators (--force OPERATOR=npu), a lower "
     "voltage (power.volts)"},
    {"dsp.vector",
     "fewer vector operations: another engine for its operators (--force OPERATOR=npu), a lower "
     "voltage (power.volts)"},
    {"dsp.tcm",
     "fewer bytes through its memory: another engine for its operators (--force OPERATOR=npu), a "
     "lower voltage (power.volts)"},
    {"npu.mac",
     "fewer multiply-accumulates, a lower voltage (power.volts) or a smaller node (energy.file)"},
    {"npu.vec", "fewer outputs to requantise, a lower voltage (power.volts)"},
    {"npu.spm",
     "tiles that reuse more of what they read (npu.mac.* and npu.spm.*), a lower voltage "
     "(power.volts)"},
    {"npu.decoder", "weights that compress better, or none compressed (--no-compression)"},
    {"npu.ctrl", "fewer NPU cycles, a lower voltage (power.volts)"},
};

bool leaks(const std::string& component) {
  return component.ends_with(".static") || component.ends_with(".refresh") ||
         component == "npu.idle_clock";
}

void energies(const ReportFile& r, Explanation& out) {
  const auto it = r.cause_nj.find("leakage");
  out.leakage_nj = it == r.cause_nj.end() ? 0 : it->second;
  if (out.leakage_nj > 0) {
    std::vector<std::pair<std::string, double>> parts;
    for (const auto& part : r.component_nj)
      if (leaks(part.first)) parts.push_back(part);
    std::ranges::stable_sort(parts, std::greater(), &std::pair<std::string, double>::second);
    Finding f{"leakage",
              out.leakage_nj,
              out.leakage_nj,
              fmt::format("leakage and idle clocks take {} in {}, whatever is computed",
                          human_energy(out.leakage_nj), human_time(r.total_ns)),
              "switch off what idles (power.npu.gating, power.sram.gating, power.host.gating, "
              "power.dsp.gating), be done sooner, or have less SRAM (sram.bytes)",
              {},
              {}};
    for (std::size_t i = 0; i < std::min(kWorst, parts.size()); ++i)
      f.worst.push_back(fmt::format("{} {}", parts[i].first, human_energy(parts[i].second)));
    f.what_ifs.push_back({"half the time", out.leakage_nj / 2});
    out.energy.push_back(std::move(f));
  }
  for (const EnergyAdvice& advice : kEnergyAdvice) {
    const auto part = r.component_nj.find(advice.component);
    if (part == r.component_nj.end()) continue;
    Finding f{fmt::format("energy.{}", advice.component),
              part->second,
              part->second,
              fmt::format("{} takes {}", advice.component, human_energy(part->second)),
              advice.advice,
              {},
              {}};
    const auto bytes = r.memory_bytes.find(advice.component);
    if (bytes != r.memory_bytes.end() && bytes->second > 0)
      f.what += fmt::format(" for {}, {:.3g} pJ a byte", human_bytes(bytes->second),
                            part->second * 1000 / bytes->second);
    out.energy.push_back(std::move(f));
  }
}

void keep(std::vector<Finding>& findings, double all) {
  std::erase_if(findings, [&](const Finding& f) { return !(f.saves >= kWorthIt * all); });
  std::ranges::stable_sort(findings, std::greater(), &Finding::saves);
}

}  // namespace

Explanation explain_report(const ReportFile& r) {
  Explanation out;
  out.title = fmt::format("{} on {}", r.model, r.soc);
  out.latency_ns = r.latency_ns, out.npu_ns = r.npu_ns(), out.dsp_ns = r.dsp_ns(),
  out.cpu_ns = r.cpu_ns(), out.runtime_ns = r.runtime_ns(), out.total_nj = r.total_nj;
  for (const Resource& what : kResources) resource(r, what, out);
  latency(r, out);
  dsp(r, out);
  fallbacks(r, out);
  runtime(r, out);
  energies(r, out);
  keep(out.time, r.latency_ns);
  keep(out.energy, r.total_nj);
  return out;
}

}  // namespace deputy::tools
