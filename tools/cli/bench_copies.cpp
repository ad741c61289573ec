// deputy bench copies: maintenance of a range against copies of it, as it grows.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/cli/common.h"
#include "tools/copy_bench.h"
#include "tools/json_text.h"
#include "tools/table.h"

namespace deputy::tools {
namespace {

std::vector<std::uint64_t> sizes() {
  std::vector<std::uint64_t> out;
  for (std::uint64_t bytes = 64; bytes <= 1 << 20; bytes *= 4) out.push_back(bytes);
  return out;
}

double us(std::uint64_t ps) { return static_cast<double>(ps) / 1e6; }

base::Status bench(const CommonOptions& common, const CopyBenchCommand& command) {
  std::vector<std::string> boards = {command.soc};
  if (command.soc.empty()) boards = {"wearable", "imaging"};
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  std::string text;
  for (const std::string& board : boards) {
    CommonOptions with = common;
    with.soc = board;
    DEPUTY_ASSIGN(const SimulateOptions options, simulate_options(with));
    DEPUTY_ASSIGN(const auto rows, measure_copies(options.soc, sizes()));
    DEPUTY_ASSIGN(const std::uint64_t dma_from, dma_pays_from(options.soc, rows.back().bytes));
    Table table(
        {">bytes", ">invalidate us", ">clean us", ">map us", ">copy us", ">copy / map", ">DMA us"});
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const CopyRow& r : rows) {
      table.row({std::to_string(r.bytes), fmt::format("{:.2f}", us(r.invalidate_ps)),
                 fmt::format("{:.2f}", us(r.clean_ps)), fmt::format("{:.2f}", us(r.map_ps())),
                 fmt::format("{:.2f}", us(r.copy_ps)),
                 r.map_ps() ? fmt::format("{:.2f}", us(r.copy_ps) / us(r.map_ps())) : "-",
                 fmt::format("{:.2f}", us(r.dma_ps))});
      json.push_back({{"bytes", r.bytes},
                      {"invalidate_ps", r.invalidate_ps},
                      {"clean_ps", r.clean_ps},
                      {"copy_ps", r.copy_ps},
                      {"dma_ps", r.dma_ps}});
    }
    text += fmt::format(
        "{}\n\n{}\n  {}\n\n", options.soc.name, table.text(),
        dma_from ? fmt::format("the DMA engine copies sooner than the CPU from about {} bytes on",
                               dma_from)
                 : "the DMA engine never copies sooner than the CPU");
    all.push_back({{"soc", options.soc.name}, {"dma_from_bytes", dma_from}, {"rows", json}});
  }
  return give_results(command.json, command.report,
                      json_text("deputy-bench-copies-1", {{"boards", all}}), text);
}

}  // namespace

int copy_bench_command(const CommonOptions& common, const CopyBenchCommand& options) {
  return finish(bench(common, options));
}

}  // namespace deputy::tools
