#include "api/compile_model.h"

#include <fmt/format.h>

namespace deputy::api {
namespace {

// With the options as the quirks have left them.
base::Result<arch::Executable> compile_under(const QuirkEffect& effect,
                                             const delegate::Graph& graph,
                                             const delegate::CompileOptions& options) {
  DEPUTY_ASSIGN(auto executable, delegate::compile(graph, options));
  explain_denied(effect, executable);
  return executable;
}

}  // namespace

base::Result<arch::Executable> compile_graph(const CompileRequest& request,
                                             std::vector<AppliedQuirk>* applied) {
  delegate::CompileOptions options = request.options;
  auto effect = apply_quirks(request.graph, request.quirks, request.device, options);
  DEPUTY_ASSIGN(auto executable, compile_under(effect, request.graph, options));
  if (applied) *applied = std::move(effect.applied);
  return executable;
}

base::Result<CompiledModel> compile_model(const CompileRequest& request,
                                          std::span<const std::uint8_t> model,
                                          const std::vector<Shape>& shapes,
                                          const CompiledCache* cache) {
  KeyParts parts;
  parts.model = model;
  parts.model_name = request.graph.name;
  parts.input_shapes = shapes;
  parts.options = request.options;
  parts.device = request.device;
  CompiledModel out;
  auto effect = apply_quirks(request.graph, request.quirks, request.device, parts.options);
  // The reasons stand in the executable.
  for (const AppliedQuirk& quirk : effect.applied)
    parts.rules.push_back(fmt::format("{} {} {} {} {}", quirk.id, quirk.file, quirk.sha256,
                                      quirk.action, quirk.reason));
  DEPUTY_ASSIGN(auto file, compile_cached(cache, parts, [&] {
                  return compile_under(effect, request.graph, parts.options);
                }));
  out.quirks = std::move(effect.applied);
  out.bytes = std::move(file.bytes);
  out.cache = std::move(file.cache);
  return out;
}

}  // namespace deputy::api
