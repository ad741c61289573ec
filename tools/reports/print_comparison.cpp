// A comparison of two reports as tables and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/json_text.h"
#include "tools/reports/compare_reports.h"
#include "tools/table.h"

namespace deputy::tools {
namespace {

std::string human(const TotalChange& c, double value) {
  if (c.unit == "ns") return human_time(value);
  if (c.unit == "nJ") return human_energy(value);
  if (c.unit == "bytes") return human_bytes(value);
  return fmt::format("{:.0f}", value);
}

std::string ratio_text(const TotalChange& c) {
  if (c.before == 0) return c.now == 0 ? "same" : "new";
  return c.now == c.before ? "same" : fmt::format("{:.3f}", c.ratio());
}

void rows(Table& table, const std::vector<TotalChange>& changes, std::size_t most = SIZE_MAX) {
  for (std::size_t i = 0; i < std::min(most, changes.size()); ++i)
    table.row({changes[i].name, human(changes[i], changes[i].before),
               human(changes[i], changes[i].now), ratio_text(changes[i])});
}

std::string difference(double value, std::string (*human_of)(double)) {
  return value == 0 ? "same" : (value < 0 ? "-" : "+") + human_of(std::abs(value));
}

nlohmann::ordered_json json_of(const std::vector<TotalChange>& changes) {
  auto out = nlohmann::ordered_json::array();
  for (const TotalChange& c : changes) {
    out.push_back({{"name", c.name}, {"unit", c.unit}, {"before", c.before}, {"now", c.now}});
    if (c.before != 0) out.back()["ratio"] = c.ratio();
  }
  return out;
}

}  // namespace

std::string comparison_text(const ReportComparison& c, int top) {
  std::string out = fmt::format("A: {}\nB: {}\n\n", c.before, c.now);
  Table totals({"total", ">A", ">B", ">B / A"});
  rows(totals, c.totals);
  out += totals.text();
  Table time({"of the latency", ">A", ">B", ">B / A"});
  rows(time, c.time);
  out += "\n" + time.text();
  if (!c.energy.empty()) {
    Table energy({"energy of", ">A", ">B", ">B / A"});
    rows(energy, c.energy, 6);
    out += "\n" + energy.text();
    if (c.energy.size() > 6) out += fmt::format("  ({} more in the JSON)\n", c.energy.size() - 6);
  }
  out +=
      fmt::format("\n{} of {} layers changed\n", c.layers.size(), c.layers.size() + c.same_layers);
  const auto shown = std::min(c.layers.size(), static_cast<std::size_t>(std::max(top, 0)));
  for (std::size_t i = 0; i < shown; ++i) {
    const LayerChange& l = c.layers[i];
    out += fmt::format("\n  {}: {} -> {} ({}), energy {}\n", l.layer, human_time(l.before_ns),
                       human_time(l.now_ns), difference(l.ns(), human_time),
                       difference(l.now_nj - l.before_nj, human_energy));
    for (const std::string& why : l.why) out += "    " + why + "\n";
  }
  if (shown < c.layers.size())
    out += fmt::format("\n  ({} more, see --top or --json)\n", c.layers.size() - shown);
  for (const std::string& layer : c.only_before) out += fmt::format("  only in A: {}\n", layer);
  for (const std::string& layer : c.only_now) out += fmt::format("  only in B: {}\n", layer);
  return out;
}

std::string comparison_json(const ReportComparison& c) {
  using Json = nlohmann::ordered_json;
  Json layers = Json::array();
  for (const LayerChange& l : c.layers)
    layers.push_back({{"layer", l.layer},
                      {"ns", {l.before_ns, l.now_ns}},
                      {"energy_nj", {l.before_nj, l.now_nj}},
                      {"bytes", {l.before_bytes, l.now_bytes}},
                      {"why", l.why}});
  const Json out = {{"before", c.before},           {"now", c.now},
                    {"totals", json_of(c.totals)},  {"time", json_of(c.time)},
                    {"energy", json_of(c.energy)},  {"layers", layers},
                    {"same_layers", c.same_layers}, {"only_before", c.only_before},
                    {"only_now", c.only_now}};
  return json_text("deputy-compare-1", out);
}

}  // namespace deputy::tools
