// Placement through the real compiler: user rules and limits hold or are refused, the steps are
// always valid, outputs never depend on them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "delegate/compile.h"
#include "delegate/dump.h"
#include "tests/support/graphs/agreement.h"
#include "tests/support/graphs/random_graph.h"
#include "workloads/builder.h"

namespace deputy::delegate {
namespace {

// conv -> elu (CPU only) -> conv -> softmax
Graph network() {
  workloads::Builder b("cuts", 7);
  TensorId x = b.input({1, 16, 16, 8}, -1.0f, 1.0f);
  x = b.conv("first", x, 16, {.kernel_h = 3, .kernel_w = 3});
  x = b.elu("middle", x);
  x = b.conv("second", x, 16, {.kernel_h = 3, .kernel_w = 3});
  x = b.fully_connected("dense", b.global_mean("mean", x), 8);
  return b.finish({b.softmax("softmax", x)});
}

PlacementRule force(const std::string& text) { return *parse_force(text); }
PlacementRule deny(const std::string& text) { return *parse_deny(text); }

std::size_t index_of(const Graph& graph, arch::OpKind kind) {
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    if (graph.ops[i].kind == kind) return i;
  FAIL("no such operator");
  return 0;
}

// What the executable says against the rules of a schedule: every operator with work in one step,
// after the steps that write what it reads.
std::string complaint(const Graph& graph, const arch::Executable& e) {
  std::vector<int> step_of(graph.ops.size(), -1);
  for (std::size_t s = 0; s < e.steps.size(); ++s) {
    std::vector<std::uint32_t> ops{e.steps[s].source_op};
    if (e.steps[s].kind == arch::StepKind::kNpu) ops = e.programs[e.steps[s].program].source_ops;
    for (const std::uint32_t op : ops) {
      if (step_of[op] != -1) return "an operator twice";
      if (e.ops[op].aliased) return "an alias in a step";
      if (e.ops[op].on_npu != (e.steps[s].kind == arch::StepKind::kNpu)) return "another engine";
      step_of[op] = static_cast<int>(s);
    }
  }
  std::vector<int> ready(graph.tensors.size(), -1);  // the step after which a tensor is there
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    int after = -1;
    for (const TensorId id : graph.ops[i].inputs)
      if (id != kNoTensor) after = std::max(after, ready[static_cast<std::size_t>(id)]);
    if (e.ops[i].aliased) {
      if (step_of[i] != -1) return "an alias in a step";
      step_of[i] = after;
    }
    if (!e.ops[i].aliased && step_of[i] == -1) return "an operator in no step";
    if (step_of[i] < after) return "a step before one that it reads from";
    for (const TensorId id : graph.ops[i].outputs) ready[static_cast<std::size_t>(id)] = step_of[i];
  }
  return "";
}

}  // namespace

TEST_CASE("operators go where they are forced to, by kind, index and name") {
  const Graph graph = network();
  const auto on_npu = [&](const CompileOptions& options, arch::OpKind kind) {
    const auto e = compile(graph, options);
    INFO((e.ok() ? "" : e.error().text()));
    REQUIRE(e.ok());
    CHECK(complaint(graph, *e) == "");
    return e->ops[index_of(graph, kind)].on_npu;
  };
  CompileOptions options;
  CHECK(on_npu(options, arch::OpKind::CONV_2D));
  options.placement.rules = {force("CONV_2D=cpu")};
  CHECK_FALSE(on_npu(options, arch::OpKind::CONV_2D));
  options.placement.rules = {deny("#0")};
  CHECK_FALSE(on_npu(options, arch::OpKind::CONV_2D));
  options.placement.rules = {deny("first*")};
  CHECK_FALSE(on_npu(options, arch::OpKind::CONV_2D));
  options.engine = EnginePolicy::kCpu;
  options.placement.rules = {force("SOFTMAX=npu")};
  CHECK(on_npu(options, arch::OpKind::SOFTMAX));
  CHECK_FALSE(on_npu(options, arch::OpKind::CONV_2D));
  options.placement.rules = {deny("SOFTMAX=cpu")};
  CHECK(on_npu(options, arch::OpKind::SOFTMAX));
}

TEST_CASE("rules that cannot be met are refused, with the rule and the reason") {
  const Graph graph = network();
  const auto error = [&](std::vector<PlacementRule> rules) {
    CompileOptions options;
    options.placement.rules = std::move(rules);
    const auto e = compile(graph, options);
    REQUIRE_FALSE(e.ok());
    return e.error();
  };
  CHECK(error({force("NO_SUCH=cpu")}).kind == base::ErrorKind::kUsage);
  CHECK(error({force("NO_SUCH=cpu")}).text().find("--force NO_SUCH=cpu") != std::string::npos);
  CHECK(error({force("SOFTMAX=cpu"), deny("SOFTMAX=cpu")}).text().find("leave no engine") !=
        std::string::npos);
  CHECK_FALSE(parse_force("SOFTMAX").ok());
  CHECK_FALSE(parse_force("=cpu").ok());
  CHECK_FALSE(parse_deny("").ok());
}

TEST_CASE("limits on partitions hold, and impossible ones are refused") {
  const Graph graph = network();
  CompileOptions options;
  options.placement.rules = {force("ELU=cpu")};  // two programs at best
  const auto free = compile(graph, options);
  REQUIRE(free.ok());
  CHECK(free->programs.size() == 2);
  for (std::size_t most = 0; most < 3; ++most) {
    options.placement.max_partitions = most;
    const auto e = compile(graph, options);
    REQUIRE(e.ok());
    CHECK(e->programs.size() == most);
    CHECK(complaint(graph, *e) == "");
  }
  options.placement.max_partitions = 2;
  options.placement.min_partition = 2;  // the first convolution is alone before ELU
  const auto larger = compile(graph, options);
  REQUIRE(larger.ok());
  CHECK(larger->programs.size() == 1);
  for (const auto& program : larger->programs) CHECK(program.source_ops.size() >= 2);
  options.placement.rules.push_back(force("CONV_2D=npu"));
  const auto impossible = compile(graph, options);
  REQUIRE_FALSE(impossible.ok());
  CHECK(impossible.error().kind == base::ErrorKind::kUsage);
  CHECK(impossible.error().text().find("--min-partition 2") != std::string::npos);
  options.placement = {};
  options.placement.max_partitions = 0;
  options.engine = EnginePolicy::kNpu;
  CHECK_FALSE(compile(graph, options).ok());
}

TEST_CASE("a trace has one reason a cut, and costs that add up to the estimate") {
  const Graph graph = network();
  CompileTrace trace;
  CompileOptions options;
  options.trace = &trace;
  options.placement.rules = {force("ELU=cpu")};
  const auto e = compile(graph, options);
  REQUIRE(e.ok());
  std::vector<std::string> notes;
  for (const TraceNote& note : trace.notes)
    if (note.topic == "partition") notes.push_back(note.text);
  REQUIRE(notes.size() == 3);
  CHECK(notes[0].find("estimate in NPU cycles: ") == 0);
  CHECK(notes[1].find("cut before ELU #1 'middle' (npu -> cpu): not on the NPU: --force ELU=cpu, "
                      "boundary 4096 B") == 0);
  CHECK(notes[2].find("cut before CONV_2D #2 'second' (cpu -> npu): the NPU saves about ") == 0);
  CHECK(notes[2].find("boundary 4096 B") != std::string::npos);
}

TEST_CASE("random graphs under random rules and limits: valid steps, equal outputs") {
  int compiled = 0, refused = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    INFO("seed " << seed);
    const Graph graph = graphs::random_graph(seed);
    std::vector<graphs::Setting> all = graphs::settings(seed, 0, 1);
    std::mt19937 random(seed);
    std::vector<graphs::Setting> usable;
    for (graphs::Setting& setting : all) {
      PlacementLimits& limits = setting.options.placement;
      for (std::size_t i = 0; i < graph.ops.size(); ++i)
        if (random() % 3 == 0)
          limits.rules.push_back({"#" + std::to_string(i),
                                  random() % 3 ? Target::kCpu : Target::kNpu, random() % 4 == 0});
      if (random() % 3 == 0) limits.min_partition = 1 + random() % 4;
      if (random() % 3 == 0) limits.max_partitions = random() % 4;
      const auto e = compile(graph, setting.options);
      if (!e.ok()) {
        const auto kind = e.error().kind;
        REQUIRE((kind == base::ErrorKind::kUsage || kind == base::ErrorKind::kUnsupported));
        ++refused;
        continue;
      }
      ++compiled;
      INFO(dump_placement(*e));
      REQUIRE(complaint(graph, *e) == "");
      CHECK(e->programs.size() <= limits.max_partitions);
      for (const auto& program : e->programs)
        CHECK(program.source_ops.size() >= limits.min_partition);
      for (const PlacementRule& rule : limits.rules) {
        const arch::SourceOp& op = e->ops[std::stoul(rule.op.substr(1))];
        CHECK(op.on_npu == ((rule.target == Target::kNpu) != rule.deny));
      }
      usable.push_back(std::move(setting));
    }
    if (usable.empty()) continue;
    const auto failure = graphs::first_disagreement(graph, usable, seed);
    INFO((failure ? failure->text : ""));
    REQUIRE_FALSE(failure);
  }
  CHECK(compiled > 30);
  CHECK(refused > 5);
}

}  // namespace deputy::delegate
