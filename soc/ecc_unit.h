// The memory controllers' error counters, arch/registers.h: what ECC corrected, what it could not,
// and where.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <functional>
#include <systemc>

#include "arch/register_file.h"

namespace deputy::soc {

class EccUnit : public sc_core::sc_module {
 public:
  /// `irq` is called with the level of the interrupt line.
  EccUnit(sc_core::sc_module_name name, std::function<void(bool)> irq);
  tlm_utils::simple_target_socket<EccUnit> socket;

  /// A read of bank `bank` (0 SRAM, 1 DRAM) at `address` found an error.
  void record(std::uint32_t bank, std::uint64_t address, bool corrected);
  /// Since the start, whatever the driver cleared.
  std::uint64_t corrected() const { return corrected_; }
  std::uint64_t uncorrected() const { return uncorrected_; }

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  void write(std::uint32_t offset, std::uint32_t value);
  void update_irq();

  std::function<void(bool)> irq_;
  arch::RegisterFile registers_;
  std::uint64_t corrected_ = 0, uncorrected_ = 0;
};

}  // namespace deputy::soc
