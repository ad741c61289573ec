#include "tools/bounds.h"

#include <algorithm>

namespace deputy::tools {

double Bounds::cycles() const { return std::max({compute, scratchpad, sram, dram}); }

std::string Bounds::name() const {
  const double worst = cycles();
  if (worst <= 0) return "none";
  if (compute >= worst) return "compute";
  if (dram >= worst) return "DRAM";
  return sram >= worst ? "SRAM" : "scratchpad";
}

Bounds& Bounds::operator+=(const Bounds& other) {
  compute += other.compute, scratchpad += other.scratchpad, sram += other.sram, dram += other.dram;
  return *this;
}

MemoryRates memory_rates(const soc::SocConfig& soc) {
  const double noc = soc.noc.width_bytes * soc.noc.clock_mhz;  // 10^6 bytes a second
  const double sram = soc.sram.width_bytes * soc.noc.clock_mhz;
  const double dram = soc.dram.model == "fixed" ? soc.dram.fixed_mb_per_s : soc.dram.width_bits / 8.0 * 2 * 1000 / soc.dram.tck_ns;
  return {std::min(noc, sram) / soc.npu.clock_mhz, std::min(noc, dram) / soc.npu.clock_mhz};
}

Bounds bounds_of(const soc::NpuOpRecord& r, const MemoryRates& rates) {
  const auto dram = static_cast<double>(r.dram_load_bytes + r.dram_store_bytes);
  const auto moved = static_cast<double>(r.load_bytes + r.store_bytes);
  return {static_cast<double>(r.unit_cycles), static_cast<double>(r.spm_cycles), (moved - dram) / rates.sram, dram / rates.dram};
}

}  // namespace deputy::tools
