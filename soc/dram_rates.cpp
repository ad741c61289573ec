#include "soc/dram_rates.h"

#include "soc/dram/measure.h"

namespace deputy::soc {

double dram_peak_mb_per_s(const DramConfig& c) {
  if (c.model == "full") return c.device.peak_mb_per_s();
  return c.model == "fixed" ? c.fixed_mb_per_s : c.width_bits / 8.0 * 2 * 1000 / c.tck_ns;
}

// The simple model streams at about 85 % of its pins' rate.
double dram_sustained_mb_per_s(const DramConfig& c) {
  if (c.model == "full")
    return dram::sustained_mb_per_s(c.device, c.controller, static_cast<std::uint64_t>(c.bytes));
  return c.model == "fixed" ? c.fixed_mb_per_s : 0.85 * c.width_bits / 8 * 2 * 1000 / c.tck_ns;
}

double dram_idle_latency_ns(const DramConfig& c) {
  if (c.model == "full") return dram::idle_latency_ns(c.device);
  return c.model == "fixed" ? c.fixed_latency_ns
                            : (c.trcd + c.read_latency + c.burst_length / 2) * c.tck_ns;
}

std::int32_t dram_burst_bytes(const DramConfig& c) {
  if (c.model == "full") return c.device.burst_bytes();
  return c.model == "fixed" ? c.fixed_burst_bytes : c.width_bits / 8 * c.burst_length;
}

}  // namespace deputy::soc
