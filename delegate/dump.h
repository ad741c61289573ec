// Text for people: what the compiler made.
#pragma once

#include <string>

#include "arch/executable.h"
#include "delegate/ir/graph.h"
#include "delegate/trace.h"

namespace deputy::delegate {

std::string dump_graph(const Graph& graph);  ///< operators with operands, tensors with types
std::string dump_placement(
    const arch::Executable& executable);  ///< engine of every operator, reasons, steps
std::string dump_memory(const arch::Executable& executable);  ///< where every tensor is
std::string dump_programs(
    const arch::Executable& executable);  ///< disassembly with source operators
/// Each kernel's fused operators, tiles, buffers, bytes and loads of weights; with `trace`, also
/// how the tiles were chosen.
std::string dump_tiles(const arch::Executable& executable, const CompileTrace* trace);
std::string dump_executable(
    const arch::Executable& executable);  ///< a summary, placement and memory

}  // namespace deputy::delegate
