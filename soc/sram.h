// Shared on-chip SRAM: one port, a fixed latency, width_bytes a cycle of the interconnect's clock.
#pragma once

#include "sim/power_gate.h"
#include "sim/time.h"
#include "soc/memory.h"
#include "soc/soc_config.h"

namespace deputy::soc {

class Sram : public Memory {
 public:
  Sram(sc_core::sc_module_name name, std::uint64_t base, const SramConfig& config,
       const sim::Clock& clock)
      : Memory(name, base, static_cast<std::uint64_t>(config.bytes)),
        config_(config),
        clock_(clock) {}

  /// Its retention switch; an access that finds it asleep waits. Contents stay.
  void attach(const sim::PowerGate& gate) { gate_ = gate; }
  const sim::PowerGate& gate() const { return gate_; }

  sc_core::sc_time accepts_at() const override { return port_free_; }
  sc_core::sc_time first_data_at() const override { return first_data_; }

 protected:
  // Pipelined: the port is busy for the beats, the latency only delays the data.
  sc_core::sc_time serve(std::uint64_t, std::uint32_t bytes, bool,
                         sc_core::sc_time arrival) override {
    const sc_core::sc_time wanted = std::max(arrival, port_free_);
    const sc_core::sc_time start = wanted + sim::from_ps(gate_.begin(sim::to_ps(wanted)));
    const std::uint64_t beats = (bytes + config_.width_bytes - 1) / config_.width_bytes;
    port_free_ = start + clock_.cycles(beats);
    first_data_ = start + clock_.cycles(config_.latency);
    gate_.end(sim::to_ps(port_free_));
    return port_free_ + clock_.cycles(config_.latency);
  }

 private:
  SramConfig config_;
  sim::Clock clock_;
  sim::PowerGate gate_;
  sc_core::sc_time port_free_, first_data_;
};

}  // namespace deputy::soc
