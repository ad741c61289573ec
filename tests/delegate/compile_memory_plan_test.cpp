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

// The verdict on the chain with its tensors, dense, at these offsets.
std::optional<std::string> verdict(const Graph& g, const std::vector<std::uint64_t>& offsets,
                                   bool keep_all, bool on_cpu = false) {
  arch::Executable e;
  std::vector<TensorView> views;
  std::vector<Action> actions;
  for (std::size_t i = 0; i < g.tensors.size(); ++i)
    views.push_back(dense_view(g.tensors[i].desc, {arch::Region::kFastArena, offsets[i]}));
  for (std::size_t i = 0; i < g.ops.size(); ++i)
    actions.push_back({g.ops[i].inputs, g.ops[i].outputs, {{i}}, on_cpu});
  e.fast_arena_bytes = 256;
  return check_memory_plan({g, e, views, actions, keep_all});
}

}  // namespace

TEST_CASE("the replay accepts a sound plan and names the tensor that is lost in a bad one") {
  const Graph g = chain();
  CHECK(!verdict(g, {0, 64, 0, 64}, false));
  CHECK(verdict(g, {0, 64, 0, 64}, true));  // a and b are gone at the end
  CHECK(!verdict(g, {0, 64, 128, 192}, true));
  CHECK(verdict(g, {0, 63, 0, 64}, false));  // b's first byte is a's last
  CHECK(verdict(g, {0, 64, 128, 193}, false) == "tensor 3 'd' leaves its region");
  Graph kept = g;
  kept.outputs = {0, 3};  // a must survive
  CHECK(verdict(kept, {0, 64, 0, 64}, false));
}

TEST_CASE("an element-wise NPU operator may write over its operand, exactly in its place") {
  const Graph g = chain();
  CHECK(!verdict(g, {0, 0, 64, 0}, false));
  CHECK(!verdict(g, {0, 0, 0, 0}, false));
  CHECK(verdict(g, {0, 0, 64, 0}, false, true) ==
        "tensor 0 'a' is overwritten by tensor 1 'b' before RELU #0 'b' while it runs");
  CHECK(verdict(g, {0, 1, 64, 0}, false));
  Graph kept = g;
  kept.outputs = {0, 3};
  CHECK(verdict(kept, {0, 0, 64, 128}, false) ==
        "tensor 0 'a' is overwritten by tensor 1 'b' before the graph's end");
  Graph sum = g;  // d = a + c, with a over b: a is gone when the sum reads it
  sum.ops[2] = {arch::OpKind::ADD, {}, {0, 2}, {3}, 2};
  CHECK(!verdict(sum, {0, 64, 64, 0}, false));
  CHECK(verdict(sum, {0, 0, 64, 128}, false));
  Graph pool = g;
  pool.ops[0].kind = arch::OpKind::SOFTMAX;
  CHECK(verdict(pool, {0, 0, 64, 0}, false));
}

TEST_CASE("random live ranges never share bytes while both are alive") {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<LiveRange> ranges;
    const int count = 1 + static_cast<int>(random() % 40);
    for (int i = 0; i < count; ++i) {
      const auto begin = static_cast<std::ptrdiff_t>(random() % 30);
      ranges.push_back({i, begin, begin + static_cast<std::ptrdiff_t>(random() % 8),
                        random() % 2000, random() % 5000});
    }
    const std::uint64_t limit = random() % 3 == 0 ? 1500 : 100000;
    const MemoryPlan plan = plan_memory(ranges, limit, Effort::kFast);
    REQUIRE(plan.buffers.size() == ranges.size());
    REQUIRE(plan.fast.bytes <= limit);
    for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
      const PlannedBuffer& a = plan.buffers[i];
      REQUIRE(a.offset % 64 == 0);
      REQUIRE(a.offset + a.range.bytes <=
              (a.region == arch::Region::kFastArena ? plan.fast.bytes : plan.slow.bytes));
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

TEST_CASE("the fast arena holds the buffers that move most bytes for the room and time they take") {
  std::mt19937 random(5);
  for (int round = 0; round < 60; ++round) {
    std::vector<LiveRange> ranges;
    const int count = 4 + static_cast<int>(random() % 9);
    for (int i = 0; i < count; ++i) {
      const auto begin = static_cast<std::ptrdiff_t>(random() % 12);
      ranges.push_back({i, begin, begin + static_cast<std::ptrdiff_t>(random() % 4),
                        64 * (1 + random() % 30), random() % 5000});
    }
    const std::uint64_t limit = 64 * (5 + random() % 60);
    // Every set of buffers whose live bytes stay within the limit: none is worth more.
    std::uint64_t best = 0;
    for (unsigned set = 0; set < 1u << count; ++set) {
      std::uint64_t value = 0, peak = 0;
      for (std::ptrdiff_t t = 0; t < 16; ++t) {
        std::uint64_t sum = 0;
        for (int i = 0; i < count; ++i)
          if (set >> i & 1 && ranges[static_cast<std::size_t>(i)].begin <= t &&
              t <= ranges[static_cast<std::size_t>(i)].end)
            sum += ranges[static_cast<std::size_t>(i)].bytes;
        peak = std::max(peak, sum);
      }
      for (int i = 0; i < count; ++i)
        if (set >> i & 1) value += ranges[static_cast<std::size_t>(i)].traffic;
      if (peak <= limit) best = std::max(best, value);
    }
    const MemoryPlan plan = plan_memory(ranges, limit, Effort::kFull);
    std::uint64_t got = 0;
    for (const PlannedBuffer& buffer : plan.buffers)
      if (buffer.region == arch::Region::kFastArena) got += buffer.range.traffic;
    INFO("round " << round);
    CHECK(plan.fast.bytes <= limit);
    CHECK(got <= best);
    CHECK(got * 100 >= best * 97);  // a set may fit by its sums and yet not pack
  }
}

}  // namespace deputy::delegate
