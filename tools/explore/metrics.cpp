#include "tools/explore/metrics.h"

#include <fmt/format.h>

#include <array>

namespace deputy::tools {
namespace {

#define VALUE(expression)                                           \
  [](const Report& r, const Simulation& s, const soc::SocConfig& c, \
     const AreaTable& a) -> double {                                \
    (void)r, (void)s, (void)c, (void)a;                             \
    return static_cast<double>(expression);                         \
  }
#define OF_STREAM(expression)                                                        \
  [](const StreamReport& r, const soc::SocConfig& c, const AreaTable& a) -> double { \
    (void)r, (void)c, (void)a;                                                       \
    return static_cast<double>(expression);                                          \
  }
constexpr std::array kMetrics = {
    Metric{"latency", "ns", "first input copied in to last output copied out", Metric::Over::kSum,
           false, VALUE(r.latency_ns)},
    Metric{"energy", "nJ", "of the inference, all components", Metric::Over::kSum, false,
           VALUE(r.power.inference_nj)},
    Metric{"edp", "nJ*us", "energy times latency of each workload", Metric::Over::kSum, false,
           VALUE(r.power.inference_nj* r.latency_ns / 1000)},
    Metric{"area", "um2", "the area proxy", Metric::Over::kPoint, false, VALUE(area_um2(a, c)),
           OF_STREAM(area_um2(a, c))},
    Metric{"sram", "bytes", "SRAM that the compiler uses for tensors and weights",
           Metric::Over::kMost, false, VALUE(s.executable.fast_arena_bytes)},
    Metric{"dram", "bytes", "feature maps and weights that the NPU moved from and to DRAM",
           Metric::Over::kSum, false, VALUE(r.dram_map_bytes + r.dram_weight_bytes)},
    Metric{"p99", "ns",
           "99 % of the frames have their result so long after they came; of a stream, decisions "
           "after their last sample",
           Metric::Over::kMost, true,
           VALUE(static_cast<double>(r.frames->response_at(0.99)) / 1000),
           OF_STREAM(r.latency_p99_ms * 1e6)},
    Metric{"misses", "",
           "of a stream: decisions that came too late or never, and frames that were lost",
           Metric::Over::kSum, false, nullptr,
           OF_STREAM(r.deadline_misses + r.given_up + r.dropped + r.failed)},
    Metric{"power", "mW", "of a stream: the SoC's on average", Metric::Over::kMost, false, nullptr,
           OF_STREAM(r.soc_mw)},
    Metric{"npu_cycles", "cycles", "first NPU job's start to the last one's end",
           Metric::Over::kSum, false, VALUE(r.npu_cycles)},
    Metric{"peak_power", "mW", "highest over an interval of the power trace", Metric::Over::kMost,
           false, VALUE(r.power.peak_mw)},
};
#undef VALUE
#undef OF_STREAM

}  // namespace

std::span<const Metric> metrics() { return kMetrics; }

base::Result<const Metric*> find_metric(const std::string& name) {
  std::string names;
  for (const Metric& m : kMetrics) {
    if (name == m.name) return &m;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", m.name);
  }
  return base::Error{base::ErrorKind::kConfig, "objectives",
                     fmt::format("nothing is measured as '{}'", name), "use one of " + names};
}

std::map<std::string, double> measure(const Report& report, const Simulation& simulation,
                                      const soc::SocConfig& soc, const AreaTable& area) {
  std::map<std::string, double> out;
  for (const Metric& m : kMetrics)
    if (m.value && (!m.frames || report.frames))
      out[m.name] = m.value(report, simulation, soc, area);
  double all = 0;
  std::map<std::string, double> bounds;
  for (const OpReport& op : report.ops) {
    // Own cycles are of the clock of the engine that did it.
    const double mhz = op.bound == kHostBound ? soc.host.clock_mhz
                       : op.dsp               ? soc.dsp.clock_mhz
                                              : soc.npu.clock_mhz;
    const double us = static_cast<double>(op.own_cycles) / mhz;
    if (us > 0) bounds[op.bound.empty() ? "none" : op.bound] += us, all += us;
  }
  for (const auto& [word, us] : bounds) out["bound." + word] = us / all;
  return out;
}

std::map<std::string, double> measure(const StreamReport& report, const soc::SocConfig& soc,
                                      const AreaTable& area) {
  std::map<std::string, double> out;
  for (const Metric& m : kMetrics)
    if (m.of_stream) out[m.name] = m.of_stream(report, soc, area);
  return out;
}

}  // namespace deputy::tools
