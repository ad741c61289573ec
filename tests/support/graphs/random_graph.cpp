#include "tests/support/graphs/random_graph.h"

#include <algorithm>

#include "tests/support/graphs/steps.h"

namespace deputy::graphs {
namespace {

Limits limits_of(std::uint64_t seed) {
  switch (seed % 10) {
    case 6:
    case 7:
      return {14, 3000, 100000};
    case 8:
      return {5, 40000, 3000000};
    case 9:
      return {1, 8192, 500000};
    default:
      return {};
  }
}

void add_input(Maker& m) {
  const int scale = m.limits.elements > 10000 ? 3 : 1;
  switch (m.pick(0, 9)) {
    case 0:
      m.input({m.pick(1, 9), m.pick(1, 200)}, m.quantisation());
      return;
    case 1: {
      const Shape shape = {m.pick(1, 2), m.pick(1, 12), m.pick(1, 20)};
      m.input(shape, m.quantisation());
      return;
    }
    default: {
      const int n = m.chance(85) ? 1 : m.pick(2, 3);
      const int h = m.pick(1, 11 * scale), w = m.chance(50) ? h : m.pick(1, 11 * scale);
      const int c = m.chance(70) ? m.pick(1, 10) : m.pick(8, 24);
      m.input({n, h, w, c}, m.quantisation());
    }
  }
}

void choose_outputs(Maker& m) {
  Graph& g = m.graph();
  std::vector<bool> read(g.tensors.size(), false);
  for (const Op& op : g.ops)
    for (const TensorId id : op.inputs)
      if (id != kNoTensor) read[static_cast<std::size_t>(id)] = true;
  const auto listed = [&](TensorId id) {
    return std::find(g.outputs.begin(), g.outputs.end(), id) != g.outputs.end();
  };
  for (const Op& op : g.ops)
    for (const TensorId id : op.outputs) {
      const bool end = !read[static_cast<std::size_t>(id)];
      if (!listed(id) && m.chance(end ? 88 : 4)) g.outputs.push_back(id);
    }
  for (const TensorId id : g.inputs)
    if (m.chance(4)) g.outputs.push_back(id);  // an input handed through
  if (m.chance(2) && !g.outputs.empty()) g.outputs.push_back(g.outputs[0]);
  if (g.outputs.empty()) g.outputs.push_back(m.maps().back());
}

}  // namespace

Graph random_graph(std::uint64_t seed) {
  Maker m("random_" + std::to_string(seed), seed, limits_of(seed));
  if (seed / 10 % 4 == 3) m.type = DType::kUint8;
  for (int n = m.chance(75) ? 1 : 2; n > 0; --n) add_input(m);
  while (m.graph().ops.empty())
    for (int step = 0; step < m.limits.steps; ++step) random_step(m);
  choose_outputs(m);
  return std::move(m.graph());
}

std::vector<std::vector<std::uint8_t>> random_inputs(const Graph& graph, std::uint64_t seed) {
  std::vector<std::vector<std::uint8_t>> out;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i)
    out.push_back(workloads::seeded_input(graph.tensor(graph.inputs[i]).desc, seed * 31 + i));
  return out;
}

}  // namespace deputy::graphs
