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
#include "soc/books.h"
#include "tools/cli/common.h"
#include "tools/files.h"
#include "tools/simulator/target.h"

namespace deputy::tools {
namespace {

// Keys that a SoC file may have besides the rows of `deputy list params`.
constexpr std::array kFileKeys = {"energy.file", "energy.dram_file", "host.file",
                                  "dram.device.file"};

bool is_file(const std::string& key) {
  return std::ranges::find(kFileKeys, key) != kFileKeys.end();
}

// "key=value", for a Config. A file that the experiment names lies beside it; those of the SoC's
// own file, beside that one.
std::string setting(const std::string& folder, const std::string& key, const std::string& value) {
  return key + "=" +
         (is_file(key) ? std::filesystem::absolute(beside(folder, value)).string() : value);
}

// Rows of the tables behind a SoC that its effective configuration does not show.
std::string tables_text(const soc::EnergyTables& tables) {
  std::string out = fmt::format("{} V\n", tables.volts);
  std::vector<base::ParamRow> rows;
  base::list_params("", tables.rows, rows);
  for (const auto& row : rows) out += row.key + "=" + row.value + "\n";
  for (const auto& m : tables.macros)
    out += fmt::format("{} {} {}\n", m.kib, m.read_byte_pj, m.write_byte_pj);
  return out;
}

base::Status check_keys(const Experiment& experiment, const std::vector<base::ParamRow>& rows) {
  const auto known = [&](const std::string& key) {
    return std::ranges::any_of(rows, [&](const auto& row) { return row.key == key; }) ||
           is_file(key);
  };
  const auto check = [&](const std::string& where, const std::string& key) -> base::Status {
    if (known(key)) return {};
    return base::Error{base::ErrorKind::kConfig, where, fmt::format("there is no knob '{}'", key),
                       "'deputy list params' shows every key"};
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
  common.soc = experiment.plan.soc, common.effort = experiment.plan.effort;
  out.names_ = experiment.folder, out.frames_ = experiment.plan.frames;
  for (const std::string& set : experiment.sets) {
    const std::size_t equals = set.find('=');
    const bool whole = equals != std::string::npos;  // else Config says what is wrong with it
    common.sets.push_back(whole ? setting(out.names_, set.substr(0, equals), set.substr(equals + 1))
                                : set);
  }
  DEPUTY_ASSIGN(out.options_, simulate_options(common));
  out.options_.timing_only = true;
  DEPUTY_ASSIGN(const std::string path, find_soc(experiment.plan.soc));
  DEPUTY_ASSIGN(out.base_, base::Config::from_file(path));
  for (const std::string& set : common.sets) DEPUTY_TRY(out.base_.set(set));
  out.folder_ = std::filesystem::path(path).parent_path().string();
  base::Config for_tables = out.base_;
  DEPUTY_ASSIGN(const auto tables, soc::load_energy_tables(for_tables, out.folder_));
  DEPUTY_ASSIGN(out.area_, load_area(experiment.plan.area));

  std::vector<base::ParamRow> rows, area;
  base::list_params("", out.options_.soc, rows);
  base::list_params("", out.area_, area);
  DEPUTY_TRY(check_keys(experiment, rows));
  out.identity_ = fmt::format("deputy-explore-1\ncompiler {}\nsimulator {}\neffort {}\n",
                              api::KeyParts::compiler_identity(), DEPUTY_SIMULATOR_SOURCES,
                              experiment.plan.effort);
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
    if (!w.stream.empty()) {
      DEPUTY_ASSIGN(out.workloads_.emplace_back(), load_stream(w));
      continue;
    }
    Loaded loaded{w.name,
                  "",
                  {},
                  {},
                  Numerics::kTflite,
                  {soc::us_to_ps(w.period_us), soc::us_to_ps(w.jitter_us)},
                  {}};
    DEPUTY_ASSIGN(auto file, load_workload(w));
    loaded.digest = api::hex(api::sha256(file.bytes)), loaded.graph = std::move(file.graph);
    if (loaded.arrivals.period_ps > 0)
      loaded.digest += fmt::format(" {} frames, {} {}", out.frames_, loaded.arrivals.period_ps,
                                   loaded.arrivals.jitter_ps);
    if (w.model.ends_with(".onnx")) loaded.numerics = Numerics::kFp32;
    DEPUTY_ASSIGN(loaded.inputs, load_inputs(loaded.graph, {}, 1));
    out.workloads_.push_back(std::move(loaded));
  }
  return out;
}

// A scenario, and what is in the files that it names.
base::Result<Evaluator::Loaded> Evaluator::load_stream(const Workload& workload) {
  Loaded out;
  out.name = workload.name;
  DEPUTY_ASSIGN(out.stream, load_scenario(workload.stream, workload.with));
  StreamScenario& s = *out.stream;
  s.soc = "the point's";
  std::vector<base::ParamRow> rows;
  base::list_params("", s, rows);
  std::string text = "stream\n";
  for (const auto& row : rows) text += row.key + "=" + row.value + "\n";
  for (const Dropout& d : s.dropouts) text += fmt::format("dropout {} {}\n", d.at_s, d.for_s);
  for (const std::string& file : {s.model, s.source.file, s.source.labels}) {
    if (file.empty() || file.starts_with("builtin:")) continue;
    DEPUTY_ASSIGN(const auto bytes, read_file(beside(s.folder, file)));
    text += api::hex(api::sha256(bytes)) + "\n";
  }
  out.digest = api::hex(api::sha256(text));
  return out;
}

// The point's knobs as they count for its key: by name and value, or, where files are among them,
// what becomes of the SoC with them (or the error, which is then the run's outcome).
std::string Evaluator::settings(const explore::Point& point) const {
  std::string id = point.id();
  if (std::ranges::none_of(point.sets, [](const auto& a) { return is_file(a.key); })) return id;
  if (settings_.first != id) {  // the same point's other workloads follow
    const auto soc = soc_of(point.sets);
    settings_ = {std::move(id),
                 "files\n" + (soc.ok() ? soc::effective_config_yaml(*soc) : soc.error().text())};
  }
  return settings_.second;
}

std::string Evaluator::key(const explore::Point& point, std::size_t workload) const {
  return api::hex(
      api::sha256(identity_ + "\n" + workloads_[workload].digest + "\n" + settings(point)));
}

std::string Evaluator::job(const explore::Point& point, std::size_t workload) const {
  return fmt::format("{}\n{}", workload, point.id());
}

base::Result<soc::SocConfig> Evaluator::soc_of(const std::vector<explore::Assignment>& sets) const {
  base::Config config = base_;
  for (const auto& a : sets) DEPUTY_TRY(config.set(setting(names_, a.key, a.value)));
  return soc::parse_soc_config(std::move(config), folder_);
}

std::string Evaluator::group(const explore::Point& point, std::size_t workload) const {
  std::string out = fmt::format("{}\n", workload);
  for (const auto& a : point.sets) {
    const bool unseen = std::ranges::any_of(
        std::array{"energy.", "battery.", "sensor.", "dma.", "iommu.", "dsp.", "power."},
        [&](const char* group) { return a.key.starts_with(group); });
    if (!unseen || a.key == "power.point" || a.key == "power.rail")
      out += a.key + "=" + a.value + "\n";
  }
  return out;
}

// A run of the workload at these options. Its times and events are theirs, its prices those of
// whoever had it before.
base::Result<Simulation*> Evaluator::simulated(const Loaded& workload,
                                               const SimulateOptions& options) {
  DEPUTY_ASSIGN(const auto device, device_identity(options));
  api::KeyParts parts;
  parts.model = {reinterpret_cast<const std::uint8_t*>(workload.digest.data()),
                 workload.digest.size()};
  parts.model_name = workload.name, parts.options = compile_options(options), parts.device = device;
  const std::string program_key = api::hex(api::compile_key(parts));
  std::vector<base::ParamRow> rows;
  base::list_params("", options.soc, rows);
  std::string run_key = program_key + "\n";
  for (const auto& row : rows)
    if (!soc::only_prices(row.key)) run_key += row.key + "=" + row.value + "\n";
  run_key = api::hex(api::sha256(run_key));
  if (Simulation* known = runs_.find(run_key)) return known;
  std::vector<std::uint8_t>* program = programs_.find(program_key);
  if (!program) {
    DEPUTY_ASSIGN(const auto executable, compile_graph(workload.graph, options, nullptr, nullptr));
    ++compiled_;
    auto bytes = arch::write_executable(executable);
    const std::size_t size = bytes.size();
    program = &programs_.add(program_key, std::move(bytes), size);
  }
  DEPUTY_ASSIGN(auto simulation,
                simulate_executable(*program, workload.name, options, workload.inputs));
  ++simulated_;
  return &runs_.add(run_key, std::move(simulation), program->size());
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
  if (workload.stream) {
    DEPUTY_ASSIGN(const StreamOptions with, stream_on(*workload.stream, options.soc));
    DEPUTY_ASSIGN(const StreamRun run, run_stream(with));
    ++compiled_, ++simulated_;
    const StreamReport report = report_stream(with, run);
    if (report.decisions == 0)  // its p99 would be the best of all
      return base::Error{
          base::ErrorKind::kConfig, workload.name, "the stream made no decision",
          "give it more signal (with: [source.seconds=60]), or a SoC that can follow it"};
    return measure(report, with.soc, area_);
  }
  if (workload.arrivals.period_ps > 0)
    options.frames = frames_, options.arrivals = workload.arrivals;
  DEPUTY_ASSIGN(Simulation* const simulation, simulated(workload, options));
  soc::account(options.soc, simulation->soc, true);  // at this point's prices
  const Report report = make_report(*simulation, options);
  DEPUTY_TRY(soc::balanced(workload.name, report.imbalances));
  return measure(report, *simulation, options.soc, area_);
}

Evaluator::Outcome Evaluator::run(const std::string& job) {
  auto values = measure_one(job);
  if (values.ok()) return {"ok", "", std::move(*values)};
  using enum base::ErrorKind;
  const base::ErrorKind kind = values.error().kind;
  const bool refused =
      kind == kUsage || kind == kModel || kind == kConfig || kind == kUnsupported || kind == kInput;
  return {refused ? "refused" : "failed", values.error().text(), {}};
}

std::string Evaluator::encode(const Outcome& outcome) {
  std::string reason = outcome.reason;
  std::ranges::replace(reason, '\n', ' ');
  std::string out = outcome.status + "\n" + reason + "\n";
  for (const auto& [name, value] : outcome.values)
    out += fmt::format("{}={}\n", name, value);  // reads back equal
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
