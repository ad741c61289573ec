// deputy bench ratios
#include "tools/ratios.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tools/cli/common.h"
#include "tools/json_text.h"
#include "tools/table.h"

namespace deputy::tools {
namespace {

constexpr std::size_t kLayersShown = 6;

struct Comparison {
  AnchorFile anchors;
  std::vector<Ratio> ratios;
};

std::string megabytes(std::uint64_t bytes) {
  return fmt::format("{:.2f}", static_cast<double>(bytes) / 1e6);
}

std::string layer_table(const std::vector<RatioLayer>& layers, std::size_t shown) {
  Table table(
      {">#", "layer", ">cycles", ">reference", ">more", ">bound", ">ratio", "bound by", "reason"});
  for (std::size_t i = 0; i < layers.size() && i < shown; ++i) {
    const RatioLayer& l = layers[i];
    const bool known = l.reference_cycles > 0;
    table.row({std::to_string(l.index), l.kind, std::to_string(l.cycles),
               known ? fmt::format("{:.0f}", l.reference_cycles) : "-",
               known ? fmt::format("{:.0f}", l.excess()) : "-",
               fmt::format("{:.0f}", l.bound_cycles), fmt::format("{:.2f}", l.bound_ratio()),
               l.bound, l.reason()});
  }
  std::string out = table.text();
  if (layers.size() > shown) out += fmt::format("  ({} more, see --json)\n", layers.size() - shown);
  return out;
}

std::string table_text(const Comparison& c) {
  Table table({"network", ">reference", ">our cycles", ">ratio", ">over bound", ">SRAM allowed",
               ">used", ">flash MB", ">our DRAM MB", ">of it maps", ">on CPU"});
  for (const Ratio& r : c.ratios)
    table.row({r.anchor.label, fmt::format("{:.0f}", r.anchor.reference), std::to_string(r.cycles),
               r.cycles ? fmt::format("{:.2f}", r.ratio()) : "-",
               r.cycles ? fmt::format("{:.2f}", r.bound_ratio) : "-",
               std::to_string(r.sram_allowed), std::to_string(r.sram_bytes),
               fmt::format("{:.2f}", r.anchor.flash_mb), megabytes(r.dram_bytes),
               megabytes(r.dram_feature_map_bytes), std::to_string(r.on_cpu)});
  std::string out =
      fmt::format("SoC {}\nreference: {}\n\n{}", c.anchors.soc, c.anchors.source, table.text());
  for (const Ratio& r : c.ratios) {
    if (r.cycles == 0)
      out += fmt::format("\n{}: nothing ran on the NPU, there is no ratio\n", r.anchor.label);
    if (r.ratio() > 1)
      out += fmt::format("\n{} is {:.2f} times the reference; what costs most\n{}", r.anchor.label,
                         r.ratio(), layer_table(r.costly(), kLayersShown));
    if (const auto far = r.far_from_bound(); !far.empty())
      out +=
          fmt::format("\n{}: layers above {:.2f} times a bound of over {:.0f} cycles\n{}",
                      r.anchor.label, kCloseToBound, kWorthBounding, layer_table(far, far.size()));
  }
  return out;
}

nlohmann::ordered_json json_of(const Comparison& c) {
  using Json = nlohmann::ordered_json;
  Json rows = Json::array();
  for (const Ratio& r : c.ratios) {
    Json layers = Json::array();
    for (const RatioLayer& l : r.layers)
      layers.push_back({{"index", l.index},
                        {"kind", l.kind},
                        {"name", l.name},
                        {"cycles", l.cycles},
                        {"reference_cycles", l.reference_cycles},
                        {"bound", l.bound},
                        {"bound_cycles", l.bound_cycles},
                        {"bound_ratio", l.bound_ratio()},
                        {"reason", l.reason()}});
    rows.push_back({{"label", r.anchor.label},
                    {"model", r.anchor.model},
                    {"cycles", r.cycles},
                    {"reference_cycles", r.anchor.reference},
                    {"ratio", r.ratio()},
                    {"bound_ratio", r.bound_ratio},
                    {"layers_far_from_bound", r.far_from_bound().size()},
                    {"sram", {{"allowed", r.sram_allowed}, {"used", r.sram_bytes}}},
                    {"dram_bytes", r.dram_bytes},
                    {"dram_feature_map_bytes", r.dram_feature_map_bytes},
                    {"reference_flash_mb", r.anchor.flash_mb},
                    {"operators_on_cpu", r.on_cpu},
                    {"layers", layers}});
  }
  return {{"soc", c.anchors.soc}, {"source", c.anchors.source}, {"rows", rows}};
}

base::Status ratios(CommonOptions common, const RatiosCommand& command) {
  std::vector<std::string> names = command.anchors;
  if (names.empty()) names = {"ethos-u55-128", "ethos-u55-256"};
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  Progress progress;
  for (std::size_t i = 0; i < names.size(); ++i) {
    Comparison c;
    DEPUTY_ASSIGN(c.anchors, load_anchors(names[i]));
    common.soc = c.anchors.soc;
    DEPUTY_ASSIGN(auto options, simulate_options(common));
    for (const AnchorRow& row : c.anchors.rows) {
      if (!is_ratio_row(row)) continue;
      progress.show(row.label);
      DEPUTY_ASSIGN(auto ratio, measure_ratio(row, options, command.data, command.per_layer));
      c.ratios.push_back(std::move(ratio));
    }
    if (command.json)
      all.push_back(json_of(c));
    else
      fmt::print("{}{}", i ? "\n" : "", table_text(c));
  }
  if (command.json) fmt::print("{}", json_text("deputy-bench-ratios-1", {{"tables", all}}));
  return {};
}

}  // namespace

int ratios_command(const CommonOptions& common, const RatiosCommand& options) {
  return finish(ratios(common, options));
}

}  // namespace deputy::tools
