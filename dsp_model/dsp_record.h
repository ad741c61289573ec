// What the DSP counted: plain data, no SystemC. Reports and the SoC's books are made from it.
#pragma once

#include <cstdint>

#include "dsp_model/core/core.h"

namespace deputy::dsp_model {

/// One job. Times absolute, in ps.
struct DspJobRecord {
  static constexpr std::uint32_t kNoNumber = 0xFFFFFFFF;
  std::uint32_t number =
      kNoNumber;  ///< the driver's, from the ring's entry; none through registers
  std::uint64_t start_ps = 0,
                end_ps = 0;    ///< start to the last byte in memory (or fault, or reset)
  std::uint64_t cycles = 0;    ///< of the DSP's clock in between
  std::uint64_t commands = 0;  ///< completed
  std::uint64_t list_bytes = 0, program_bytes = 0, loaded_bytes = 0,
                stored_bytes = 0;  ///< moved over the bus
  DspStats programs;               ///< of all the programs that it ran, added up
  std::uint32_t error = 0;         ///< arch::DspError
  bool aborted = false;            ///< ended by RESET
};

}  // namespace deputy::dsp_model
