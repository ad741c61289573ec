#include "tools/explore/evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>

#include "api/compile_key.h"
#include "simulator_sources_hash.h"
#include "tools/cli/common.h"
#include "tools/simulator/target.h"
#include "workloads/networks.h"

namespace deputy::tools {
namespace {

constexpr std::size_t kProgramBytes = 256 << 20;

// Keys that a SoC file may have besides the rows of `deputy list params`.
constexpr std::array kFileKeys = {"energy.file", "energy.dram_file", "host.file", "dram.device.file"};

// Rows of the tables behind a SoC that its effective configuration does not show.
std::string tables_text(const soc::EnergyTables& tables) {
  std::string out = fmt::format("{} V\n", tables.volts);
  std::vector<base::ParamRow> rows;
  base::list_params("", tables.rows, rows);
  for (const auto& row : rows) out += row.key + "=" + row.value + "\n";
  for (const auto& m : tables.macros) out += fmt::format("{} {} {}\n", m.kib, m.read_byte_pj, m.write_byte_pj);
  return out;
}

base::Status check_keys(const Experiment& experiment, const std::vector<base::ParamRow>& rows) {
  const auto known = [&](const std::string& key) {
    return std::ranges::any_of(rows, [&](const auto& row) { return row.key == key; }) ||
           std::ranges::find(kFileKeys, key) != kFileKeys.end();
  };
  const auto check = [&](const std::string& where, const std::string& key) -> base::Status {
    if (known(key)) return {};
    return base::Error{base::ErrorKind::kConfig, where, fmt::format("there is no knob '{}'", key), "'deputy list params' shows every key"};
  };
  for (const auto& p : experiment.space.parameters) {
    if (!p.key.empty()) DEPUTY_TRY(check("parameters." + p.name, p.key));
    for (const auto& level : p.levels)
      for (const auto& a : level.sets) DEPUTY_TRY(check("parameters." + p.name, a.key));
  }
  for (const auto& l : experiment.space.linked) DEPUTY_TRY(check("linked." + l.key, l.key));
  return {};
}

}  // namespace

base::Result<Evaluator> Evaluator::prepare(Experiment& experiment) {
  Evaluator out;
  CommonOptions common;
  common.soc = experiment.plan.soc, common.sets = experiment.sets, common.effort = experiment.plan.effort;
  DEPUTY_ASSIGN(out.options_, simulate_options(common));
  out.options_.timing_only = true;
  DEPUTY_ASSIGN(const std::string path, find_soc(experiment.plan.soc));
  DEPUTY_ASSIGN(out.base_, base::Config::from_file(path));
  for (const std::string& set : experiment.sets) DEPUTY_TRY(out.base_.set(set));
  out.folder_ = std::filesystem::path(path).parent_path().string();
  base::Config for_tables = out.base_;
  DEPUTY_ASSIGN(const auto tables, soc::load_energy_tables(for_tables, out.folder_));
  DEPUTY_ASSIGN(out.area_, load_area(experiment.plan.area));

  std::vector<base::ParamRow> rows, area;
  base::list_params("", out.options_.soc, rows);
  base::list_params("", out.area_, area);
  DEPUTY_TRY(check_keys(experiment, rows));
  out.identity_ = fmt::format("deputy-explore-1\ncompiler {}\nsimulator {}\neffort {}\n", api::KeyParts::compiler_identity(),
                              DEPUTY_SIMULATOR_SOURCES, experiment.plan.effort);
  for (const auto& row : area) out.identity_ += row.key + "=" + row.value + "\n";
  out.identity_ += soc::effective_config_yaml(out.options_.soc) + tables_text(tables);
  out.identity_ = api::hex(api::sha256(out.identity_));

  const auto values = std::make_shared<std::map<std::string, std::string>>();
  for (const auto& row : rows) values->emplace(row.key, row.value);
  experiment.space.base = [values](const std::string& name) -> std::optional<double> {
    const auto it = values->find(name);
    return it == values->end() ? std::nullopt : explore::number_of(it->second);
  };
  for (const Workload& w : experiment.workloads) {
    Loaded loaded{w.name, "", {}, {}, Numerics::kTflite};
    if (w.network.empty()) {
      DEPUTY_ASSIGN(auto file, load_model_file(w.model));
      loaded.digest = api::hex(api::sha256(file.bytes)), loaded.graph = std::move(file.graph);
      if (w.model.ends_with(".onnx")) loaded.numerics = Numerics::kFp32;
    } else {  // its bytes follow from its name and the sources
      DEPUTY_ASSIGN(loaded.graph, workloads::build_network(w.network));
      loaded.digest = "network " + w.network;
    }
    DEPUTY_ASSIGN(loaded.inputs, load_inputs(loaded.graph, {}, 1));
    out.workloads_.push_back(std::move(loaded));
  }
  return out;
}

std::string Evaluator::key(const explore::Point& point, std::size_t workload) const {
  return api::hex(api::sha256(identity_ + "\n" + workloads_[workload].digest + "\n" + point.id()));
}

std::string Evaluator::job(const explore::Point& point, std::size_t workload) const {
  return fmt::format("{}\n{}", workload, point.id());
}

base::Result<soc::SocConfig> Evaluator::soc_of(const std::vector<explore::Assignment>& sets) const {
  base::Config config = base_;
  for (const auto& a : sets) DEPUTY_TRY(config.set(a.key + "=" + a.value));
  return soc::parse_soc_config(std::move(config), folder_);
}

base::Result<std::vector<std::uint8_t>> Evaluator::program(const Loaded& workload, const SimulateOptions& options) {
  DEPUTY_ASSIGN(const auto device, device_identity(options));
  api::KeyParts parts;
  parts.model = {reinterpret_cast<const std::uint8_t*>(workload.digest.data()), workload.digest.size()};
  parts.model_name = workload.name, parts.options = compile_options(options), parts.device = device;
  const std::string key = api::hex(api::compile_key(parts));
  if (const auto it = programs_.find(key); it != programs_.end()) return it->second;
  DEPUTY_ASSIGN(const auto executable, compile_graph(workload.graph, options, nullptr, nullptr));
  auto bytes = arch::write_executable(executable);
  program_bytes_ += bytes.size();
  order_.push_back(key);
  for (; program_bytes_ > kProgramBytes && order_.size() > 1; order_.pop_front()) {
    program_bytes_ -= programs_[order_.front()].size();
    programs_.erase(order_.front());
  }
  programs_[key] = bytes;
  return bytes;
}

base::Result<std::map<std::string, double>> Evaluator::measure_one(const std::string& job) {
  std::istringstream lines(job);
  std::string line;
  std::getline(lines, line);
  const Loaded& workload = workloads_.at(std::stoul(line));
  std::vector<explore::Assignment> sets;
  while (std::getline(lines, line)) {
    const std::size_t equals = line.find('=');
    sets.push_back({line.substr(0, equals), line.substr(equals + 1)});
  }
  SimulateOptions options = options_;
  options.numerics = workload.numerics;
  DEPUTY_ASSIGN(options.soc, soc_of(sets));
  DEPUTY_ASSIGN(const auto file, program(workload, options));
  DEPUTY_ASSIGN(const auto simulation, simulate_executable(file, workload.name, options, workload.inputs));
  const Report report = make_report(simulation, options);
  if (!report.imbalances.empty())
    return base::Error{base::ErrorKind::kMismatch, workload.name, "the books do not balance: " + report.imbalances[0], ""};
  return measure(report, simulation, options.soc, area_);
}

Evaluator::Outcome Evaluator::run(const std::string& job) {
  auto values = measure_one(job);
  if (values.ok()) return {"ok", "", std::move(*values)};
  using enum base::ErrorKind;
  const base::ErrorKind kind = values.error().kind;
  const bool refused = kind == kUsage || kind == kModel || kind == kConfig || kind == kUnsupported || kind == kInput;
  return {refused ? "refused" : "failed", values.error().text(), {}};
}

std::string Evaluator::encode(const Outcome& outcome) {
  std::string reason = outcome.reason;
  std::ranges::replace(reason, '\n', ' ');
  std::string out = outcome.status + "\n" + reason + "\n";
  for (const auto& [name, value] : outcome.values) out += fmt::format("{}={}\n", name, value);  // reads back equal
  return out;
}

Evaluator::Outcome Evaluator::decode(const std::string& text) {
  Outcome out;
  std::istringstream lines(text);
  std::getline(lines, out.status);
  std::getline(lines, out.reason);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    out.values[line.substr(0, equals)] = std::strtod(line.c_str() + equals + 1, nullptr);
  }
  return out;
}

}  // namespace deputy::tools
