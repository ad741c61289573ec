#include "soc/ecc_unit.h"

#include "sim/register_access.h"

namespace deputy::soc {
namespace reg = arch::ecc_reg;

EccUnit::EccUnit(sc_core::sc_module_name name, std::function<void(bool)> irq)
    : sc_module(name), socket("socket"), irq_(std::move(irq)), registers_(arch::ecc_registers()) {
  socket.register_b_transport(this, &EccUnit::b_transport);
}

void EccUnit::update_irq() {
  irq_((registers_.get(reg::kIrqStatus) & registers_.get(reg::kIrqEnable)) != 0);
}

void EccUnit::record(std::uint32_t bank, std::uint64_t address, bool corrected) {
  ++(corrected ? corrected_ : uncorrected_);
  const std::uint32_t at = bank * arch::kEccBankStride;
  const std::uint32_t counter = at + (corrected ? reg::kBank0Corrected : reg::kBank0Uncorrected);
  if (registers_.get(counter) != UINT32_MAX) registers_.set(counter, registers_.get(counter) + 1);
  registers_.set(at + (corrected ? reg::kBank0CorrectedAddr : reg::kBank0UncorrectedAddr),
                 static_cast<std::uint32_t>(address));
  registers_.set(reg::kIrqStatus,
                 registers_.get(reg::kIrqStatus) | 1u << (bank + (corrected ? 8 : 0)));
  update_irq();
}

void EccUnit::write(std::uint32_t offset, std::uint32_t value) {
  registers_.bus_write(offset, value);
  if (offset == reg::kClear)
    for (std::uint32_t bank = 0; bank < arch::kEccBanks; ++bank) {
      if ((value >> bank & 1) == 0) continue;
      for (const std::uint32_t r : {reg::kBank0Corrected, reg::kBank0Uncorrected,
                                    reg::kBank0CorrectedAddr, reg::kBank0UncorrectedAddr})
        registers_.set(r + bank * arch::kEccBankStride, 0);
    }
  update_irq();
}

void EccUnit::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  sim::register_access(
      payload, delay, [&](std::uint32_t offset) { return registers_.find(offset) != nullptr; },
      [&](std::uint32_t offset) { return registers_.bus_read(offset); },
      [&](std::uint32_t offset, std::uint32_t value) { write(offset, value); });
}

}  // namespace deputy::soc
