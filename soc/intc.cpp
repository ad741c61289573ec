#include "soc/intc.h"

#include <bit>

#include "arch/memory_map.h"
#include "sim/process.h"
#include "sim/register_access.h"
#include "sim/time.h"

namespace deputy::soc {
namespace reg = arch::intc_reg;

Intc::Intc(sc_core::sc_module_name name)
    : sc_module(name), socket("socket"), registers_(arch::intc_registers()) {
  socket.register_b_transport(this, &Intc::b_transport);
}

void Intc::attach(sim::Trace* trace) {
  trace_ = trace;
  signals_.clear();
  if (!trace) return;
  for (std::uint32_t line = 0;; ++line) {
    const std::string_view name = arch::irq_line_name(static_cast<arch::IrqLine>(line));
    if (name.empty()) break;
    signals_.push_back(trace->signal("irq." + std::string(name), sim::SignalKind::kLine));
  }
}

void Intc::latch(std::uint32_t bits) {
  if (!bits) return;
  const std::uint32_t pending = registers_.get(reg::kPending);
  registers_.set(reg::kPending, pending | bits);
  interrupts_ += static_cast<std::uint64_t>(std::popcount(bits & ~pending));
  raised_.notify(sc_core::SC_ZERO_TIME);
}

bool Intc::inject(std::uint32_t line) {
  if (!faults_.injector()) return false;
  const std::string_view name = arch::irq_line_name(static_cast<arch::IrqLine>(line));
  if (faults_.hit(sim::FaultKind::kLostInterrupt, name)) return true;
  const sim::Fault* late = faults_.hit(sim::FaultKind::kLateInterrupt, name);
  if (!late) return false;
  const sc_core::sc_time delay = sim::from_ps(static_cast<std::uint64_t>(late->delay_ns) * 1000);
  sc_core::sc_spawn([this, line, delay] {
    sim::wait_for(delay);
    latch(1u << line & registers_.get(reg::kEnable));
  });
  return true;
}

void Intc::set_line(std::uint32_t line, bool level) {
  const std::uint32_t bit = 1u << line;
  const std::uint32_t raw = registers_.get(reg::kRaw);
  if (((raw & bit) != 0) == level) return;
  registers_.set(reg::kRaw, level ? raw | bit : raw & ~bit);
  if (trace_ && line < signals_.size())
    trace_->change(signals_[line], sim::to_ps(sc_core::sc_time_stamp()), level ? 1 : 0);
  if (level && !inject(line)) latch(bit & registers_.get(reg::kEnable));
}

void Intc::write(std::uint32_t offset, std::uint32_t value) {
  const std::uint32_t enabled = registers_.get(reg::kEnable);
  if (offset == reg::kEnableSet) {
    registers_.set(reg::kEnable, enabled | value);
  } else if (offset == reg::kEnableClear) {
    registers_.set(reg::kEnable, enabled & ~value);
  } else if (offset == reg::kForce) {
    latch(value);
  } else {
    registers_.bus_write(offset, value);
  }
  registers_.set(reg::kEnableSet, registers_.get(reg::kEnable));
}

void Intc::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  sim::register_access(
      payload, delay, [&](std::uint32_t offset) { return registers_.find(offset) != nullptr; },
      [&](std::uint32_t offset) { return registers_.bus_read(offset); },
      [&](std::uint32_t offset, std::uint32_t value) { write(offset, value); });
}

}  // namespace deputy::soc
