#include "tools/ratios.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <sstream>

#include "soc/books.h"
#include "tools/files.h"
#include "tools/split.h"

namespace deputy::tools {
namespace {

// Kinds that are the same layer to both compilers.
std::string layer_class(const std::string& kind) {
  if (kind == "FULLY_CONNECTED") return "CONV_2D";
  if (kind == "MEAN") return "AVERAGE_POOL_2D";
  return kind;
}

std::uint64_t dram_bytes(const Report& report) {
  std::uint64_t sum = 0;
  for (const auto& [initiator, targets] : report.initiator_bytes)
    if (const auto it = targets.find("dram"); initiator.starts_with("npu.") && it != targets.end())
      sum += it->second.read_bytes + it->second.write_bytes;
  return sum;
}

}  // namespace

std::string RatioLayer::reason() const {
  if (reference_cycles > 0 && bound_cycles > reference_cycles)
    return fmt::format("its {} bound alone is {:.2f} times the reference", bound,
                       bound_cycles / reference_cycles);
  if (bound_ratio() > kCloseToBound) {
    const double beyond = static_cast<double>(cycles) - bound_cycles;
    std::array<std::pair<double, const char*>, 3> work = {
        {{bounds.compute, "computation"}, {bounds.sram, "SRAM"}, {bounds.dram, "DRAM"}}};
    std::sort(work.rbegin(), work.rend());
    // What keeps it longer is at most its second largest bound, or there is time in which nothing
    // of its own happens.
    if (beyond <= work[1].first)
      return fmt::format("{:.0f} cycles beyond its bound: {} and {} do not overlap", beyond,
                         work[0].second, work[1].second);
    return fmt::format(
        "{:.0f} cycles beyond its bound: latency, pipeline fill and what its neighbours still move",
        beyond);
  }
  return reference_cycles > 0 ? "close to its bound" : "the reference has no such layer";
}

std::vector<RatioLayer> Ratio::costly() const {
  std::vector<RatioLayer> out = layers;
  std::erase_if(out, [](const RatioLayer& layer) { return layer.excess() <= 0; });
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.excess() > b.excess(); });
  return out;
}

std::vector<RatioLayer> Ratio::far_from_bound() const {
  std::vector<RatioLayer> out = layers;
  std::erase_if(out, [](const RatioLayer& layer) {
    return layer.bound_cycles <= kWorthBounding || layer.bound_ratio() <= kCloseToBound;
  });
  return out;
}

base::Result<std::vector<double>> reference_layers(const Report& report,
                                                   const std::string& csv_text,
                                                   const std::string& name) {
  std::istringstream lines(csv_text);
  std::string line;
  std::getline(lines, line);
  const auto titles = split(line, ',');
  const auto column = [&](const char* title) {
    return static_cast<std::size_t>(std::find(titles.begin(), titles.end(), title) -
                                    titles.begin());
  };
  const std::size_t kind_at = column("TFLite_operator"), npu_at = column("NNG Operator"),
                    cycles_at = column("Op Cycles");
  if (std::max({kind_at, npu_at, cycles_at}) >= titles.size())
    return base::Error{base::ErrorKind::kInput, name,
                       "no columns TFLite_operator, NNG Operator and Op Cycles",
                       "give one of Vela's per-layer tables"};
  std::map<std::string, std::vector<double>> reference;
  std::string last_kind;
  while (std::getline(lines, line)) {
    const auto cells = split(line, ',');
    if (cells.size() <= std::max({kind_at, npu_at, cycles_at})) continue;
    auto& of_kind = reference[layer_class(cells[kind_at])];
    // A SOFTMAX is a chain of small operators there.
    const bool continues =
        cells[kind_at] == last_kind && cells[kind_at] == "SOFTMAX" && cells[npu_at] != "MaxPool";
    if (!continues) of_kind.push_back(0);
    double cycles = 0;
    const std::string& cell = cells[cycles_at];
    if (std::from_chars(cell.data(), cell.data() + cell.size(), cycles).ec != std::errc())
      return base::Error{base::ErrorKind::kInput, name,
                         fmt::format("'{}' is not a number of cycles", cell),
                         "give one of Vela's per-layer tables"};
    of_kind.back() += cycles;
    last_kind = cells[kind_at];
  }
  std::map<std::string, std::size_t> seen;
  std::vector<double> out;
  for (const OpReport& op : report.ops) {
    const auto& of_kind = reference[layer_class(op.kind)];
    const std::size_t n = seen[layer_class(op.kind)]++;
    out.push_back(n < of_kind.size() ? of_kind[n] : 0);
  }
  return out;
}

bool is_ratio_row(const AnchorRow& row) {
  return !row.model.empty() && row.measure == "npu_cycles" && row.reference > 0;
}

base::Result<Ratio> measure_ratio(const AnchorRow& anchor, SimulateOptions options,
                                  const std::string& data, const std::string& per_layer) {
  Ratio out;
  out.anchor = anchor;
  out.sram_allowed = anchor.sram_kib > 0 ? static_cast<std::uint64_t>(anchor.sram_kib * 1024)
                                         : static_cast<std::uint64_t>(options.soc.sram.bytes);
  options.sram_limit = out.sram_allowed;
  options.timing_only = true;
  options.engine = delegate::EnginePolicy::kNpu;
  DEPUTY_ASSIGN(auto graph, load_model(data + "/" + anchor.model));
  DEPUTY_ASSIGN(auto inputs, load_inputs(graph, {}, 1));
  DEPUTY_ASSIGN(auto simulation, simulate(graph, options, inputs));
  const Report report = make_report(simulation, options);
  DEPUTY_TRY(soc::balanced(anchor.model, report.imbalances));
  out.cycles = report.npu_cycles;
  out.bound_ratio = report.bound_ratio();
  out.sram_bytes = simulation.executable.fast_arena_bytes;
  out.dram_bytes = dram_bytes(report);
  out.dram_feature_map_bytes = report.dram_map_bytes;
  std::vector<double> reference(report.ops.size(), 0);
  if (!per_layer.empty() && !anchor.per_layer.empty()) {
    DEPUTY_ASSIGN(auto table, read_file(per_layer + "/" + anchor.per_layer));
    DEPUTY_ASSIGN(reference, reference_layers(report, std::string(table.begin(), table.end()),
                                              anchor.per_layer));
  }
  for (const OpReport& op : report.ops) {
    if (op.engine == "cpu") ++out.on_cpu;
    if (op.engine != "npu" || op.own_cycles == 0) continue;
    out.layers.push_back({op.index, op.kind, op.name, op.bounds.name(), op.own_cycles,
                          op.bounds.cycles(), reference[op.index], op.bounds});
  }
  return out;
}

}  // namespace deputy::tools
