// External DRAM behind the interconnect: storage plus DramTiming.
#pragma once

#include "sim/time.h"
#include "soc/dram_timing.h"
#include "soc/memory.h"

namespace deputy::soc {

class Dram : public Memory {
 public:
  Dram(sc_core::sc_module_name name, std::uint64_t base, const DramConfig& config)
      : Memory(name, base, static_cast<std::uint64_t>(config.bytes)), timing_(config) {}

  sc_core::sc_time accepts_at() const override { return sim::from_ps(timing_.accepts_at_ps()); }
  sc_core::sc_time first_data_at() const override { return sim::from_ps(timing_.first_data_ps()); }
  const DramTiming& timing() const { return timing_; }

 protected:
  sc_core::sc_time serve(std::uint64_t offset, std::uint32_t bytes, bool write, sc_core::sc_time arrival) override {
    return sim::from_ps(timing_.access(offset, bytes, write, sim::to_ps(arrival)));
  }

 private:
  DramTiming timing_;
};

}  // namespace deputy::soc
