// Real networks on the SoC: what must be on the NPU is, operators' energy adds up, and the ECG
// classifier from outside reproduces its published accuracy.
#include "workloads/networks.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <set>

#include "tests/system/deputy_process.h"
#include "tools/cli/common.h"
#include "tools/files.h"
#include "tools/report.h"
#include "workloads/random.h"

using namespace deputy;

namespace {

tools::SimulateOptions wearable(const char* engine) {
  tools::CommonOptions common;
  common.soc = test::project_file("configs/soc/wearable.yaml");
  common.engine = engine;
  auto options = tools::simulate_options(common);
  REQUIRE(options.ok());
  return *options;
}

}  // namespace

TEST_CASE(
    "MLPerf Tiny int8 networks have every convolution, dense, add and pooling layer on the NPU") {
  for (const char* name : {"kws_ref_model", "vww_96_int8", "pretrainedResnet_quant", "ad01_int8",
                           "str_ww_ref_model"}) {
    const std::string path = test::shared_data(std::string("models/") + name + ".tflite");
    if (path.empty()) return;
    auto graph = tools::load_model(path);
    REQUIRE(graph.ok());
    auto executable = delegate::compile(*graph, tools::compile_options(wearable("npu")));
    REQUIRE(executable.ok());
    const std::set<arch::OpKind> must = {
        arch::OpKind::CONV_2D, arch::OpKind::DEPTHWISE_CONV_2D, arch::OpKind::FULLY_CONNECTED,
        arch::OpKind::ADD,     arch::OpKind::AVERAGE_POOL_2D,   arch::OpKind::MAX_POOL_2D};
    for (const auto& op : executable->ops) {
      INFO(name << " " << arch::op_name(op.kind) << " " << op.name << ": " << op.reason);
      if (must.count(op.kind)) CHECK(op.on_npu);
      CHECK(op.on_npu == op.reason.empty());
    }
  }
}

TEST_CASE("operators' energy is part of the total, and every component is there") {
  auto graph = tools::load_model(test::project_file("workloads/ecg/ecg_beats.tflite"));
  REQUIRE(graph.ok());
  const auto options = wearable("npu");
  auto inputs = tools::load_inputs(*graph, {}, 1);
  auto simulation = tools::simulate(*graph, options, *inputs);
  REQUIRE(simulation.ok());
  const auto report = tools::make_report(*simulation, options);
  double ops = 0, components = 0;
  for (const auto& op : report.ops) ops += op.energy_nj;
  for (const auto& [name, nj] : report.energy_nj) components += nj;
  CHECK(components == Approx(report.total_energy_nj));
  CHECK(ops > 0.2 * report.total_energy_nj);
  CHECK(ops <= report.total_energy_nj);
  // MAC energy by hand: the graph's MACs at the table's price.
  CHECK(report.energy_nj.at("npu.mac") ==
        Approx(static_cast<double>(report.macs) * options.soc.energy.npu_mac_pj / 1000));
}

TEST_CASE("the ECG beat classifier reproduces 93.26 % on the labelled beats") {
  const std::string model = test::shared_data("models/classify_heartbeats_cnn_quantized.tflite");
  const std::string x_file = test::shared_data("ecg_beats/X_f32.bin"),
                    y_file = test::shared_data("ecg_beats/y_u8.bin");
  if (model.empty() || x_file.empty() || y_file.empty()) return;
  auto graph = tools::load_model(model);
  REQUIRE(graph.ok());
  auto x = tools::read_file(x_file), y = tools::read_file(y_file);
  REQUIRE(x.ok());
  REQUIRE(y.ok());
  constexpr std::size_t kBeatBytes = 260 * 4;
  REQUIRE(x->size() == y->size() * kBeatBytes);
  for (const char* engine : {"npu", "cpu"}) {
    const auto options = wearable(engine);
    auto executable = delegate::compile(*graph, tools::compile_options(options));
    REQUIRE(executable.ok());
    const auto file = arch::write_executable(*executable);
    std::size_t right = 0;
    soc::Platform platform(options.soc, {});
    auto record = platform.run([&](HwPort& port) -> base::Status {
      host_runtime::Device device(port, {});
      DEPUTY_ASSIGN(auto session, host_runtime::Session::load(device, file, "ecg"));
      for (std::size_t beat = 0; beat < y->size(); ++beat) {
        const std::vector<std::vector<std::uint8_t>> inputs = {
            {x->begin() + static_cast<std::ptrdiff_t>(beat * kBeatBytes),
             x->begin() + static_cast<std::ptrdiff_t>((beat + 1) * kBeatBytes)}};
        DEPUTY_TRY(session->run(inputs));
        DEPUTY_ASSIGN(auto bytes, session->read_tensor(session->executable().outputs[0]));
        float scores[5];
        std::memcpy(scores, bytes.data(), sizeof scores);
        right += std::max_element(scores, scores + 5) - scores == (*y)[beat];
      }
      return {};
    });
    REQUIRE(record.ok());
    CHECK(record->imbalances.empty());
    INFO(engine << ": " << right << " of " << y->size());
    CHECK(fmt::format("{:.2f}", 100.0 * static_cast<double>(right) /
                                    static_cast<double>(y->size())) == "93.26");
  }
}

TEST_CASE("the project's own networks give the outside runtime's bytes on the SoC") {
  for (const auto& info : workloads::networks()) {
    auto graph = workloads::build_network(info.name);
    REQUIRE(graph.ok());
    auto options = wearable("npu");
    options.numerics = Numerics::kFp32;  // the goldens come from TFLite with XNNPACK
    for (const int seed : {1, 2, 3}) {
      const auto input = workloads::seeded_input(graph->tensor(graph->inputs[0]).desc,
                                                 static_cast<std::uint64_t>(seed));
      auto simulation = tools::simulate(*graph, options, {input});
      REQUIRE(simulation.ok());
      const std::string golden = test::read_text(
          test::project_file(fmt::format("tests/goldens/{}/output{}.bin", info.name, seed)));
      const auto& output = simulation->outputs[0];
      INFO(info.name << " seed " << seed);
      REQUIRE(golden.size() == output.size());
      CHECK(std::memcmp(golden.data(), output.data(), output.size()) == 0);
      const auto report = tools::make_report(*simulation, options);
      CHECK(report.imbalances.empty());
      CHECK(report.kernel_events < 200000);
    }
  }
}
