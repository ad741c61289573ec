// The memory planner against the independent replay, on random live ranges and by hand.
#include <catch2/catch.hpp>
#include <random>

#include "delegate/passes/check_memory_plan.h"
#include "delegate/passes/memory_plan.h"

namespace deputy::delegate {
namespace {

Tensor map(const std::string& name, std::int32_t bytes) {
  Tensor t;
  t.desc.name = name, t.desc.shape = {1, bytes};
  t.desc.quant = {{0.5f}, {0}, 0};
  return t;
}

// a -> RELU -> b -> RELU -> c -> RELU -> d
Graph chain() {
  Graph g;
  g.name = "chain";
  for (const char* name : {"a", "b", "c", "d"}) g.tensors.push_back(map(name, 64));
  for (TensorId i = 0; i < 3; ++i) g.ops.push_back({arch::OpKind::RELU, {}, {i}, {i + 1}, i});
  g.inputs = {0}, g.outputs = {3};
  return g;
}

arch::Executable placed(const Graph& g, const std::vector<std::uint64_t>& offsets) {
  arch::Executable e;
  for (std::size_t i = 0; i < g.tensors.size(); ++i) {
    arch::PlacedTensor t;
    t.desc = g.tensors[i].desc, t.placement = arch::Placement::kRegion, t.offset = offsets[i];
    e.tensors.push_back(t);
  }
  e.ops.resize(g.ops.size());
  return e;
}

}  // namespace

TEST_CASE("the replay accepts a sound plan and names the tensor that is lost in a bad one") {
  const Graph g = chain();
  const std::vector<std::size_t> order = {0, 1, 2};
  CHECK(!check_memory_plan(g, placed(g, {0, 64, 0, 64}), order, false));
  CHECK(
      check_memory_plan(g, placed(g, {0, 64, 0, 64}), order, true));  // a and b are gone at the end
  CHECK(!check_memory_plan(g, placed(g, {0, 64, 128, 192}), order, true));
  CHECK(
      check_memory_plan(g, placed(g, {0, 63, 0, 64}), order, false));  // b's first byte is a's last
  CHECK(check_memory_plan(g, placed(g, {0, 0, 64, 0}), order, false));  // in place
  Graph kept = g;
  kept.outputs = {0, 3};  // a must survive
  CHECK(check_memory_plan(kept, placed(kept, {0, 64, 0, 64}), order, false));
}

TEST_CASE("random live ranges never share bytes while both are alive") {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<LiveRange> ranges;
    const int count = 1 + static_cast<int>(random() % 40);
    for (int i = 0; i < count; ++i) {
      const auto begin = static_cast<std::ptrdiff_t>(random() % 30);
      ranges.push_back(
          {i, begin, begin + static_cast<std::ptrdiff_t>(random() % 8), random() % 2000});
    }
    const std::uint64_t limit = random() % 3 == 0 ? 1500 : 100000;
    const MemoryPlan plan = plan_memory(ranges, limit);
    REQUIRE(plan.buffers.size() == ranges.size());
    REQUIRE(plan.fast_bytes <= limit);
    for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
      const PlannedBuffer& a = plan.buffers[i];
      REQUIRE(a.offset % 64 == 0);
      REQUIRE(a.offset + a.range.bytes <=
              (a.region == arch::Region::kFastArena ? plan.fast_bytes : plan.slow_bytes));
      for (std::size_t j = 0; j < i; ++j) {
        const PlannedBuffer& b = plan.buffers[j];
        const bool both_alive = !(a.range.end < b.range.begin || b.range.end < a.range.begin);
        const bool apart =
            a.offset + a.range.bytes <= b.offset || b.offset + b.range.bytes <= a.offset;
        REQUIRE((!both_alive || a.region != b.region || apart));
      }
    }
  }
}

}  // namespace deputy::delegate
