// Reports of a network that the compiler places on NPU and DSP: what is said of the layer on the
// DSP is held against the DSP's own record of its job.
#include <algorithm>

#include "tests/stream/board.h"
#include "tools/reports/compare_reports.h"
#include "tools/reports/explain_report.h"
#include "workloads/builder.h"

namespace deputy::stream_test {
namespace {

using arch::Engine;
using Catch::Matchers::Contains;

// A convolution, and its map made twice as large.
delegate::Graph network() {
  workloads::Builder b("larger", 5);
  const auto x = b.input({1, 12, 12, 8}, -1, 1);
  const auto a = b.conv("a", x, 16, workloads::square(3, 1, arch::Activation::kRelu));
  delegate::Graph g = b.finish({a});
  delegate::Tensor size, y = g.tensor(a);
  size.desc.name = "size", size.desc.dtype = DType::kInt32, size.desc.shape = {2};
  const std::int32_t values[] = {24, 24};
  size.constant = true, size.data.resize(8);
  std::memcpy(size.data.data(), values, 8);
  y.desc.name = "larger", y.desc.shape = {1, 24, 24, 16};
  delegate::Op resize;
  resize.kind = arch::OpKind::RESIZE_BILINEAR;
  const auto first = static_cast<delegate::TensorId>(g.tensors.size());
  resize.inputs = {a, first}, resize.outputs = {first + 1};
  g.tensors.push_back(size), g.tensors.push_back(y);
  g.ops.push_back(resize), g.outputs = resize.outputs;
  return g;
}

struct Run {
  tools::Simulation simulation;
  tools::ReportFile file;
};

Run run(const std::vector<std::string>& sets, const std::string& force = "",
        const sim::FaultPlan& faults = {}) {
  tools::SimulateOptions options;
  options.soc = board(sets);
  if (!force.empty()) options.placement.rules = {*delegate::parse_force(force)};
  options.engine = delegate::EnginePolicy::kAuto;
  options.faults = faults;
  if (!faults.faults.empty()) options.recovery = RecoveryPolicy::full(), options.fallback = true;
  const delegate::Graph graph = network();
  auto simulation = tools::simulate(graph, options, *tools::load_inputs(graph, {}, 7));
  if (!simulation.ok()) FAIL(simulation.error().text());
  const tools::Report report = tools::make_report(*simulation, options);
  CHECK(report.imbalances == std::vector<std::string>{});
  auto file = tools::parse_report(tools::report_json(report, true), "run.json");
  if (!file.ok()) FAIL(file.error().text());
  return {std::move(*simulation), std::move(*file)};
}

std::string why(const tools::ReportFile& before, const tools::ReportFile& now) {
  std::string out;
  for (const auto& layer : tools::compare_reports(before, now).layers)
    if (layer.layer.starts_with("1 "))
      for (const auto& line : layer.why) out += line + "\n";
  return out;
}

}  // namespace

TEST_CASE("a layer on the DSP is reported in the DSP's cycles, as its job took them") {
  const Run r = run({});
  REQUIRE(r.simulation.executable.on_dsp(1));
  REQUIRE(r.simulation.soc.dsp_jobs.size() == 1);
  const soc::DspJobRecord& job = r.simulation.soc.dsp_jobs[0];
  const tools::ReportedLayer& layer = r.file.layers.at(1);
  CHECK(layer.ran_on(Engine::kDsp));
  CHECK(layer.own_cycles == static_cast<double>(job.cycles));
  CHECK(layer.own_ns ==
        Approx(static_cast<double>(job.end_ps - job.start_ps) / 1000).epsilon(0.01));
  CHECK(layer.dsp.program_cycles == job.programs.cycles);
  CHECK(layer.dsp.transfer_cycles() == job.cycles - job.programs.cycles);
  CHECK(layer.bytes() == static_cast<double>(job.loaded_bytes + job.stored_bytes));
  const bool computes = 2 * job.programs.cycles >= job.cycles;
  CHECK(layer.bound == (computes ? tools::kDspProgramBound : tools::kDspTransferBound));
  // What the DSP spent, and nothing of it is the layer's that the NPU did.
  double dsp_nj = 0;
  for (const char* part : {"dsp.core", "dsp.vector", "dsp.tcm"})
    dsp_nj += r.simulation.soc.energy_nj.at(part);
  CHECK(dsp_nj > 0);
  CHECK(layer.energy_nj > dsp_nj);
  CHECK(r.file.jobs(Engine::kDsp) == 1);
  CHECK(r.file.cpu_ns() == 0);
  CHECK(r.file.dsp_ns() == layer.own_ns);
  CHECK(r.file.npu_ns() + r.file.dsp_ns() + r.file.runtime_ns() == Approx(r.file.latency_ns));
}

TEST_CASE("explain tells what the DSP holds up, and no change gains more than it says") {
  const auto slow = run({"dsp.clock_mhz=40"}, "#1=dsp").file,
             fast = run({"dsp.clock_mhz=80"}, "#1=dsp").file;
  const auto explained = tools::explain_report(slow);
  const auto finding = [&](const char* id) {
    return std::ranges::find(explained.time, id, &tools::Finding::id);
  };
  REQUIRE(finding("dsp") != explained.time.end());
  const tools::Finding& f = *finding("dsp");
  CHECK(f.takes == slow.layers.at(1).own_ns);
  CHECK(f.what_ifs.at(0).saves == f.takes / 2);
  CHECK(slow.latency_ns > fast.latency_ns);
  CHECK(slow.latency_ns - fast.latency_ns <= f.what_ifs[0].saves);
  CHECK_THAT(f.what, Contains("1 operator runs on the DSP") && Contains("DSP cycles"));
  CHECK_THAT(f.advice, Contains("dsp."));
  CHECK_THAT(f.worst.at(0), Contains("RESIZE_BILINEAR"));
  CHECK(finding("cpu") == explained.time.end());
  CHECK_THAT(finding("launch")->what, Contains("1 NPU job and 1 DSP job are launched"));
  CHECK_THAT(tools::explanation_text(explained, 9), Contains(" DSP, "));
}

TEST_CASE(
    "compare names the engines of a layer that moved to the DSP or away, and the DSP's clock") {
  const auto dsp = run({}).file, cpu = run({}, "#1=cpu").file,
             slow = run({"dsp.clock_mhz=100"}, "#1=dsp").file;
  CHECK_THAT(why(dsp, cpu), Contains("runs on the CPU instead of the DSP"));
  CHECK_THAT(why(cpu, dsp), Contains("runs on the DSP instead of the CPU: on the DSP: about"));
  CHECK_THAT(why(dsp, slow), Contains("the DSP's clock is 100 MHz instead of 200"));
  const auto text = tools::comparison_text(tools::compare_reports(cpu, dsp), 9);
  CHECK_THAT(text, Contains("DSP jobs") && Contains("DSP cycles"));
}

TEST_CASE("a layer of the DSP that the CPU did after a fault is the CPU's") {
  sim::Fault hang;
  hang.kind = "engine_hang", hang.target = "dsp", hang.nth = 1, hang.repeat = 0;
  const Run r = run({}, "", {{hang}});
  CHECK(r.simulation.inference.off_dsp.size() == 1);
  CHECK(r.file.layers.at(1).ran_on(Engine::kCpu));
  CHECK(r.file.cpu_ns() > 0);
  CHECK_THAT(why(run({}).file, r.file), Contains("runs on the CPU instead of the DSP"));
}

}  // namespace deputy::stream_test
