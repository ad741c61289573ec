// Compiling as programs do it: with what is known of the hardware's faults, and out of a cache
// where there is one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "api/compiled_cache.h"
#include "api/quirks.h"
#include "arch/executable.h"
#include "delegate/compile.h"

namespace deputy::api {

/// A graph for some hardware, with the quirk entries that may concern it.
struct CompileRequest {
  const delegate::Graph& graph;
  delegate::CompileOptions options;
  DeviceIdentity device;
  const std::vector<QuirkFile>& quirks;
};

/// `applied`, which may be null, gets the entries that changed something. Errors:
/// delegate::compile's.
base::Result<arch::Executable> compile_graph(const CompileRequest& request,
                                             std::vector<AppliedQuirk>* applied);

struct CompiledModel {
  std::vector<std::uint8_t> bytes;  ///< an executable file
  CacheNote cache;
  std::vector<AppliedQuirk> quirks;
};

/// The same through the cache, which may be null. `model`: the bytes of the model's file; `shapes`:
/// the graph's input shapes when they are not the file's own, else empty.
base::Result<CompiledModel> compile_model(const CompileRequest& request,
                                          std::span<const std::uint8_t> model,
                                          const std::vector<Shape>& shapes,
                                          const CompiledCache* cache);

}  // namespace deputy::api
