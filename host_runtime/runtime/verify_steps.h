// Checks the schedule of an executable against what its programs do: every step finds its operands
// written, every program writes what its step says it does, every graph output exists at the end.
#pragma once

#include <span>
#include <string>

#include "arch/executable.h"
#include "base/result.h"
#include "host_runtime/runtime/verify_program.h"

namespace deputy::host_runtime {

/// `footprints[i]`: of executable.programs[i]. The executable is one that read_executable accepts.
/// kModel names the step and the tensor. Strided stores count as their whole extent, so a hole
/// inside one is not found.
base::Status verify_steps(const arch::Executable& executable,
                          std::span<const ProgramFootprint> footprints, const std::string& where);

}  // namespace deputy::host_runtime
