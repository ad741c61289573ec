// A model on a SoC, start to finish: load, compile, build the platform, run, collect.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/compiled_cache.h"
#include "api/import_model.h"
#include "api/model.h"
#include "api/quirks.h"
#include "arch/executable.h"
#include "base/result.h"
#include "delegate/compile.h"
#include "delegate/ir/graph.h"
#include "host_runtime/runtime/bounds.h"
#include "host_runtime/runtime/session.h"
#include "soc/platform.h"
#include "tools/frames.h"

namespace deputy::tools {

struct SimulateOptions {
  soc::SocConfig soc;
  Numerics numerics = Numerics::kTflite;
  delegate::EnginePolicy engine = delegate::EnginePolicy::kAuto;
  delegate::PlacementLimits placement;
  bool timing_only = false;
  bool all_tensors = false;
  bool strict = false;     ///< an operator on the CPU is an error
  int frames = 0;          ///< run so many more, in flight, for their timeline
  ArrivalPlan arrivals;    ///< of these
  std::uint64_t seed = 1;  ///< for inputs that are not given
  std::uint64_t sram_limit =
      0;  ///< bytes of SRAM the compiler may use for tensors; 0: all there is
  delegate::Optimisations optimisations;
  delegate::Effort effort = delegate::Effort::kFull;
  sim::FaultPlan faults;                  ///< to inject into the hardware
  host_runtime::RecoveryPolicy recovery;  ///< of the runtime that runs it
  sim::Trace* trace = nullptr;  ///< records the run of simulate_executable(); must outlive it
  bool keep_failed =
      false;  ///< a run that fails is a Simulation with `failure` set, for its report
  delegate::ContractPolicy contract = delegate::ContractPolicy::kCpu;
  bool fallback = false;  ///< compile a fallback for every NPU program
  delegate::IoPlacement io = delegate::IoPlacement::kArena;  ///< where graph inputs and outputs lie
  std::string cache;  ///< folder of compiled programs; empty: none
  std::uint64_t cache_limit = api::kCacheDefaultBytes;
  std::vector<api::QuirkFile> quirks;
  api::Bindings bindings;  ///< what an ONNX model leaves open
};

/// How a program came about.
struct Provenance {
  api::CacheNote cache;
  std::vector<api::QuirkFile> quirk_files;  ///< all that were given
  std::vector<api::AppliedQuirk> quirks;    ///< what of them changed something
  std::vector<std::string> notes;           ///< what the user should know besides
};

struct Simulation {
  arch::Executable executable;
  std::string file_hash;  ///< content hash of the executable, hexadecimal
  Provenance provenance;
  soc::RunRecord soc;
  host_runtime::InferenceRecord inference;
  std::vector<host_runtime::RecoveryEvent> recovery;  ///< steps taken, in order
  std::uint64_t bound_ps = 0;                         ///< of the inference, whatever fails
  double inference_wall_ms = 0;  ///< wall time of the inference's simulation, after loading
  std::vector<std::vector<std::uint8_t>> outputs;  ///< graph order; empty when timing only
  std::map<std::uint32_t, std::vector<std::uint8_t>>
      tensors;  ///< all_tensors: every tensor with storage
  std::optional<FrameTimeline> frames;
  std::optional<base::Error>
      failure;  ///< keep_failed: why the run ended early; the records hold what it had
};

/// Reads a model file, .tflite or .onnx. Notes of the importer go to stderr.
base::Result<delegate::Graph> load_model(const std::string& path,
                                         const api::Bindings& bindings = {});
/// The same of bytes that were read from `path`. External data lie beside it.
base::Result<delegate::Graph> parse_model(std::span<const std::uint8_t> bytes,
                                          const std::string& path,
                                          const api::Bindings& bindings = {});

/// A model file with its graph.
struct ModelFile {
  std::vector<std::uint8_t>
      bytes;  ///< all that the graph follows from: bindings and external data are appended
  delegate::Graph graph;
};
/// `inputs`: .npy files whose shapes bind open dimensions that `bindings` does not.
base::Result<ModelFile> load_model_file(const std::string& path, const api::Bindings& bindings = {},
                                        const std::vector<std::string>& inputs = {});

/// The hardware and driver that the options' SoC has.
base::Result<api::DeviceIdentity> device_identity(const SimulateOptions& options);

/// An executable file with its history.
struct CompiledModel {
  std::vector<std::uint8_t> bytes;
  Provenance provenance;
};

/// Compiles a graph under the quirks that concern the SoC. `provenance` and `trace` may be null.
base::Result<arch::Executable> compile_graph(const delegate::Graph& graph,
                                             const SimulateOptions& options, Provenance* provenance,
                                             delegate::CompileTrace* trace);

/// The same through the cache when the options name one; what went wrong with it is also told on
/// stderr. `shapes`: the graph's input shapes when they are not the model file's own.
base::Result<CompiledModel> compile_model(const ModelFile& model, const SimulateOptions& options,
                                          const std::vector<Shape>& shapes = {});

/// What the runtime is told of the options' board. `isolation`: contexts have address spaces of
/// their own.
host_runtime::BoardTimes board_times(const soc::SocConfig& soc, bool isolation);

/// The compiler's options that follow from a SoC and the run's options.
delegate::CompileOptions compile_options(const SimulateOptions& options);

/// Input i of the graph: from `files[i]` (.npy, or raw little-endian bytes), or seeded random
/// values for inputs beyond the files given. Errors name the input, the expected and the found
/// size, type and shape.
base::Result<std::vector<std::vector<std::uint8_t>>> load_inputs(
    const delegate::Graph& graph, const std::vector<std::string>& files, std::uint64_t seed);

/// Compiles and runs one inference on a fresh platform. Errors before the run starts are always
/// errors.
base::Result<Simulation> simulate(const delegate::Graph& graph, const SimulateOptions& options,
                                  const std::vector<std::vector<std::uint8_t>>& inputs);

/// Runs an executable file that was compiled earlier.
base::Result<Simulation> simulate_executable(const std::vector<std::uint8_t>& file,
                                             const std::string& name,
                                             const SimulateOptions& options,
                                             const std::vector<std::vector<std::uint8_t>>& inputs);

}  // namespace deputy::tools
