// Whether an executable makes sense: every enum, index, size and place. read_executable asks this
// of files from outside; a writer can ask it of its own work.
#pragma once

#include <string>

#include "arch/executable.h"

namespace deputy::arch {

/// The first thing wrong, in words; empty when the executable is sound. The command streams' words
/// are not looked at: the runtime's verifier does that. Nor are the fallbacks' bytes: see below.
std::string executable_problem(const Executable& executable);

/// What is wrong with `fallback`, itself sound, as the fallback of program `program`; empty:
/// nothing.
std::string fallback_problem(const Executable& executable, std::size_t program,
                             const Executable& fallback);

}  // namespace deputy::arch
