#include "tools/validate_measures.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <string_view>

#include "base/check.h"
#include "soc/books.h"
#include "soc/dram/measure.h"
#include "tools/cli/common.h"
#include "tools/compare.h"
#include "tools/split.h"
#include "tools/validate_layers.h"
#include "workloads/networks.h"

namespace deputy::tools {
namespace {

// Start of the first NPU job to the end of the last.
base::Result<Measured> npu_cycles(ValidationRuns& runs, const AnchorRow& row) {
  DEPUTY_ASSIGN(const auto report, runs.inference(row));
  return Measured{static_cast<double>(report->npu_cycles), 0};
}

// The same beside the time that the memory of the weights needs for the bytes that passed, commands
// included.
base::Result<Measured> cycles_of_bytes(ValidationRuns& runs, const AnchorRow& row) {
  DEPUTY_ASSIGN(const auto report, runs.inference(row));
  return Measured{static_cast<double>(report->npu_cycles), report->bounds.dram};
}

// A quantity on one SoC over that on another.
template <class F>
base::Result<Measured> ratio(ValidationRuns& runs, const AnchorRow& row, F of) {
  DEPUTY_ASSIGN(const auto report, runs.inference(row));
  DEPUTY_ASSIGN(const auto over, runs.over(row));
  return Measured{of(*report) / of(*over), 0};
}
base::Result<Measured> cycle_ratio(ValidationRuns& runs, const AnchorRow& row) {
  return ratio(runs, row, [](const Report& r) { return static_cast<double>(r.npu_cycles); });
}

base::Result<LayerComparison> layers_of(ValidationRuns& runs, const AnchorRow& row) {
  DEPUTY_ASSIGN(const auto table, load_layer_table(anchor_path(row.table)));
  DEPUTY_ASSIGN(const auto report, runs.inference(row));
  return compare_layers(*report, table, row.id);
}

// Percent of the reference's layers that have the same bottleneck here.
base::Result<Measured> layer_bounds(ValidationRuns& runs, const AnchorRow& row) {
  DEPUTY_ASSIGN(const auto layers, layers_of(runs, row));
  return Measured{100.0 * layers.same_bound / layers.count, 0};
}

base::Result<Measured> layer_cycles(ValidationRuns& runs, const AnchorRow& row) {
  DEPUTY_ASSIGN(const auto layers, layers_of(runs, row));
  return Measured{layers.cycles, layers.reference_cycles};
}

base::Result<Measured> unstrided_layer_cycles(ValidationRuns& runs, const AnchorRow& row) {
  DEPUTY_ASSIGN(const auto layers, layers_of(runs, row));
  return Measured{layers.unstrided_cycles, layers.unstrided_reference_cycles};
}

// From the first input's copy to the last output's.
base::Result<Measured> latency_us(ValidationRuns& runs, const AnchorRow& row) {
  DEPUTY_ASSIGN(const auto report, runs.inference(row));
  return Measured{report->latency_ns / 1000, 0};
}

// Of the same span.
base::Result<Measured> energy_uj(ValidationRuns& runs, const AnchorRow& row) {
  DEPUTY_ASSIGN(const auto report, runs.inference(row));
  return Measured{report->power.inference_nj / 1000, 0};
}

base::Result<Measured> energy_ratio(ValidationRuns& runs, const AnchorRow& row) {
  return ratio(runs, row, [](const Report& r) { return r.power.inference_nj; });
}

// A device of configs/dram with its controller, no board around it (docs/dram.md).
base::Result<Measured> dram_quantity(ValidationRuns&, const AnchorRow& row) {
  namespace dram = soc::dram;
  DEPUTY_ASSIGN(const auto spec,
                dram::load_spec(fmt::format("{}/dram/{}.yaml", DEPUTY_CONFIG_DIR, row.device)));
  dram::ControllerConfig controller;
  if (!row.mapping.empty()) controller.mapping = row.mapping;
  DEPUTY_TRY(dram::check(spec, controller));
  const auto ours =
      dram::measure(spec, controller, row.measure.substr(std::string_view("dram_").size()));
  DEPUTY_CHECK(ours, "a measure of DRAM that its table does not have");
  return Measured{*ours, 0};
}

constexpr std::array kMeasures = {
    Measure{"npu_cycles", "cycles",
            "NPU cycles of one inference, start of the first job to the end of the last",
            npu_cycles},
    Measure{"cycles_of_bytes", "cycles", "the same beside the bytes from DRAM over its bandwidth",
            cycles_of_bytes},
    Measure{"cycle_ratio", "", "NPU cycles on `soc` over those on `over_soc`", cycle_ratio},
    Measure{"layer_bounds", "%",
            "layers of `table` whose bottleneck (MAC, DRAM, CVSRAM) is the same", layer_bounds},
    Measure{"layer_cycles", "cycles", "the layers of `table` together", layer_cycles},
    Measure{"unstrided_layer_cycles", "cycles", "those that are no strided 1x1 convolutions",
            unstrided_layer_cycles},
    Measure{"latency_us", "us", "one inference, first input copied in to last output copied out",
            latency_us},
    Measure{"energy_uj", "uJ", "of one inference, whole chip", energy_uj},
    Measure{"energy_ratio", "", "the same with `set` over that with `over_set`", energy_ratio},
    Measure{"dram_idle_hit_ns", "ns", "read of a burst from an open row, device alone",
            dram_quantity},
    Measure{"dram_idle_closed_ns", "ns", "the same from a closed bank", dram_quantity},
    Measure{"dram_idle_conflict_ns", "ns", "the same from a bank where another row is open",
            dram_quantity},
    Measure{"dram_read_stream", "% of peak", "reads of 512 bytes in sequence", dram_quantity},
    Measure{"dram_mixed_stream", "% of peak", "two reads to a write of 64 bytes, three sequences",
            dram_quantity},
    Measure{"dram_random_bursts", "% of peak", "reads of one burst at random places",
            dram_quantity},
    Measure{"dram_read_pj_per_bit", "pJ/bit", "reads from one row, array and pins", dram_quantity},
    Measure{"dram_write_pj_per_bit", "pJ/bit", "writes to one row", dram_quantity},
    Measure{"dram_activate_nj", "nJ", "activate with its precharge", dram_quantity},
    Measure{"dram_active_mw", "mW", "standby with a row open", dram_quantity},
    Measure{"dram_precharged_mw", "mW", "standby with rows closed", dram_quantity},
    Measure{"dram_precharged_down_mw", "mW", "precharge power-down", dram_quantity},
    Measure{"dram_self_refresh_mw", "mW", "self-refresh", dram_quantity},
};

base::Result<delegate::Graph> network_of(const std::string& name) {
  if (name == "resnet50") return workloads::build_validation_resnet50();
  return workloads::build_network(name);
}

}  // namespace

std::span<const Measure> measures() { return kMeasures; }

base::Result<const Measure*> find_measure(const AnchorRow& row) {
  std::string known;
  for (const Measure& measure : measures()) {
    if (row.measure == measure.name) return &measure;
    known += (known.empty() ? "" : ", ") + std::string(measure.name);
  }
  return base::Error{base::ErrorKind::kConfig, row.id,
                     fmt::format("'{}' is not a measure", row.measure), "use one of " + known};
}

bool ValidationRuns::has_workload(const AnchorRow& row) const {
  return row.model.empty() || (!data_.empty() && std::filesystem::exists(data_ + "/" + row.model));
}

base::Result<std::shared_ptr<const Report>> ValidationRuns::inference_on(const AnchorRow& row,
                                                                         const std::string& soc,
                                                                         const std::string& set,
                                                                         double sram_kib) {
  const std::string key =
      fmt::format("{} {} {} {} {} {}", row.network, row.model, soc, set, sram_kib, row.switches);
  if (const auto it = done_.find(key); it != done_.end()) return it->second;
  CommonOptions common;
  common.soc = soc;
  common.sets = split(set, ',');
  common.engine = "npu";
  DEPUTY_ASSIGN(auto options, simulate_options(common));
  options.timing_only = true;
  options.sram_limit = static_cast<std::uint64_t>(sram_kib * 1024);
  if (!row.switches.empty()) {
    DEPUTY_ASSIGN(const auto names, parse_switches(row.switches));
    for (const std::string& name : names) switch_off(options.optimisations, name);
  }
  DEPUTY_ASSIGN(auto graph,
                row.model.empty() ? network_of(row.network) : load_model(data_ + "/" + row.model));
  DEPUTY_ASSIGN(auto inputs, load_inputs(graph, {}, 1));
  DEPUTY_ASSIGN(auto simulation, simulate(graph, options, inputs));
  auto report = std::make_shared<Report>(make_report(simulation, options));
  DEPUTY_TRY(soc::balanced(row.id, report->imbalances));
  return done_[key] = std::move(report);
}

}  // namespace deputy::tools
