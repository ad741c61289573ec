// One graph under one setting against the kernels run operator by operator (agreement.h).
#include "tests/support/graphs/agreement.h"

#include <fmt/format.h>

#include <exception>

#include "tests/support/graphs/random_graph.h"
#include "tests/support/interpreter.h"
#include "tests/support/run_executable.h"

namespace deputy::graphs {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Problem = std::optional<std::string>;

Problem differ(const delegate::Graph& graph, delegate::TensorId id, const Bytes& got,
               const Bytes& expected) {
  if (got == expected) return std::nullopt;
  std::size_t count = 0, first = got.size();
  for (std::size_t i = 0; i < std::min(got.size(), expected.size()); ++i)
    if (got[i] != expected[i]) first = std::min(first, i), ++count;
  return fmt::format("tensor %{} '{}' {}: {} of {} bytes differ, the first at {}", id,
                     graph.tensor(id).desc.name, shape_text(graph.tensor(id).desc.shape), count,
                     expected.size(), first);
}

Problem compare(const delegate::Graph& graph, const Setting& setting,
                const std::vector<Bytes>& inputs, const tests::GraphValues& expected) {
  try {
    const auto executable = delegate::compile(graph, setting.options);
    if (!executable.ok()) return "compilation: " + executable.error().text();
    test::check_loadable(*executable);
    test::ExecutableRunner runner(*executable, true);
    runner.check_fallbacks();
    const auto outputs = runner.run(inputs, static_cast<test::Order>(setting.order), 1);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const delegate::TensorId id = graph.outputs[i];
      if (auto d = differ(graph, id, outputs[i], expected.tensors[static_cast<std::size_t>(id)]))
        return "output " + std::to_string(i) + ", " + *d;
    }
    if (!setting.options.keep_all_tensors) return std::nullopt;
    for (const delegate::Op& op : graph.ops)
      for (const delegate::TensorId id : op.outputs) {
        const Bytes got = runner.tensor(static_cast<std::uint32_t>(id));
        if (auto d = differ(graph, id, got, expected.tensors[static_cast<std::size_t>(id)]))
          return d;
      }
  } catch (const std::exception& e) {
    return std::string(e.what());
  }
  return std::nullopt;
}

}  // namespace

std::optional<Failure> first_disagreement(const delegate::Graph& graph,
                                          const std::vector<Setting>& settings,
                                          std::uint64_t input_seed) {
  const auto inputs = random_inputs(graph, input_seed);
  const auto expected = tests::run_graph(graph, inputs, settings.front().options.numerics);
  if (!expected.ok()) return Failure{0, "the reference: " + expected.error().text()};
  for (std::size_t i = 0; i < settings.size(); ++i)
    if (auto problem = compare(graph, settings[i], inputs, *expected)) return Failure{i, *problem};
  return std::nullopt;
}

std::optional<std::string> disagreement(const delegate::Graph& graph, const Setting& setting,
                                        std::uint64_t input_seed) {
  const auto failure = first_disagreement(graph, {setting}, input_seed);
  return failure ? Problem(failure->text) : std::nullopt;
}

}  // namespace deputy::graphs
