// An exploration's results as tables, CSV and JSON.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tools/explore/metrics.h"
#include "tools/explore/results.h"
#include "tools/json_text.h"
#include "tools/table.h"

namespace deputy::tools {
namespace {

std::string human(const std::string& objective, double value) {
  const std::string unit = (*find_metric(objective.substr(0, objective.find('@'))))->unit;
  if (unit == "ns") return human_time(value);
  if (unit == "nJ") return human_energy(value);
  if (unit == "bytes") return human_bytes(value);
  if (unit == "um2") return fmt::format("{:.4f} mm2", value / 1e6);
  return fmt::format("{:.6g} {}", value, unit);
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string front_text(const ExploreResults& r, int top) {
  std::vector<std::string> titles;
  for (const auto& p : r.experiment.space.parameters) titles.push_back(">" + p.name);
  for (const auto& o : r.experiment.objectives) titles.push_back(">" + o);
  Table table(titles);
  for (std::size_t i = 0; i < r.front.size() && i < static_cast<std::size_t>(top); ++i) {
    std::vector<std::string> cells = r.points[r.front[i]].point.texts;
    for (std::size_t o = 0; o < r.experiment.objectives.size(); ++o)
      cells.push_back(human(r.experiment.objectives[o], r.values[r.front[i]][o]));
    table.row(cells);
  }
  std::string out = fmt::format("Pareto front: {} of {} points\n\n{}", r.front.size(),
                                r.points.size(), table.text());
  if (r.front.size() > static_cast<std::size_t>(top))
    out += fmt::format("  ... and {} more (--top, --csv, --json)\n",
                       r.front.size() - static_cast<std::size_t>(top));
  return out;
}

std::string sensitivity_text(const ExploreResults& r) {
  std::vector<std::string> titles = {"parameter"};
  for (const auto& o : r.experiment.objectives)
    titles.push_back(">" + o), titles.push_back("best mean at");
  Table table(titles);
  for (std::size_t p = 0; p < r.experiment.space.parameters.size(); ++p) {
    std::vector<std::string> cells = {r.experiment.space.parameters[p].name};
    for (const auto& effects : r.effects) {
      const explore::Sensitivity& s = effects[p];
      const auto best = std::ranges::min_element(s.levels, {}, &explore::LevelEffect::mean);
      cells.push_back(fmt::format("{:.1f} %", 100 * s.share));
      cells.push_back(best == s.levels.end() || s.share < 1e-12 ? "-" : best->text);
    }
    table.row(cells);
  }
  return "\nSensitivity: share of each objective's variance that the parameter explains alone\n\n" +
         table.text();
}

std::string bounds_text(const ExploreResults& r) {
  std::set<std::string> words;
  for (const auto& [workload, bounds] : r.bounds)
    for (const auto& [word, count] : bounds) words.insert(word);
  std::vector<std::string> titles = {"workload"};
  for (const std::string& word : words) titles.push_back(">" + word);
  Table table(titles);
  for (const auto& [workload, bounds] : r.bounds) {
    std::vector<std::string> cells = {workload};
    for (const std::string& word : words)
      cells.push_back(bounds.contains(word) ? fmt::format("{:.0f}", bounds.at(word)) : "-");
    table.row(cells);
  }
  return "\nBottlenecks: points at which most of the time is bound by\n\n" + table.text();
}

// One table a workload that has more than one bound: where in the space which of them rules.
std::string map_text(const ExploreResults& r) {
  std::string out;
  for (const auto& [workload, bounds] : r.bounds) {
    if (bounds.size() < 2) continue;
    std::vector<std::string> titles = {"parameter", ">level", ">points"};
    for (const auto& [word, count] : bounds) titles.push_back(">" + word);
    Table table(titles);
    for (const BottleneckRow& row : r.map) {
      if (row.workload != workload) continue;
      std::vector<std::string> cells = {row.parameter, row.level, std::to_string(row.points)};
      for (const auto& [word, count] : bounds)
        cells.push_back(
            row.bounds.contains(word)
                ? fmt::format("{:.0f} %", 100.0 * static_cast<double>(row.bounds.at(word)) /
                                              static_cast<double>(row.points))
                : "-");
      table.row(cells);
    }
    out += fmt::format("\nWhere {} is bound by what: share of the points with that level\n\n{}",
                       workload, table.text());
  }
  return out;
}

std::string failures_text(const ExploreResults& r) {
  std::map<std::string, std::size_t> reasons;
  for (const PointResult& p : r.points)
    if (p.status != "ok") ++reasons[p.status + ": " + p.reason];
  std::string out;
  for (const auto& [reason, count] : reasons)
    out += fmt::format("\n  {} point{} {}", count, count == 1 ? "" : "s", reason);
  return out.empty() ? out : out + "\n";
}

}  // namespace

std::string results_text(const ExploreResults& r, int top) {
  std::string out = front_text(r, top);
  if (r.statuses.contains("ok")) out += sensitivity_text(r) + bounds_text(r) + map_text(r);
  return out + failures_text(r);
}

std::string results_csv(const ExploreResults& r) {
  std::string out;
  for (const auto& p : r.experiment.space.parameters) out += quoted(p.name) + ",";
  for (const auto& o : r.experiment.objectives) out += quoted(o) + ",";
  for (const auto& w : r.experiment.workloads)
    for (const Metric& m : metrics()) out += quoted(fmt::format("{}@{}", m.name, w.name)) + ",";
  out += "front,status,reason\n";
  const std::set<std::size_t> front(r.front.begin(), r.front.end());
  for (std::size_t i = 0; i < r.points.size(); ++i) {
    const PointResult& p = r.points[i];
    for (const std::string& text : p.point.texts) out += quoted(text) + ",";
    for (std::size_t o = 0; o < r.experiment.objectives.size(); ++o)
      out += (r.values[i].empty() ? "" : fmt::format("{}", r.values[i][o])) + ",";
    for (const auto& run : p.runs)
      for (const Metric& m : metrics())
        out += (run.values.contains(m.name) ? fmt::format("{}", run.values.at(m.name)) : "") + ",";
    out += fmt::format("{},{},{}\n", front.contains(i) ? 1 : 0, p.status, quoted(p.reason));
  }
  return out;
}

std::string results_json(const ExploreResults& r) {
  using Json = nlohmann::ordered_json;
  const Experiment& e = r.experiment;
  Json objectives = Json::array(), parameters = Json::array(), points = Json::array(),
       effects = Json::object();
  for (const auto& o : e.objectives)
    objectives.push_back({{"name", o}, {"unit", (*find_metric(o.substr(0, o.find('@'))))->unit}});
  for (const auto& p : e.space.parameters) {
    Json levels = Json::array();
    for (const auto& level : p.levels) levels.push_back(level.text);
    parameters.push_back({{"name", p.name}, {"key", p.key}, {"levels", levels}});
  }
  const std::set<std::size_t> front(r.front.begin(), r.front.end());
  for (std::size_t i = 0; i < r.points.size(); ++i) {
    const PointResult& p = r.points[i];
    Json point = {{"parameters", Json::object()}, {"sets", Json::object()}, {"status", p.status}};
    for (std::size_t k = 0; k < e.space.parameters.size(); ++k)
      point["parameters"][e.space.parameters[k].name] = p.point.texts[k];
    for (const auto& a : p.point.sets) point["sets"][a.key] = a.value;
    if (!p.reason.empty()) point["reason"] = p.reason;
    if (!r.values[i].empty()) {
      for (std::size_t o = 0; o < e.objectives.size(); ++o)
        point["objectives"][e.objectives[o]] = r.values[i][o];
      point["front"] = front.contains(i);
    }
    for (const auto& run : p.runs) point["workloads"][run.workload] = run.values;
    points.push_back(std::move(point));
  }
  for (std::size_t o = 0; o < e.objectives.size(); ++o) {
    Json rows = Json::array();
    for (const auto& s : r.effects[o]) {
      Json levels = Json::array();
      for (const auto& level : s.levels)
        levels.push_back({{"level", level.text}, {"points", level.points}, {"mean", level.mean}});
      rows.push_back({{"parameter", s.parameter}, {"share", s.share}, {"levels", levels}});
    }
    effects[e.objectives[o]] = rows;
  }
  Json map = Json::array();
  for (const BottleneckRow& row : r.map)
    map.push_back({{"workload", row.workload},
                   {"parameter", row.parameter},
                   {"level", row.level},
                   {"points", row.points},
                   {"bounds", row.bounds}});
  Json out = {{"name", e.plan.name},      {"soc", e.plan.soc},        {"method", e.plan.method},
              {"objectives", objectives}, {"parameters", parameters}, {"statuses", r.statuses},
              {"front", r.front},         {"sensitivity", effects},   {"bottlenecks", r.bounds},
              {"bottleneck_map", map},    {"points", points}};
  return json_text("deputy-explore-1", out);
}

}  // namespace deputy::tools
