// An explanation of a run as text and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/json_text.h"
#include "tools/reports/explain_report.h"
#include "tools/table.h"

namespace deputy::tools {
namespace {

std::string times(double all, double saves) {
  const double factor = Explanation::at_most(all, saves);
  return std::isinf(factor) || factor >= 1000 ? "without limit"
                                              : fmt::format("{:.2f} times", factor);
}

std::string findings_text(const std::vector<Finding>& findings, double all, int top,
                          const char* better, const char* of, std::string (*human)(double)) {
  std::string out;
  const auto shown = std::min(findings.size(), static_cast<std::size_t>(std::max(top, 0)));
  for (std::size_t i = 0; i < shown; ++i) {
    const Finding& f = findings[i];
    out +=
        fmt::format("\n  {}. {}.\n     {} of the {} ({}). Without that: {} {} at most.\n", i + 1,
                    f.what, percent(f.takes, all), of, human(f.takes), times(all, f.saves), better);
    for (const WhatIf& w : f.what_ifs)
      out += fmt::format("     With {}: {} at most.\n", w.change, times(all, w.saves));
    if (!f.worst.empty()) out += fmt::format("     Most of it: {}.\n", fmt::join(f.worst, ", "));
    out += fmt::format("     To try: {}.\n", f.advice);
  }
  if (shown < findings.size())
    out += fmt::format("\n  ({} more, see --top or --json)\n", findings.size() - shown);
  return out;
}

// No infinity in JSON: a gain without limit has no "at_most".
nlohmann::ordered_json json_of(const std::vector<Finding>& findings, double all, const char* unit) {
  using Json = nlohmann::ordered_json;
  const auto gain = [&](Json& json, double saves) {
    json[fmt::format("saves_{}_at_most", unit)] = saves;
    if (const double factor = Explanation::at_most(all, saves); std::isfinite(factor))
      json["times_better_at_most"] = factor;
  };
  Json out = Json::array();
  for (const Finding& f : findings) {
    Json row = {{"id", f.id},
                {"takes_" + std::string(unit), f.takes},
                {"share", all > 0 ? f.takes / all : 0}};
    gain(row, f.saves);
    row["what"] = f.what, row["advice"] = f.advice, row["worst"] = f.worst;
    row["what_if"] = Json::array();
    for (const WhatIf& w : f.what_ifs) {
      Json what_if = {{"change", w.change}};
      gain(what_if, w.saves);
      row["what_if"].push_back(what_if);
    }
    out.push_back(row);
  }
  return out;
}

}  // namespace

std::string explanation_text(const Explanation& e, int top) {
  std::string out = fmt::format("{}: {}\n", e.title, human_time(e.latency_ns));
  out += fmt::format("  {} NPU, {}{} operators on the CPU, {} launching and copying\n",
                     percent(e.npu_ns, e.latency_ns),
                     e.dsp_ns > 0 ? percent(e.dsp_ns, e.latency_ns) + " DSP, " : "",
                     percent(e.cpu_ns, e.latency_ns), percent(e.runtime_ns, e.latency_ns));
  out += "\nTime: what to change first. Gains are limits, and do not add up.\n";
  out += findings_text(e.time, e.latency_ns, top, "as fast", "latency", human_time);
  out += fmt::format("\nEnergy: {} from reset on, loading included; {} of it leakage.\n",
                     human_energy(e.total_nj), percent(e.leakage_nj, e.total_nj));
  return out + findings_text(e.energy, e.total_nj, top, "less", "energy", human_energy);
}

std::string explanation_json(const Explanation& e) {
  const nlohmann::ordered_json out = {{"title", e.title},
                                      {"latency_ns", e.latency_ns},
                                      {"npu_ns", e.npu_ns},
                                      {"dsp_ns", e.dsp_ns},
                                      {"cpu_ns", e.cpu_ns},
                                      {"runtime_ns", e.runtime_ns},
                                      {"total_nj", e.total_nj},
                                      {"leakage_nj", e.leakage_nj},
                                      {"time", json_of(e.time, e.latency_ns, "ns")},
                                      {"energy", json_of(e.energy, e.total_nj, "nj")}};
  return json_text("deputy-explain-1", out);
}

}  // namespace deputy::tools
