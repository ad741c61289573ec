// External DRAM behind the interconnect: storage plus one of two models of its time,
// soc/dram_timing.h (simple, fixed) or soc/dram (full).
#pragma once

#include <optional>

#include "sim/time.h"
#include "soc/dram/controller.h"
#include "soc/dram_timing.h"
#include "soc/memory.h"

namespace deputy::soc {

class Dram : public Memory, private sim::Deferring {
 public:
  Dram(sc_core::sc_module_name name, std::uint64_t base, const DramConfig& config)
      : Memory(name, base, static_cast<std::uint64_t>(config.bytes)), timing_(config) {
    if (config.model == "full")
      controller_.emplace(config.device, config.controller,
                          static_cast<std::uint64_t>(config.bytes));
  }

  sc_core::sc_time accepts_at() const override {
    return sim::from_ps(controller_ ? controller_->accepts_at_ps() : timing_.accepts_at_ps());
  }
  sc_core::sc_time first_data_at() const override {
    return sim::from_ps(controller_ ? served_.first_data_ps : timing_.first_data_ps());
  }

  /// The end of the run; nothing may be served after it.
  void close(std::uint64_t end_ps) {
    if (controller_) controller_->close(end_ps);
  }
  /// What happened, of either model.
  dram::Counters counters() const {
    if (controller_) return controller_->counters();
    dram::Counters out;
    out.hits = timing_.hits, out.misses = timing_.misses, out.conflicts = timing_.conflicts;
    out.activates = timing_.activates, out.refreshes = timing_.refreshes;
    return out;
  }

 protected:
  sc_core::sc_time serve(std::uint64_t offset, std::uint32_t bytes, bool write,
                         sc_core::sc_time arrival) override {
    if (!controller_)
      return sim::from_ps(timing_.access(offset, bytes, write, sim::to_ps(arrival)));
    served_ = controller_->finish(controller_->submit(offset, bytes, write, sim::to_ps(arrival)));
    return sim::from_ps(served_.end_ps);
  }
  bool accept(std::uint64_t offset, std::uint32_t bytes, bool write, sc_core::sc_time arrival,
              sim::BusContext& context) override {
    if (!controller_) return false;
    context.memory = this;
    context.ticket = controller_->submit(offset, bytes, write, sim::to_ps(arrival));
    return true;
  }

 private:
  bool decided(std::uint64_t ticket) override {
    controller_->advance(sim::to_ps(sc_core::sc_time_stamp()));
    return controller_->decided(ticket);
  }
  Served finish(std::uint64_t ticket) override {
    const auto served = controller_->finish(ticket);
    return {sim::from_ps(served.first_data_ps), sim::from_ps(served.end_ps)};
  }

  DramTiming timing_;
  mutable std::optional<dram::Controller>
      controller_;  ///< asking it when there is room lets it decide
  dram::Controller::Served served_;
};

}  // namespace deputy::soc
