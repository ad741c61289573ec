// Inputs of other shapes, and NPUs that a program was not compiled for.
#include "api/model.h"

#include <catch2/catch.hpp>

#include "api/input_shapes.h"
#include "host_runtime/ports/fake_port.h"
#include "tests/delegate/layer_graph.h"
#include "tests/support/run_executable.h"

namespace deputy::api {
namespace {

using delegate::Graph;
using delegate::testing::LayerGraph;
using test::Bytes;

// Fully convolutional: SAME and VALID windows, a residual, a pool, an explicit pad, global mean,
// softmax-free head.
Graph network(std::int32_t h, std::int32_t w) {
  LayerGraph g(5);
  const auto x = g.input({1, h, w, 3});
  const auto a = g.conv(x, 8, 3, {}, 2, true);
  const auto b = g.conv(a, 8, 1);
  const auto sum = g.op(arch::OpKind::ADD, {a, b}, g.shape(a));
  const auto pooled = g.pool(arch::OpKind::MAX_POOL_2D, g.pad(sum, 1, 0, 0, 1), 2, 2);
  const auto c = g.conv(pooled, 4, 3);
  arch::OpAttrs keep;
  const auto mean = g.op(arch::OpKind::MEAN, {c, g.ints({1, 2}, {2})}, {1, 4}, {}, keep);
  return g.finish({c, mean});
}

std::vector<Bytes> run(const std::vector<std::uint8_t>& file, const Graph& graph) {
  const auto executable = arch::read_executable(file, "test");
  REQUIRE(executable.ok());
  return test::ExecutableRunner(*executable).run(delegate::testing::ramp_inputs(graph));
}

ModelOptions options(ShapePolicy policy) {
  ModelOptions out;
  out.compile.engine = delegate::EnginePolicy::kNpu;
  out.policy = policy;
  return out;
}

}  // namespace

TEST_CASE("every shape follows the inputs', as if the model had been built for them") {
  const Graph g = network(17, 20);
  for (const auto& [h, w] : {std::pair(17, 20), std::pair(24, 17), std::pair(32, 40)}) {
    const Graph want = network(h, w);
    const auto got = with_input_shapes(g, {{1, h, w, 3}});
    INFO((got.ok() ? "" : got.error().text()));
    REQUIRE(got.ok());
    for (std::size_t i = 0; i < want.tensors.size(); ++i)
      CHECK(got->tensors[i].desc.shape == want.tensors[i].desc.shape);
    for (std::size_t i = 0; i < want.ops.size(); ++i) {
      CHECK(got->ops[i].attrs.pad_top == want.ops[i].attrs.pad_top);
      CHECK(got->ops[i].attrs.pad_bottom == want.ops[i].attrs.pad_bottom);
      CHECK(got->ops[i].attrs.pad_left == want.ops[i].attrs.pad_left);
      CHECK(got->ops[i].attrs.pad_right == want.ops[i].attrs.pad_right);
    }
  }
}

TEST_CASE("a shape that cannot be is refused with what stands in its way") {
  const Graph g = network(17, 20);
  CHECK(with_input_shapes(g, {}).error().kind == base::ErrorKind::kInput);
  CHECK(with_input_shapes(g, {{1, 17, 20}}).error().kind == base::ErrorKind::kInput);
  CHECK(with_input_shapes(g, {{1, 0, 20, 3}}).error().kind == base::ErrorKind::kInput);
  CHECK(with_input_shapes(g, {{1, 40000, 40000, 3}}).error().kind == base::ErrorKind::kInput);
  CHECK(with_input_shapes(g, {{1, 17, 20, 4}}).error().kind ==
        base::ErrorKind::kUnsupported);  // the weights
  CHECK(with_input_shapes(g, {{1, 4, 4, 3}}).error().kind ==
        base::ErrorKind::kUnsupported);  // a window does not fit

  LayerGraph fixed;
  const auto x = fixed.input({1, 4, 4, 2});
  const auto flat = fixed.op(arch::OpKind::RESHAPE, {x, fixed.ints({1, 32}, {2})}, {1, 32});
  const auto refused = with_input_shapes(fixed.finish({flat}), {{1, 8, 4, 2}});
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == base::ErrorKind::kUnsupported);
  CHECK(refused.error().where.find("RESHAPE") != std::string::npos);
  LayerGraph open;
  const auto y = open.input({1, 4, 4, 2});
  const auto any = open.op(arch::OpKind::RESHAPE, {y, open.ints({1, -1}, {2})}, {1, 32});
  const auto taken = with_input_shapes(open.finish({any}), {{1, 8, 4, 2}});
  REQUIRE(taken.ok());
  CHECK(taken->tensor(any).desc.shape == Shape{1, 64});
}

TEST_CASE("CPU and recompiled programs for another shape give the bytes of a model built for it") {
  const Graph want = network(24, 17);
  const auto reference = delegate::compile(want, {});
  REQUIRE(reference.ok());
  const auto bytes = test::ExecutableRunner(*reference).run(delegate::testing::ramp_inputs(want));
  for (const ShapePolicy policy : {ShapePolicy::kCpu, ShapePolicy::kRecompile}) {
    Model model(network(17, 20), options(policy));
    const auto program = model.program({{1, 24, 17, 3}});
    REQUIRE(program.ok());
    CHECK(!(*program)->note.empty());
    CHECK(run((*program)->file, want) == bytes);
    const auto executable = arch::read_executable((*program)->file, "test");
    CHECK(executable->programs.empty() == (policy == ShapePolicy::kCpu));
  }
  Model model(network(17, 20), options(ShapePolicy::kRefuse));
  CHECK(model.program({{1, 24, 17, 3}}).error().kind == base::ErrorKind::kInput);
  CHECK(model.program({{1, 17, 20, 3}}).ok());
}

TEST_CASE("programs are kept by shape, a bounded number of them, the model's own always") {
  ModelOptions o = options(ShapePolicy::kCpu);
  o.programs = 2;
  Model model(network(17, 20), o);
  const auto compiles = [&](std::int32_t h) {
    const std::size_t before = model.compiles();
    REQUIRE(model.program({{1, h, 20, 3}}).ok());
    return model.compiles() - before;
  };
  CHECK(compiles(17) == 1);
  CHECK(compiles(18) == 1);
  CHECK(compiles(19) == 1);
  CHECK(compiles(18) == 0);
  CHECK(compiles(20) == 1);  // 19 goes
  CHECK(compiles(18) == 0);
  CHECK(compiles(19) == 1);
  CHECK(compiles(17) == 0);
}

TEST_CASE("an NPU that the program was not compiled for is met by policy when it is loaded") {
  arch::NpuConfig other;
  other.spm.bytes = 65536, other.mac.oc_lanes = 16;
  const Graph g = network(17, 20);
  const auto shapes = input_shapes(g);
  std::string note;
  {
    host_runtime::FakePort port(other);
    host_runtime::Device device(port, {});
    Model model(g, options(ShapePolicy::kRefuse));
    const auto session = model.load(device, shapes, &note);
    REQUIRE(!session.ok());
    CHECK(session.error().kind == base::ErrorKind::kConfig);
  }
  {
    host_runtime::FakePort port(other);
    host_runtime::Device device(port, {});
    Model model(g, options(ShapePolicy::kCpu));
    auto session = model.load(device, shapes, &note);
    REQUIRE(session.ok());
    CHECK(note.find("CPU") != std::string::npos);
    CHECK((*session)->executable().programs.empty());
    const auto inputs = delegate::testing::ramp_inputs(g);
    REQUIRE((*session)->run(inputs).ok());
    const auto reference = delegate::compile(g, {});
    const auto want = test::ExecutableRunner(*reference).run(inputs);
    for (std::size_t i = 0; i < want.size(); ++i)
      CHECK((*session)->read_tensor((*session)->executable().outputs[i]).value() == want[i]);
    CHECK(model.load(device, shapes, &note).ok());
    CHECK(model.compiles() == 2);  // the refused one and the CPU's
  }
  {
    host_runtime::FakePort port(other);
    host_runtime::Device device(port, {});
    Model model(g, options(ShapePolicy::kRecompile));
    const auto session = model.load(device, shapes, &note);
    REQUIRE(session.ok());
    CHECK(note.find("compiled for the NPU that is there") != std::string::npos);
    CHECK((*session)->executable().target.mac.oc_lanes == 16);
    CHECK((*session)->executable().target.spm.bytes == 65536);
    CHECK(!(*session)->executable().programs.empty());
  }
  {
    host_runtime::FakePort port(arch::NpuConfig{});
    host_runtime::Device device(port, {});
    Model model(g, options(ShapePolicy::kRecompile));
    CHECK(model.load(device, shapes, &note).ok());
    CHECK(note.empty());
  }
}

}  // namespace deputy::api
