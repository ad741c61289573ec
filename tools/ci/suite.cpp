#include "tools/ci/suite.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "api/digest.h"
#include "soc/books.h"
#include "tools/cli/common.h"
#include "tools/files.h"
#include "tools/report.h"
#include "tools/simulator/target.h"

namespace deputy::tools {
namespace {

using Json = nlohmann::ordered_json;

base::Error bad(const std::string& where, std::string what, std::string remedy) {
  return {base::ErrorKind::kConfig, where, std::move(what), std::move(remedy)};
}

CommonOptions common_options(const CiCase& c) {
  CommonOptions out;
  out.soc = c.soc, out.sets = c.sets, out.effort = c.effort, out.engine = c.engine,
  out.numerics = c.numerics;
  return out;
}

base::Result<CiSuite> parse_suite(base::Config config, const std::string& path) {
  CiSuite out;
  const std::filesystem::path file(path);
  const auto* name = config.find("name");
  out.name = name ? name->value : file.stem().string();
  std::set<std::string> names;
  for (std::size_t i = 0; config.has_group(fmt::format("cases.{}", i)); ++i) {
    const std::string where = fmt::format("cases.{}", i);
    CiCase c;
    DEPUTY_TRY(config.load(where, c));
    for (std::size_t k = 0;; ++k) {
      const auto* set = config.find(fmt::format("{}.set.{}", where, k));
      if (!set) break;
      c.sets.push_back(set->value);
    }
    DEPUTY_TRY(complete(c, path + ": " + where, file.parent_path().string()));
    DEPUTY_TRY(check_words(common_options(c), path + ": " + where));
    if (is_config_path(c.soc)) c.soc = beside(file.parent_path().string(), c.soc);
    if (c.name.empty()) c.name = c.stem() + "-" + std::filesystem::path(c.soc).stem().string();
    if (!names.insert(c.name).second)
      return bad(path + ": " + where, "the name '" + c.name + "' is taken",
                 "give it a 'name' of its own");
    out.cases.push_back(std::move(c));
  }
  if (out.cases.empty())
    return bad(path, "has no cases", "name at least one: cases: [{network: ds_cnn}]");
  for (const CiMetric& metric : ci_metrics()) {
    const auto* entry = config.find(fmt::format("tolerances.{}", metric.name));
    if (!entry) continue;
    char* end = nullptr;
    const double percent = std::strtod(entry->value.c_str(), &end);
    if (entry->value.empty() || *end != '\0' || !(percent >= 0 && percent <= 1000))
      return bad(entry->where, fmt::format("'{}' is no tolerance", entry->value),
                 "give percent, from 0 to 1000");
    out.tolerances[metric.name] = percent;
  }
  DEPUTY_TRY(config.finish());
  return out;
}

base::Result<CiResult> run_case(const CiCase& c, const std::vector<std::string>& sets) {
  CommonOptions common = common_options(c);
  common.sets.insert(common.sets.end(), sets.begin(), sets.end());
  DEPUTY_ASSIGN(auto options, simulate_options(common, c.model));
  options.seed = static_cast<std::uint64_t>(c.seed);
  DEPUTY_ASSIGN(const ModelFile model, load_workload(c));
  DEPUTY_ASSIGN(const auto inputs, load_inputs(model.graph, {}, options.seed));
  DEPUTY_ASSIGN(const auto simulation, simulate(model.graph, options, inputs));
  const Report report = make_report(simulation, options);
  DEPUTY_TRY(soc::balanced(c.name, report.imbalances));
  CiResult out;
  for (const auto& bytes : simulation.outputs) out.outputs.push_back(api::hex(api::sha256(bytes)));
  double moved = 0;
  if (const auto it = report.memory_bytes.find("dram"); it != report.memory_bytes.end())
    moved = static_cast<double>(it->second.read_bytes + it->second.write_bytes);
  out.metrics = {{"latency_ns", report.latency_ns},
                 {"npu_cycles", static_cast<double>(report.npu_cycles)},
                 {"host_cycles", static_cast<double>(report.host_cycles)},
                 {"energy_nj", report.power.inference_nj},
                 {"dram_bytes", moved},
                 {"sram_used_bytes", static_cast<double>(simulation.executable.fast_arena_bytes)},
                 {"macs_on_npu", static_cast<double>(report.npu_macs)}};
  for (const OpReport& op : report.ops)
    out.layers.push_back({op.name, op.kind, op.engine, static_cast<double>(op.own_cycles),
                          op.energy_nj, static_cast<double>(op.load_bytes + op.store_bytes)});
  return out;
}

Json json_of(const CiResult& r) {
  Json layers = Json::array();
  for (const CiLayer& l : r.layers)
    layers.push_back({{"name", l.name},
                      {"kind", l.kind},
                      {"engine", l.engine},
                      {"cycles", l.cycles},
                      {"energy_nj", l.energy_nj},
                      {"bytes", l.bytes}});
  Json out = {{"outputs", r.outputs}, {"metrics", r.metrics}, {"layers", layers}};
  if (!r.error.empty()) out["error"] = r.error;
  return out;
}

CiResult result_of(const Json& json) {
  CiResult out;
  out.error = json.value("error", "");
  out.outputs = json.at("outputs").get<std::vector<std::string>>();
  out.metrics = json.at("metrics").get<std::map<std::string, double>>();
  for (const Json& l : json.at("layers"))
    out.layers.push_back({l.at("name"), l.at("kind"), l.at("engine"), l.at("cycles"),
                          l.at("energy_nj"), l.at("bytes")});
  return out;
}

}  // namespace

const std::vector<CiMetric>& ci_metrics() {
  static const std::vector<CiMetric> metrics = {
      {"latency_ns", "ns"},   {"npu_cycles", "cycles"}, {"host_cycles", "cycles"},
      {"energy_nj", "nJ"},    {"dram_bytes", "bytes"},  {"sram_used_bytes", "bytes"},
      {"macs_on_npu", "MACs"}};
  return metrics;
}

base::Result<CiSuite> load_suite(const std::string& path) {
  DEPUTY_ASSIGN(auto config, base::Config::from_file(path));
  return parse_suite(std::move(config), path);
}

CiResults run_suite(const CiSuite& suite, const std::vector<std::string>& sets, int jobs) {
  constexpr unsigned kMostSeconds = 600;
  WorkerPool pool(jobs, kMostSeconds, [&](const std::string& job) {
    auto result = run_case(suite.cases[std::stoul(job)], sets);
    if (result.ok()) return json_of(*result).dump();
    CiResult failed;
    failed.error = result.error().text();
    return json_of(failed).dump();
  });
  for (std::size_t i = 0; i < suite.cases.size(); ++i) pool.submit(i, std::to_string(i));
  CiResults out;
  while (const auto answer = pool.wait()) {
    CiResult& result = out[suite.cases[answer->id].name];
    if (answer->end == WorkerPool::Answer::End::kDone)
      result = result_of(Json::parse(answer->text));
    else
      result.error = "the process was " + answer->text;
  }
  return out;
}

std::string ci_results_json(const CiResults& results) {
  Json cases = Json::object();
  for (const auto& [name, result] : results) cases[name] = json_of(result);
  return Json({{"format", "deputy-ci-1"}, {"cases", cases}}).dump(1) + "\n";
}

base::Result<CiResults> parse_ci_results(const std::string& text, const std::string& where) {
  const char* const remedy = "write it with deputy ci SUITE --baseline FILE --update-baseline";
  try {
    const Json json = Json::parse(text);
    if (json.at("format") != "deputy-ci-1")
      return bad(where, "is no baseline of this version", remedy);
    CiResults out;
    for (const auto& [name, result] : json.at("cases").items()) out[name] = result_of(result);
    return out;
  } catch (const nlohmann::json::exception& e) {
    return bad(where, fmt::format("is no baseline: {}", e.what()), remedy);
  }
}

}  // namespace deputy::tools
