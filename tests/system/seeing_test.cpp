// What the compiler did can be seen: --dump, --explain, --compare, bench sram-sweep.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "delegate/optimisations.h"
#include "delegate/program_summary.h"
#include "tests/system/deputy_process.h"
#include "tools/cli/common.h"
#include "tools/compare.h"
#include "tools/report.h"
#include "workloads/networks.h"

using namespace deputy;
using namespace deputy::test;
using Catch::Matchers::Contains;

namespace {

// A built-in network as a file that lives as long as this.
struct Model {
  explicit Model(const std::string& network) {
    REQUIRE(run_deputy({"network", network, "-o", folder.file("model.tflite")}).exit_code == 0);
    path = folder.file("model.tflite");
  }
  TempFolder folder;
  std::string path;
};

}  // namespace

TEST_CASE("every dump prints its part and unknown names list the legal ones") {
  const Model m("ds_cnn");
  const auto all =
      run_deputy({"compile", m.path, "--dump", "all", "--dump-dir", m.folder.file("d")});
  INFO(all.err);
  REQUIRE(all.exit_code == 0);
  CHECK_THAT(read_text(m.folder.file("d/graph.txt")), Contains("DEPTHWISE_CONV_2D"));
  CHECK_THAT(read_text(m.folder.file("d/partition.txt")), Contains("steps"));
  CHECK_THAT(read_text(m.folder.file("d/tiles.txt")),
             Contains("cycles by estimate") && Contains("CONV_2D #0"));
  CHECK_THAT(read_text(m.folder.file("d/memory.txt")), Contains("bytes of constants"));
  CHECK_THAT(read_text(m.folder.file("d/stream.txt")),
             Contains("program 0") && Contains("CONV    tag=0"));
  const auto two = run_deputy({"compile", m.path, "--dump=graph,memory"});
  CHECK_THAT(two.out, Contains("== graph") && Contains("== memory"));
  const auto wrong = run_deputy({"compile", m.path, "--dump=grph"});
  CHECK(wrong.exit_code == 2);
  CHECK_THAT(wrong.err, Contains("grph") && Contains("graph, partition, tiles, memory, stream"));
}

TEST_CASE("an operator is explained by index and by name") {
  const Model m("ds_cnn");
  const auto by_index = run_deputy({"compile", m.path, "--explain", "0"});
  INFO(by_index.err);
  REQUIRE(by_index.exit_code == 0);
  CHECK_THAT(by_index.out, Contains("CONV_2D #0") && Contains("chosen") && Contains("weights") &&
                               Contains("bounds"));
  const std::size_t from = by_index.out.find('\'') + 1;
  const std::string name = by_index.out.substr(from, by_index.out.find('\'', from) - from);
  CHECK(run_deputy({"compile", m.path, "--explain", name}).out == by_index.out);
  const auto wrong = run_deputy({"compile", m.path, "--explain", "9999"});
  CHECK(wrong.exit_code == 2);
  CHECK_THAT(wrong.err, Contains("'9999' is no operator") && Contains("CONV_2D #0"));
}

TEST_CASE("a comparison runs every switch and its outputs are equal") {
  const Model m("ds_cnn");
  const auto r = run_deputy({"run", m.path, "--compare", "all", "--json"});
  INFO(r.err);
  REQUIRE(r.exit_code == 0);
  const auto json = nlohmann::json::parse(r.out);
  CHECK(json["outputs_checked"] == true);
  std::vector<std::string> names = {"baseline"};
  delegate::Optimisations all;
  delegate::Optimisations::fields(all, [&](bool, const base::Field& field) {
    names.push_back(std::string("no-") + field.name);
  });
  REQUIRE(json["runs"].size() == names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto& run = json["runs"][i];
    CHECK(run["name"] == names[i]);
    CHECK(run["instructions"] > 0);
    const double base = json["runs"][0]["npu_cycles"], cycles = run["npu_cycles"];
    if (i)
      CHECK(run["more_percent"]["npu_cycles"].get<double>() ==
            Approx(100 * (cycles - base) / base));
  }
  const auto wrong = run_deputy({"run", m.path, "--compare", "no-fusion,no-magic"});
  CHECK(wrong.exit_code == 2);
  CHECK_THAT(wrong.err, Contains("no-magic") && Contains("no-double-buffer"));
  CHECK(run_deputy({"run", m.path, "--compare", "no-fusion", "--expect", "x.npy"}).exit_code == 2);
  CHECK(tools::parse_switches("no-views,no-views")->size() == 1);
}

TEST_CASE("a switch turned off by hand is what the comparison measured") {
  const Model m("ds_cnn");
  const auto compared = nlohmann::json::parse(
      run_deputy({"run", m.path, "--compare", "no-tile-search", "--timing-only", "--json"}).out);
  const auto alone = nlohmann::json::parse(
      run_deputy({"run", m.path, "--no-tile-search", "--timing-only", "--json"}).out);
  CHECK(compared["outputs_checked"] == false);
  CHECK(compared["runs"][1]["npu_cycles"] == alone["cycles"]["npu"]);
}

TEST_CASE("the SRAM sweep keeps each limit") {
  const Model m("mobilenet_v1_025_96");
  const auto r = run_deputy({"bench", "sram-sweep", m.path, "--kib", "8,32,96", "--json"});
  INFO(r.err);
  REQUIRE(r.exit_code == 0);
  const auto json = nlohmann::json::parse(r.out);
  REQUIRE(json["points"].size() == 3);
  for (const auto& point : json["points"])
    CHECK(point["sram_used"].get<double>() <= 1024 * point["sram_kib"].get<double>());
  CHECK(json["points"][0]["dram_map_bytes"] > json["points"][2]["dram_map_bytes"]);
  CHECK(json["points"][2]["dram_map_bytes"] == 0);
  CHECK(run_deputy({"bench", "sram-sweep", m.path, "--kib", "999999"}).exit_code == 2);
}

TEST_CASE("what the streams say they move is what the NPU moved") {
  auto options = tools::simulate_options({});
  REQUIRE(options.ok());
  options->timing_only = true;
  options->engine = delegate::EnginePolicy::kNpu;
  for (const auto& info : workloads::networks()) {
    INFO(info.name);
    auto graph = workloads::build_network(info.name);
    REQUIRE(graph.ok());
    auto inputs = tools::load_inputs(*graph, {}, 1);
    auto simulation = tools::simulate(*graph, *options, *inputs);
    REQUIRE(simulation.ok());
    const auto report = tools::make_report(*simulation, *options);
    std::uint64_t instructions = 0;
    for (const auto& k : delegate::summarise_programs(simulation->executable)) {
      INFO(k.tag);
      const auto& op = report.ops[k.tag];
      CHECK(op.load_bytes == k.map_load_bytes + k.weight_load_bytes + k.param_load_bytes);
      CHECK(op.store_bytes == k.store_bytes);
      CHECK(op.weight_bytes == k.weight_load_bytes + k.param_load_bytes);
      instructions += k.instructions();
    }
    CHECK(report.counters.at("npu.instructions") ==
          instructions + simulation->executable.programs.size());
  }
}
