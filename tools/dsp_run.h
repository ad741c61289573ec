// Running a DSP program or a kernel's case on the model alone: what `deputy dsp` and the kernels' table do.
#pragma once

#include <string>
#include <vector>

#include "arch/dsp_config.h"
#include "base/result.h"
#include "dsp_kernels/kernels.h"
#include "dsp_model/core/core.h"

namespace deputy::tools {

struct DspRun {
  std::vector<std::uint32_t> words;
  std::vector<std::uint32_t> arguments;  ///< r1, r2, ...
  std::vector<dsp_kernels::Memory> memory;
  std::uint64_t most_cycles = 1'000'000'000;
  bool trace = false;
};
struct DspOutcome {
  dsp_model::DspStats stats;
  std::string trace;                ///< one line a packet: cycle, word, operations, stalls
  std::vector<std::uint8_t> tcm;    ///< afterwards
  std::vector<std::uint32_t> mail;  ///< words sent to the host
};
/// Until the program halts. A fault, a program that waits for what nobody here gives, and one that does not
/// end in time are errors that name the word.
base::Result<DspOutcome> run_dsp(const arch::DspConfig& config, const DspRun& run);

/// Builds and runs a case and holds its memory against the reference's; a difference is an error.
base::Result<DspOutcome> run_kernel_case(const arch::DspConfig& config, const dsp_kernels::KernelCase& kernel, bool trace = false);

}  // namespace deputy::tools
