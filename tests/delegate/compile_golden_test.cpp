// Every conformance case of ../shared/data/ops, compiled for several NPUs and run without a SoC,
// against the outputs of outside runtimes: in stream order and in random orders that the waits
// allow.
#include <catch2/catch.hpp>

#include "delegate/compile.h"
#include "delegate/import/tflite.h"
#include "tests/support/golden.h"
#include "tests/support/run_executable.h"

namespace deputy::delegate {
namespace {

using test::Bytes;
using tests::GoldenTensor;
using tests::OpCase;

struct Machine {
  const char* name;
  std::int32_t spm, oc, ic, pixels, accumulators;
};
constexpr Machine kMachines[] = {{"default", 131072, 8, 8, 2, 2048},
                                 {"tiny", 4096, 4, 4, 1, 64},
                                 {"odd", 10000, 3, 7, 5, 100},
                                 {"wide", 1048576, 32, 16, 4, 8192}};

CompileOptions options_for(const Machine& m, Numerics numerics, EnginePolicy engine) {
  CompileOptions o;
  o.npu.spm.bytes = m.spm;
  o.npu.mac.oc_lanes = m.oc, o.npu.mac.ic_lanes = m.ic, o.npu.mac.pixels = m.pixels;
  o.npu.mac.accumulators = m.accumulators;
  o.numerics = numerics, o.engine = engine;
  o.sram_bytes = 2048;  // both arenas see use
  return o;
}

void check_case(const std::string& data, const OpCase& c, const std::vector<GoldenTensor>& golden,
                const CompileOptions& options) {
  const auto graph = import_tflite(tests::read_bytes(data + "/" + c.model), c.name);
  REQUIRE(graph.ok());
  const auto executable = compile(*graph, options);
  REQUIRE(executable.ok());
  REQUIRE_NOTHROW(test::check_loadable(*executable));
  std::vector<Bytes> inputs;
  for (const std::string& file : c.inputs) inputs.push_back(tests::read_bytes(data + "/" + file));
  std::vector<Bytes> first;
  for (int i = 0; i < 5; ++i) {
    INFO("order " << i);
    const auto got = test::ExecutableRunner(*executable)
                         .run(inputs, static_cast<test::Order>(i), static_cast<unsigned>(i));
    if (i == 0) first = got;
    CHECK(got == first);
  }
  for (const GoldenTensor& t : golden) {
    const auto difference = tests::compare(t.dtype, first[static_cast<std::size_t>(t.index)],
                                           tests::read_bytes(data + "/" + t.file));
    INFO("output " << t.index << ": " << difference.text());
    CHECK(difference.none());
  }
}

void check_machine(const Machine& machine, EnginePolicy engine) {
  const auto data = tests::shared_data_dir();
  if (!data) {
    WARN("skipped: ../shared/data is absent");
    return;
  }
  for (const OpCase& c : tests::load_op_cases(*data)) {
    INFO(c.name << " on " << machine.name);
    if (!c.tflm.empty())
      check_case(*data, c, c.tflm, options_for(machine, Numerics::kTflite, engine));
    if (!c.tfjs.empty())
      check_case(*data, c, c.tfjs, options_for(machine, Numerics::kFp32, engine));
  }
}

}  // namespace

TEST_CASE("conformance cases equal the outside runtimes: NPU, default") {
  check_machine(kMachines[0], EnginePolicy::kNpu);
}
TEST_CASE("conformance cases equal the outside runtimes: NPU, tiny") {
  check_machine(kMachines[1], EnginePolicy::kNpu);
}
TEST_CASE("conformance cases equal the outside runtimes: NPU, odd") {
  check_machine(kMachines[2], EnginePolicy::kNpu);
}
TEST_CASE("conformance cases equal the outside runtimes: NPU, wide") {
  check_machine(kMachines[3], EnginePolicy::kNpu);
}
TEST_CASE("conformance cases equal the outside runtimes: auto") {
  check_machine(kMachines[0], EnginePolicy::kAuto);
}
TEST_CASE("conformance cases equal the outside runtimes: CPU") {
  check_machine(kMachines[0], EnginePolicy::kCpu);
}

}  // namespace deputy::delegate
