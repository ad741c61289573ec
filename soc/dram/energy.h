// Energy of a DRAM's commands and states from its currents, the arithmetic of Micron's TN-46-03 and
// of DRAMPower: what a measurement draws beyond the standby it includes.
#pragma once

#include <array>

#include "soc/dram/controller.h"
#include "soc/dram/spec.h"

namespace deputy::soc::dram {

/// pJ a command and mW a state, of a whole rank, all supplies.
struct Energy {
  double activate_pj = 0;            ///< with its precharge
  double read_pj = 0, write_pj = 0;  ///< a burst, array and pins
  double refresh_pj = 0, bank_refresh_pj = 0;
  std::array<double, kPowerStates> state_mw{};
};
Energy energy_of(const Spec& spec);

/// nJ of what a controller counted; commands are activates, reads and writes.
struct Spent {
  double commands_nj = 0, refresh_nj = 0, standby_nj = 0;
};
Spent spent(const Spec& spec, const Counters& counters);

}  // namespace deputy::soc::dram
