// A model on a SoC, start to finish: load, compile, build the platform, run, collect.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "arch/executable.h"
#include "base/result.h"
#include "delegate/compile.h"
#include "delegate/ir/graph.h"
#include "host_runtime/runtime/session.h"
#include "soc/platform.h"

namespace deputy::tools {

struct SimulateOptions {
  soc::SocConfig soc;
  Numerics numerics = Numerics::kTflite;
  delegate::EnginePolicy engine = delegate::EnginePolicy::kAuto;
  delegate::PlacementLimits placement;
  bool timing_only = false;
  bool all_tensors = false;
  bool strict = false;       ///< an operator on the CPU is an error
  std::uint64_t seed = 1;    ///< for inputs that are not given
  std::uint64_t sram_limit = 0;  ///< bytes of SRAM the compiler may use for tensors; 0: all there is
  delegate::Optimisations optimisations;
  delegate::Effort effort = delegate::Effort::kFull;
  sim::FaultPlan faults;     ///< to inject into the hardware
  bool keep_failed = false;  ///< a run that fails is a Simulation with `failure` set, for its report
  bool fallback = false;  ///< compile a fallback for every NPU program
  delegate::IoPlacement io = delegate::IoPlacement::kArena;  ///< where graph inputs and outputs lie
};

struct Simulation {
  arch::Executable executable;
  std::string file_hash;                ///< content hash of the executable, hexadecimal
  soc::RunRecord soc;
  host_runtime::InferenceRecord inference;
  double inference_wall_ms = 0;         ///< wall time of the inference's simulation, after loading
  std::vector<std::vector<std::uint8_t>> outputs;        ///< graph order; empty when timing only
  std::map<std::uint32_t, std::vector<std::uint8_t>> tensors;  ///< all_tensors: every tensor with storage
  std::optional<base::Error> failure;  ///< keep_failed: why the run ended early; the records hold what it had
};

/// Reads a model file by its contents; today .tflite.
base::Result<delegate::Graph> load_model(const std::string& path);

/// The compiler's options that follow from a SoC and the run's options.
delegate::CompileOptions compile_options(const SimulateOptions& options);

/// Input i of the graph: from `files[i]` (.npy, or raw little-endian bytes), or seeded random values for
/// inputs beyond the files given. Errors name the input, the expected and the found size, type and shape.
base::Result<std::vector<std::vector<std::uint8_t>>> load_inputs(const delegate::Graph& graph,
                                                                 const std::vector<std::string>& files,
                                                                 std::uint64_t seed);

/// Compiles and runs one inference on a fresh platform. Errors before the run starts are always errors.
base::Result<Simulation> simulate(const delegate::Graph& graph, const SimulateOptions& options,
                                  const std::vector<std::vector<std::uint8_t>>& inputs);

/// Runs an executable file that was compiled earlier.
base::Result<Simulation> simulate_executable(const std::vector<std::uint8_t>& file, const std::string& name,
                                             const SimulateOptions& options,
                                             const std::vector<std::vector<std::uint8_t>>& inputs);

}  // namespace deputy::tools
