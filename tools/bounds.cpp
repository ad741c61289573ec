#include "tools/bounds.h"

#include <algorithm>

#include "soc/dram_rates.h"

namespace deputy::tools {

double Bounds::cycles() const { return std::max({compute, scratchpad, decoder, sram, dram}); }

std::string Bounds::name() const {
  const double worst = cycles();
  if (worst <= 0) return "none";
  if (compute >= worst) return "compute";
  if (dram >= worst) return "DRAM";
  if (decoder >= worst) return "decoder";
  return sram >= worst ? "SRAM" : "scratchpad";
}

Bounds& Bounds::operator+=(const Bounds& other) {
  compute += other.compute, scratchpad += other.scratchpad, decoder += other.decoder;
  sram += other.sram, dram += other.dram;
  return *this;
}

MemoryRates memory_rates(const soc::SocConfig& soc) {
  const double noc = soc.noc.width_bytes * soc.noc.clock_mhz;  // 10^6 bytes a second
  const double sram = soc.sram.width_bytes * soc.noc.clock_mhz;
  const double dram = soc::dram_peak_mb_per_s(soc.dram);
  return {std::min(noc, sram) / soc.npu.clock_mhz, std::min(noc, dram) / soc.npu.clock_mhz,
          static_cast<double>(soc.npu.wdec.bytes_per_cycle)};
}

Bounds bounds_of(const soc::NpuOpRecord& r, const MemoryRates& rates) {
  const auto dram = static_cast<double>(r.dram_load_bytes + r.dram_store_bytes);
  const auto moved = static_cast<double>(r.load_bytes + r.store_bytes);
  Bounds out;
  out.compute = static_cast<double>(r.unit_cycles),
  out.scratchpad = static_cast<double>(r.spm_cycles);
  out.decoder = static_cast<double>(r.decoded_bytes) / rates.decoder;
  out.sram = (moved - dram) / rates.sram, out.dram = dram / rates.dram;
  return out;
}

}  // namespace deputy::tools
