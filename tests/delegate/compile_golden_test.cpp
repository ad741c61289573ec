// Every conformance case of ../shared/data/ops, compiled for several NPUs and run without a SoC, against
// the outputs of outside runtimes.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <iostream>
#include <set>

#include "delegate/compile.h"
#include "delegate/import/tflite.h"
#include "tests/delegate/shared_data.h"
#include "tests/support/run_executable.h"

namespace deputy::delegate {
namespace {

using nlohmann::json;
using test::Bytes;

struct Machine {
  const char* name;
  std::int32_t spm, oc, ic, pixels, accumulators;
};
constexpr Machine kMachines[] = {{"default", 131072, 8, 8, 2, 2048}, {"tiny", 4096, 4, 4, 1, 64}, {"wide", 1048576, 32, 16, 4, 8192}};

CompileOptions options_for(const Machine& m, Numerics numerics, EnginePolicy engine) {
  CompileOptions o;
  o.npu.spm.bytes = m.spm;
  o.npu.mac.oc_lanes = m.oc, o.npu.mac.ic_lanes = m.ic, o.npu.mac.pixels = m.pixels;
  o.npu.mac.accumulators = m.accumulators;
  o.numerics = numerics, o.engine = engine;
  o.sram_bytes = static_cast<std::uint64_t>(m.spm);  // both arenas see use
  return o;
}


struct Tally {
  int equal = 0, refused = 0;
  std::set<std::string> wrong;
};

// `runtime`: whose outputs to expect.
void check_case(const std::filesystem::path& root, const json& c, const std::string& runtime, const CompileOptions& options,
                Tally& tally) {
  const std::string name = c["name"];
  const auto graph = import_tflite(testing::read_file(root / c["model"].get<std::string>()), name);
  if (!graph.ok()) {
    ++tally.refused;
    return;
  }
  auto executable = compile(*graph, options);
  if (!executable.ok()) {
    ++tally.refused;
    return;
  }
  std::vector<Bytes> inputs;
  for (const json& in : c["inputs"]) inputs.push_back(testing::read_file(root / in["file"].get<std::string>()));
  try {
    std::vector<Bytes> stream, shuffled;
    for (int i = 0; i < 5; ++i) {
      const auto got = test::ExecutableRunner(*executable).run(inputs, static_cast<test::Order>(i), static_cast<unsigned>(i));
      if (i == 0) stream = got;
      if (got != stream) tally.wrong.insert(name + " (order)");
    }
    for (std::size_t i = 0; i < c["outputs"].size(); ++i)
      if (stream[i] != testing::read_file(root / c["outputs"][i][runtime + "_file"].get<std::string>())) tally.wrong.insert(name);
    if (!tally.wrong.contains(name)) ++tally.equal;
  } catch (const std::exception& error) {
    tally.wrong.insert(name + ": " + error.what());
  }
}

bool has_golden(const json& c, const std::string& runtime) {
  return std::all_of(c["outputs"].begin(), c["outputs"].end(),
                     [&](const json& o) { return o.contains(runtime + "_file") && !o[runtime + "_file"].is_null(); });
}

// Only operators that XNNPACK ran: their rounding is the one that fp32 names.
bool only_xnnpack(const json& c) {
  const json& r = c["runtimes"]["tfjs"];
  return r.contains("builtin_kernels") && r["builtin_kernels"].empty() && !r["xnnpack_kernels"].empty();
}

void report(const std::string& what, const Tally& tally) {
  std::cout << what << ": " << tally.equal << " equal, " << tally.wrong.size() << " wrong, " << tally.refused << " refused\n";
  for (const std::string& name : tally.wrong) std::cout << "  wrong: " << name << "\n";
}

}  // namespace

TEST_CASE("conformance cases equal the outside runtimes on every NPU") {
  const auto root = testing::shared_data() / "ops";
  if (!std::filesystem::exists(root / "manifest.json")) {
    WARN("skipped: no " << root);
    return;
  }
  const json manifest = json::parse(testing::read_file(root / "manifest.json"));
  for (const Machine& machine : kMachines)
    for (const EnginePolicy engine : {EnginePolicy::kNpu, EnginePolicy::kAuto, EnginePolicy::kCpu}) {
      if (engine != EnginePolicy::kNpu && &machine != &kMachines[0]) continue;
      Tally tflm, tfjs;
      for (const json& c : manifest["cases"]) {
        if (has_golden(c, "tflm")) check_case(root, c, "tflm", options_for(machine, Numerics::kTflite, engine), tflm);
        if (has_golden(c, "tfjs") && only_xnnpack(c)) check_case(root, c, "tfjs", options_for(machine, Numerics::kFp32, engine), tfjs);
      }
      constexpr const char* kEngines[] = {"auto", "npu", "cpu"};
      const std::string what = std::string(machine.name) + " " + kEngines[static_cast<int>(engine)];
      report(what + " tflm", tflm);
      report(what + " tfjs", tfjs);
      CHECK(tflm.wrong.empty());
      CHECK(tfjs.wrong.empty());
    }
}

}  // namespace deputy::delegate
