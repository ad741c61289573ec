// A DSP job out of an executable file, before anything runs: what it moves lies in its regions, and
// its program reaches memory through the job's own transfers only.
#pragma once

#include <string>
#include <vector>

#include "arch/executable.h"
#include "base/result.h"
#include "host_runtime/runtime/verify_program.h"

namespace deputy::host_runtime {

struct DspFootprint {
  std::vector<RegionRange> reads, writes;  ///< besides the constants
  std::uint64_t tcm_bytes = 0, program_bytes = 0;
};

/// Of the step that the job does: it stores into the step's outputs alone. kModel says what is
/// wrong.
base::Result<DspFootprint> verify_dsp_job(const arch::Executable& executable,
                                          const arch::Step& step, const std::string& where);

}  // namespace deputy::host_runtime
