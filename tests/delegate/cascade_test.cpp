// Cascades: the plan of the stripes against a replay row by row, and whole networks in every legal
// order of their instructions against the same network without cascades.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "delegate/cascade/plan.h"
#include "delegate/compile.h"
#include "tests/delegate/random_layers.h"
#include "tests/support/run_executable.h"
#include "workloads/builder.h"

namespace deputy::delegate {
namespace {

std::vector<CascadeStage> random_stages(std::mt19937& random) {
  std::vector<CascadeStage> stages;
  std::int64_t height = 8 + static_cast<std::int64_t>(random() % 40);
  const std::size_t count = 2 + random() % 6;
  for (std::size_t s = 0; s < count; ++s) {
    CascadeStage stage;
    StageInput in;
    in.tensor = static_cast<TensorId>(s), in.height = height;
    in.stride = 1 + random() % 2, in.reach = 1 + random() % 5;
    in.pad = std::min<std::int64_t>(in.reach - 1, random() % 3);
    const std::int64_t below = random() % 3;
    stage.height = std::max<std::int64_t>(1, (height + in.pad + below - in.reach) / in.stride + 1);
    stage.output = static_cast<TensorId>(s + 1);
    stage.inputs = {in};
    // A second operand of the same height, made earlier in the cascade or before it.
    for (std::size_t t = 0; t < s; ++t)
      if (stages[t].height == stage.height && random() % 2) {
        stage.inputs.push_back({stages[t].output, 1, 1, 0, stage.height});
        break;
      }
    height = stage.height;
    stages.push_back(stage);
  }
  return stages;
}

// Rows of every tensor are written into their rings and read back: each must still be there.
void replay(const std::vector<CascadeStage>& stages, const Stripes& stripes) {
  std::map<TensorId, std::vector<std::int64_t>> rings;  // the row that each place holds
  for (const CascadeStage& stage : stages) {
    const auto it = stripes.rings.find(stage.output);
    const std::int64_t rows = it == stripes.rings.end() ? stage.height : it->second;
    REQUIRE(rows >= 1);
    rings[stage.output].assign(static_cast<std::size_t>(rows), -1);
  }
  std::vector<std::int64_t> made(stages.size(), 0);
  for (const StripeStep& step : stripes.order) {
    const std::size_t s = step.stage;
    REQUIRE(step.rows.begin == made[s]);
    REQUIRE(step.rows.end > step.rows.begin);
    REQUIRE(step.rows.end - step.rows.begin <= step.rows.nominal);
    for (std::int64_t y = step.rows.begin; y < step.rows.end; ++y)
      for (const StageInput& in : stages[s].inputs) {
        const auto ring = rings.find(in.tensor);
        if (ring == rings.end()) continue;  // from outside
        for (std::int64_t tap = 0; tap < in.reach; ++tap) {
          const std::int64_t row = y * in.stride - in.pad + tap;
          if (row < 0 || row >= in.height) continue;
          REQUIRE(ring->second[static_cast<std::size_t>(row) % ring->second.size()] == row);
        }
      }
    auto& own = rings[stages[s].output];
    for (std::int64_t y = step.rows.begin; y < step.rows.end; ++y)
      own[static_cast<std::size_t>(y) % own.size()] = y;
    made[s] = step.rows.end;
  }
  for (std::size_t s = 0; s < stages.size(); ++s) REQUIRE(made[s] == stages[s].height);
}

// A chain of convolutions, depthwise layers, pools and residual additions.
Graph random_chain(unsigned seed) {
  std::mt19937 random(seed);
  const auto pick = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  workloads::Builder b("chain", seed);
  TensorId x = b.input({1, pick(9, 30), pick(5, 14), pick(1, 6)}, -1.0f, 1.5f);
  const int layers = pick(3, 7);
  for (int i = 0; i < layers; ++i) {
    const std::string name = "layer" + std::to_string(i);
    const bool valid = random() % 2 && b.shape(x)[1] > 3 && b.shape(x)[2] > 3;
    const auto padding = valid ? arch::Padding::kValid : arch::Padding::kSame;
    switch (pick(0, 3)) {
      case 0:
        x = b.conv(name, x, pick(1, 12),
                   {.kernel_h = pick(1, 3),
                    .kernel_w = pick(1, 3),
                    .stride_h = pick(1, 2),
                    .padding = padding});
        break;
      case 1:
        x = b.depthwise(name, x, 1, {.kernel_h = 3, .kernel_w = 3});
        break;
      case 2:
        x = b.max_pool(name, x,
                       {.kernel_h = 2, .kernel_w = 2, .stride_h = pick(1, 2), .stride_w = 1});
        break;
      default: {
        const TensorId wide = b.conv(name + "a", x, 8, {.kernel_h = 1, .kernel_w = 1});
        const TensorId deep = b.depthwise(name + "b", wide, 1, {.kernel_h = 3, .kernel_w = 3});
        x = b.add(name, wide, deep, arch::Activation::kNone);
      }
    }
  }
  return b.finish({x});
}

}  // namespace

TEST_CASE("every row is still in its ring when a stage reads it, and all rows are made once") {
  std::mt19937 random(11);
  std::int64_t kept = 0, whole = 0;
  for (int round = 0; round < 3000; ++round) {
    INFO("round " << round);
    const std::vector<CascadeStage> stages = random_stages(random);
    const Stripes stripes =
        plan_stripes(stages, 1 + static_cast<std::int64_t>(random() % 6), random() % 2 == 0);
    replay(stages, stripes);
    for (const auto& [tensor, rows] : stripes.rings)
      kept += rows, whole += stages[static_cast<std::size_t>(tensor - 1)].height;
  }
  CHECK(kept < whole * 3 / 4);  // and they are rings indeed
}

TEST_CASE("a stage's window of three rows needs a ring of the stripe and two more") {
  CascadeStage a{1, 16, 10, {{0, 1, 1, 0, 16}}}, b{2, 16, 10, {{1, 1, 3, 1, 16}}};
  const Stripes stripes = plan_stripes({a, b}, 4, false);
  CHECK(stripes.rings.at(1) == 6);
  REQUIRE(stripes.rows.size() == 4);
  CHECK(stripes.rows[0][0].end == 5);  // rows 0 to 4 for outputs 0 to 3
  CHECK(stripes.rows[1][0].begin == 5);
  CHECK(stripes.rows[1][0].end == 9);
  CHECK(stripes.rows[3][0].end == 16);
}

TEST_CASE(
    "of three or more stages, one of a skewed cascade never needs what was made just before it") {
  CascadeStage a{1, 16, 10, {{0, 1, 1, 0, 16}}}, b{2, 16, 10, {{1, 1, 3, 1, 16}}},
      c{3, 16, 10, {{2, 1, 1, 0, 16}}};
  const Stripes stripes = plan_stripes({a, b, c}, 4, true);
  REQUIRE(stripes.order.size() == 12);
  const std::vector<CascadeStage> stages = {a, b, c};
  std::array<std::int64_t, 3> made{},
      before{};  // rows of each stage, and those without the step before
  for (std::size_t i = 0; i < stripes.order.size(); ++i) {
    const StripeStep& step = stripes.order[i];
    const bool filling = i < 2;  // the first two stages of the first stripe
    if (step.stage > 0 && !filling && i + 1 < stripes.order.size())
      CHECK(stages[step.stage].inputs[0].rows(step.rows).end <= before[step.stage - 1]);
    before = made;
    made[step.stage] = step.rows.end;
  }
  CHECK(made == std::array<std::int64_t, 3>{16, 16, 16});
}

TEST_CASE("cascades give the same bytes as the CPU in every legal order") {
  int cascaded = 0;
  for (unsigned seed = 0; seed < 150; ++seed) {
    INFO("seed " << seed);
    const Graph graph = random_chain(seed);
    REQUIRE(validate(graph).ok());
    CompileOptions options;
    options.npu.spm.bytes = seed % 3 ? 6000 : 65536;
    options.sram_bytes = 512u << seed % 4;
    options.memory.dram_bytes_per_cycle = 0.5;
    options.effort = seed % 2 ? Effort::kFast : Effort::kFull;
    options.engine = EnginePolicy::kCpu;
    const auto reference = compile(graph, options);
    options.engine = EnginePolicy::kNpu;
    const auto executable = compile(graph, options);
    REQUIRE((reference.ok() && executable.ok()));
    // A tensor with a ring has no whole to show.
    for (const Op& op : graph.ops)
      cascaded += executable->tensors[static_cast<std::size_t>(op.outputs[0])].placement ==
                  arch::Placement::kNone;
    const auto inputs = testing::random_inputs(graph, seed);
    const auto expected = test::ExecutableRunner(*reference).run(inputs);
    REQUIRE(test::ExecutableRunner(*executable).run(inputs) == expected);
    const auto order = static_cast<test::Order>(1 + seed % 4);
    REQUIRE(test::ExecutableRunner(*executable).run(inputs, order, seed) == expected);
    options.optimisations.cascade = false;
    const auto plain = compile(graph, options);
    REQUIRE(plain.ok());
    REQUIRE(test::ExecutableRunner(*plain).run(inputs) == expected);
  }
  CHECK(cascaded > 100);
}

}  // namespace deputy::delegate
