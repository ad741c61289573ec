// Scheduling of random graphs: every operator once, after its producers, in groups of alternating
// engines.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "delegate/partition/schedule.h"

namespace deputy::delegate {
namespace {

struct RandomGraph {
  Graph graph;
  std::vector<OpPlacement> placements;
};

RandomGraph random_graph(unsigned seed) {
  std::mt19937 random(seed);
  RandomGraph out;
  const int count = 1 + static_cast<int>(random() % 40);
  out.graph.tensors.resize(static_cast<std::size_t>(count) + 1);
  for (Tensor& t : out.graph.tensors) t.desc.shape = {4};
  out.graph.inputs = {0};
  for (int i = 0; i < count; ++i) {
    Op op;
    const int inputs = 1 + static_cast<int>(random() % 3);
    for (int k = 0; k < inputs; ++k)
      op.inputs.push_back(static_cast<TensorId>(random() % static_cast<unsigned>(i + 1)));
    op.outputs = {i + 1};
    op.kind = arch::OpKind::CONCATENATION;
    out.graph.ops.push_back(op);
    out.placements.push_back({static_cast<Engine>(random() % 3), ""});
  }
  out.graph.outputs = {count};
  return out;
}

}  // namespace

TEST_CASE("schedules are complete, in dependency order, and alternate between engines") {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    INFO("seed " << seed);
    const RandomGraph r = random_graph(seed);
    const Schedule schedule = make_schedule(r.graph, r.placements);
    std::vector<int> position(r.graph.ops.size(), -1);
    REQUIRE(schedule.order.size() == r.graph.ops.size());
    for (std::size_t i = 0; i < schedule.order.size(); ++i)
      position[schedule.order[i]] = static_cast<int>(i);
    for (std::size_t i = 0; i < r.graph.ops.size(); ++i) {
      REQUIRE(position[i] >= 0);
      for (const TensorId in : r.graph.ops[i].inputs)
        if (in > 0) REQUIRE(position[static_cast<std::size_t>(in - 1)] < position[i]);
    }
    std::size_t grouped = 0;
    int last = -1;
    for (std::size_t g = 0; g < schedule.groups.size(); ++g) {
      if (g > 0) REQUIRE(schedule.groups[g].engine != schedule.groups[g - 1].engine);
      for (const std::size_t op : schedule.groups[g].ops) {
        REQUIRE(r.placements[op].engine == schedule.groups[g].engine);
        REQUIRE(position[op] > last);  // groups run one after the other
        last = position[op];
        ++grouped;
      }
    }
    const auto aliases =
        std::count_if(r.placements.begin(), r.placements.end(),
                      [](const OpPlacement& p) { return p.engine == Engine::kAlias; });
    REQUIRE(grouped + static_cast<std::size_t>(aliases) == r.graph.ops.size());
  }
}

TEST_CASE("a diamond across engines is not merged into a cycle") {
  // A(npu) -> B(cpu) -> C(npu), and A -> C: A and C cannot be one group.
  Graph g;
  g.tensors.resize(4);
  for (Tensor& t : g.tensors) t.desc.shape = {4};
  g.inputs = {0}, g.outputs = {3};
  g.ops = {{arch::OpKind::RELU, {}, {0}, {1}, 0},
           {arch::OpKind::RELU, {}, {1}, {2}, 1},
           {arch::OpKind::ADD, {}, {1, 2}, {3}, 2}};
  const Schedule s = make_schedule(g, {{Engine::kNpu, ""}, {Engine::kCpu, ""}, {Engine::kNpu, ""}});
  REQUIRE(s.groups.size() == 3);
  CHECK(s.groups[0].ops == std::vector<std::size_t>{0});
  CHECK(s.groups[1].ops == std::vector<std::size_t>{1});
  CHECK(s.groups[2].ops == std::vector<std::size_t>{2});
}

TEST_CASE("two interleaved chains need two groups, not four") {
  // npu: 0 -> 1 and cpu: 2 -> 3, listed alternately.
  Graph g;
  g.tensors.resize(5);
  for (Tensor& t : g.tensors) t.desc.shape = {4};
  g.inputs = {0}, g.outputs = {2, 4};
  g.ops = {{arch::OpKind::RELU, {}, {0}, {1}, 0},
           {arch::OpKind::RELU, {}, {0}, {3}, 1},
           {arch::OpKind::RELU, {}, {1}, {2}, 2},
           {arch::OpKind::RELU, {}, {3}, {4}, 3}};
  const Schedule s = make_schedule(
      g, {{Engine::kNpu, ""}, {Engine::kCpu, ""}, {Engine::kNpu, ""}, {Engine::kCpu, ""}});
  CHECK(s.groups.size() == 2);
}

}  // namespace deputy::delegate
