#include <nlohmann/json.hpp>
#include <set>

#include "tools/explore/metrics.h"
#include "tools/html/page.h"

namespace deputy::tools {
namespace {

using Json = nlohmann::ordered_json;

// A column a quantity, a row a point: names are written once.
Json points_json(const ExploreResults& r) {
  const Experiment& e = r.experiment;
  const std::set<std::size_t> front(r.front.begin(), r.front.end());
  Json status = Json::array(), parameters = Json::array(), objectives = Json::array(),
       on_front = Json::array();
  for (std::size_t k = 0; k < e.space.parameters.size(); ++k) {
    Json column = Json::array();
    for (const PointResult& p : r.points) column.push_back(p.point.texts[k]);
    parameters.push_back(std::move(column));
  }
  for (std::size_t o = 0; o < e.objectives.size(); ++o) {
    Json column = Json::array();
    for (const auto& values : r.values)
      column.push_back(values.empty() ? Json(nullptr) : Json(values[o]));
    objectives.push_back(std::move(column));
  }
  for (std::size_t i = 0; i < r.points.size(); ++i) {
    const PointResult& p = r.points[i];
    status.push_back(p.status == "ok" ? p.status
                                      : p.status + (p.reason.empty() ? "" : ": " + p.reason));
    on_front.push_back(front.contains(i) ? 1 : 0);
  }
  return {{"status", status},
          {"parameters", parameters},
          {"objectives", objectives},
          {"front", on_front}};
}

}  // namespace

std::string explore_page(const ExploreResults& r) {
  const Experiment& e = r.experiment;
  Json parameters = Json::array(), objectives = Json::array(), effects = Json::array();
  for (const auto& p : e.space.parameters) {
    Json levels = Json::array();
    for (const auto& level : p.levels) levels.push_back(level.text);
    parameters.push_back({{"name", p.name}, {"key", p.key}, {"levels", levels}});
  }
  for (std::size_t o = 0; o < e.objectives.size(); ++o) {
    const std::string& name = e.objectives[o];
    objectives.push_back(
        {{"name", name}, {"unit", (*find_metric(name.substr(0, name.find('@'))))->unit}});
    Json rows = Json::array();
    for (const auto& s : r.effects[o]) {
      Json levels = Json::array();
      for (const auto& level : s.levels)
        levels.push_back({{"level", level.text}, {"points", level.points}, {"mean", level.mean}});
      rows.push_back({{"parameter", s.parameter}, {"share", s.share}, {"levels", levels}});
    }
    effects.push_back(rows);
  }
  const Json out = {{"format", "deputy-explore-page-1"},
                    {"name", e.plan.name},
                    {"soc", e.plan.soc},
                    {"method", e.plan.method},
                    {"parameters", parameters},
                    {"objectives", objectives},
                    {"statuses", r.statuses},
                    {"sensitivity", effects},
                    {"bottlenecks", r.bounds},
                    {"points", points_json(r)}};
  return page_with(out.dump());
}

}  // namespace deputy::tools
