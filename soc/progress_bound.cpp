#include "soc/progress_bound.h"

#include <algorithm>

#include "sim/time.h"
#include "soc/dram/measure.h"

namespace deputy::soc {

std::optional<std::uint64_t> longest_chunk_ps(const SocConfig& c) {
  if (c.noc.arbitration == "priority") return std::nullopt;
  const auto n = [](auto v) { return static_cast<std::uint64_t>(v); };
  const std::uint64_t bytes = std::min<std::uint64_t>(
      4096, std::max({n(c.npu.dma.chunk_bytes), n(c.npu.ctrl.fetch_bytes), n(c.dma.chunk_bytes),
                      n(c.host.chunk_bytes), n(c.sensor.chunk_bytes),
                      c.dsp.present ? n(c.dsp.dma.chunk_bytes) : 0, n(256)}));
  const std::uint64_t cycle = sim::Clock(c.noc.clock_mhz).period_ps();
  const std::uint64_t beats =
      (bytes / n(c.noc.width_bytes) + bytes / n(c.sram.width_bytes) + 2) * cycle;
  // Every burst of a chunk in the worst state of its bank, and a refresh before it.
  const auto& d = c.dram;
  std::uint64_t dram = 0, queued = 0;
  if (d.model == "fixed") {
    const double transfer_ps =
        static_cast<double>(bytes + n(2 * d.fixed_burst_bytes)) * 1e6 / d.fixed_mb_per_s;
    dram = n(d.fixed_latency_ns * 1000) + n(transfer_ps);
  } else if (d.model == "full") {
    // What the controller has accepted before, and what may overtake, is served once; then every
    // chunk's own bursts.
    dram = dram::longest_ps(d.device, d.controller, bytes / n(d.device.burst_bytes()) + 2);
    queued = dram::longest_ps(d.device, d.controller,
                              n(d.controller.window) + n(d.controller.overtakes));
  } else {
    const std::uint64_t burst = n(d.width_bits) / 8 * n(d.burst_length);
    const std::uint64_t each = n(d.tras) + n(d.trp) + n(d.trcd) + n(d.tfaw) +
                               n(std::max(d.read_latency, d.write_latency)) + n(d.burst_length) +
                               n(d.twr) + n(d.twtr) + n(d.trtp) + n(d.tccd);
    dram = n(static_cast<double>((bytes / burst + 2) * each + n(d.trfc) + n(d.tras) + n(d.trp)) *
             d.tck_ns * 1000);
  }
  const std::uint64_t service = beats + dram;
  const std::uint64_t latency = (2 * n(c.noc.latency) + n(c.sram.latency) + 2) * cycle;
  // A full window first waits for its oldest, which waited as long.
  // Whoever finds its block or the SRAM without power waits for that once more.
  const auto wake = [](const GateConfig& g) {
    return g.gating ? static_cast<std::uint64_t>(g.wake_us * 1e6) + 1 : 0;
  };
  const std::uint64_t masters = kBusMasters + (c.dsp.present ? kDspBusMasters : 0);
  return 2 * (masters * service + queued + latency + service) + wake(c.power.npu) +
         wake(c.power.sram) + (c.dsp.present ? wake(c.power.dsp) : 0);
}

std::optional<std::uint64_t> longest_translated_ps(const SocConfig& c) {
  constexpr std::uint64_t kReads = 2, kAgain = 2;
  const auto chunk = longest_chunk_ps(c);
  if (!chunk) return std::nullopt;
  const std::uint64_t look_up =
      static_cast<std::uint64_t>(c.iommu.hit_cycles) * sim::Clock(c.noc.clock_mhz).period_ps();
  const std::uint64_t masters = kTranslatedMasters + (c.dsp.present ? kDspTranslatedMasters : 0);
  return *chunk * (1 + masters * kReads * kAgain) + look_up;
}

}  // namespace deputy::soc
