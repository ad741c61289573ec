// Every compute tile of whole networks through the RTL: bits equal to the fast executor's (which
// outside goldens hold), and the formulas' cycles within 3 % of the RTL's a layer, 1 % on the
// whole.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "delegate/import/tflite.h"
#include "tests/delegate/random_layers.h"
#include "tests/rtl/rtl_layers.h"
#include "tests/support/golden.h"
#include "tests/support/source_dir.h"
#include "workloads/networks.h"
#include "workloads/random.h"

namespace deputy::npu_test {
namespace {

constexpr double kLayerBound = 0.03, kTotalBound = 0.01;

std::vector<std::vector<std::uint8_t>> seeded_inputs(const delegate::Graph& graph) {
  std::vector<std::vector<std::uint8_t>> out;
  for (const auto input : graph.inputs)
    out.push_back(workloads::seeded_input(graph.tensor(input).desc, 1));
  return out;
}

void run_file(SideBySide& both, const std::string& path, const std::string& name) {
  const auto graph = delegate::import_tflite(tests::read_bytes(path), name);
  REQUIRE(graph.ok());
  both.run(*graph, Numerics::kTflite, name, seeded_inputs(*graph));
}

// DEPUTY_RTL_LAYERS=FILE writes the layers as a table.
void check_bounds(const SideBySide& both) {
  if (const char* file = std::getenv("DEPUTY_RTL_LAYERS")) {
    std::ofstream out(file, std::ios::app);
    for (const LayerCycles& l : both.layers())
      out << fmt::format("{}\t{}\t{}\t{}\t{:.2f}\t{}\n", l.name, l.tiles, l.rtl, l.formula,
                         100 * l.error(), l.tile);
  }
  std::string beyond;
  int over = 0;
  for (const LayerCycles& l : both.layers())
    if (std::abs(l.error()) > kLayerBound)
      ++over, beyond += fmt::format("{}: RTL {}, formula {}, {:+.1f} %, {}\n", l.name, l.rtl,
                                    l.formula, 100 * l.error(), l.tile);
  const LayerCycles total = both.total();
  INFO(beyond << both.layers().size() << " layers, " << total.tiles << " tiles, " << both.blocks()
              << " decoded blocks; RTL " << total.rtl << " cycles, formulas " << total.formula);
  CHECK(over == 0);
  CHECK(std::abs(total.error()) < kTotalBound);
}

}  // namespace

TEST_CASE("RTL: every tile of the keyword spotting network") {
  SideBySide both;
  const auto graph = workloads::build_network("ds_cnn");
  REQUIRE(graph.ok());
  const auto out = both.run(*graph, Numerics::kFp32, "ds_cnn", seeded_inputs(*graph));
  CHECK(out.at(0) == tests::read_bytes(tests::source_dir() + "/tests/goldens/ds_cnn/output1.bin"));
  check_bounds(both);
}

TEST_CASE("RTL: every tile of three networks", "[.slow]") {
  SideBySide both;
  run_file(both, tests::source_dir() + "/workloads/ecg/ecg_beats.tflite", "ecg_beats");
  const auto data = tests::shared_data_dir();
  if (!data) WARN("KWS and VWW skipped: ../shared/data is absent");
  if (data)
    for (const char* name : {"kws_ref_model", "vww_96_int8"})
      run_file(both, *data + "/models/" + name + ".tflite", name);
  check_bounds(both);
  const LayerCycles total = both.total();
  WARN(both.layers().size() << " layers, " << total.tiles << " tiles, " << both.blocks()
                            << " decoded blocks; RTL " << total.rtl << " cycles, formulas "
                            << total.formula << "; worst " << both.worst().name << " "
                            << 100 * both.worst().error() << " %");
}

TEST_CASE("RTL: 500 random layers", "[.slow]") {
  SideBySide both;
  for (unsigned seed = 0; both.layers().size() < 500; ++seed) {  // some are the CPU's
    const delegate::Graph graph = delegate::testing::random_layer(seed);
    both.run(graph, static_cast<Numerics>(seed % 3), "seed " + std::to_string(seed),
             delegate::testing::random_inputs(graph, seed), true);
  }
  check_bounds(both);
  const LayerCycles total = both.total();
  WARN(both.layers().size() << " layers on the NPU, " << total.tiles << " tiles, " << both.blocks()
                            << " decoded blocks; RTL " << total.rtl << " cycles, formulas "
                            << total.formula << "; worst " << both.worst().name << " "
                            << 100 * both.worst().error() << " %");
}

}  // namespace deputy::npu_test
