// Running a DSP program or a kernel's case on the model alone: what `deputy dsp` and the kernels'
// table do.
#pragma once

#include <functional>
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
  /// Takes one line a packet as it runs: cycle, word, operations, stalls. None: no trace.
  std::function<void(const std::string&)> trace = nullptr;
};
struct DspOutcome {
  dsp_model::DspStats stats;
  std::vector<std::uint8_t> tcm;    ///< afterwards
  std::vector<std::uint32_t> mail;  ///< words sent to the host
};
/// Until the program halts. A fault, a program that waits for what nobody here gives, and one that
/// does not end in time are errors that name the word.
base::Result<DspOutcome> run_dsp(const arch::DspConfig& config, const DspRun& run);

/// Builds and runs a case and holds its memory against the reference's; a difference is an error.
base::Result<DspOutcome> run_kernel_case(const arch::DspConfig& config,
                                         const dsp_kernels::KernelCase& kernel,
                                         std::function<void(const std::string&)> trace = nullptr,
                                         std::uint64_t most_cycles = 1'000'000'000);

}  // namespace deputy::tools
