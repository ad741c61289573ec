// Operators as jobs of the DSP: which ones its kernels (dsp_kernels) compute to the byte as the
// CPU's do, what such a job loads, runs and stores, and what it takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "delegate/compile.h"
#include "delegate/ir/graph.h"
#include "delegate/partition/problem.h"
#include "dsp_kernels/image.h"

namespace deputy::delegate {

/// One command of a job, before it is known where things lie.
struct DspMove {
  enum class What : std::uint8_t { kTable, kInput, kOutput, kRun };
  What what = What::kRun;
  std::uint32_t offset = 0, tcm = 0, bytes = 0;  ///< from the table's, input's or output's begin
  std::vector<std::uint32_t> arguments;          ///< kRun
  std::uint32_t rows = 1, memory_stride = 0, tcm_stride = 0;  ///< `bytes` is one row's
};

/// A job: tables and parts of the operator's first input to the data memory, the kernel, its
/// output back. What it stores it never loads again, so that it can be stopped and begun anew.
struct DspPlan {
  dsp_kernels::KernelUse use;
  std::vector<std::uint8_t> table;
  std::vector<DspMove> moves;
  std::uint64_t cycles = 0;  ///< of the kernel, by formulas that a test holds against the model
  std::uint64_t moved_bytes = 0;
};

/// Why the DSP does not take an operator; nullopt: it does. There must be a DSP (options.dsp).
std::optional<std::string> dsp_refusal(const Graph& graph, const Op& op,
                                       const CompileOptions& options);

/// Of an operator that it takes.
DspPlan plan_dsp(const Graph& graph, const Op& op, const CompileOptions& options);

/// The operator as a job of its own, launch and interrupt included, in picoseconds.
Cost dsp_cost(const Graph& graph, const Op& op, const CompileOptions& options);

}  // namespace deputy::delegate
