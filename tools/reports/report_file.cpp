#include "tools/reports/report_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tools/files.h"

namespace deputy::tools {
namespace {

using Json = nlohmann::json;

// Of the JSON, in a few words; never leaves this file.
struct Unreadable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

Bounds bounds_of_json(const Json& json) {
  if (!json.contains("bound_cycles")) return {};
  const Json& b = json.at("bound_cycles");
  return {b.at("compute"), b.at("scratchpad"), b.at("decoder"), b.at("sram"), b.at("dram")};
}

ReportedLayer layer_of(const Json& json, const ReportFile& file) {
  ReportedLayer out;
  out.name = json.at("name"), out.kind = json.at("kind"), out.bound = json.at("bound");
  const std::string engine = json.at("engine");
  const auto named = arch::engine_named(engine);
  if (!named) throw Unreadable(fmt::format("names an engine that is none: '{}'", engine));
  out.engine = out.bound == kHostBound ? arch::Engine::kCpu : *named;
  out.reason = json.value("reason", "");
  out.own_cycles = json.at("own_cycles"), out.energy_nj = json.at("energy_nj");
  const Json& bytes = json.at("bytes");
  out.load_bytes = bytes.at("load"), out.store_bytes = bytes.at("store");
  out.weight_bytes = bytes.at("weights"), out.decoded_bytes = bytes.at("decoded");
  out.bounds = bounds_of_json(json);
  out.fused_into = json.value("fused_into", -1);
  out.tiles = json.value("tiles", std::map<std::string, double>());
  if (json.contains("dsp"))
    DspTime::fields(out.dsp,
                    [&](std::uint64_t& value, const char* name) { value = json["dsp"].at(name); });
  const double mhz = file.clock_mhz(out.engine);
  out.own_ns = mhz > 0 ? out.own_cycles * 1000 / mhz : 0;
  return out;
}

ReportFile report_of(const Json& json) {
  ReportFile out;
  out.model = json.at("model"), out.soc = json.at("soc");
  const Json& target = json.at("target");
  if (!target.contains("dsp_clock_mhz")) throw Unreadable("is a report of an older version");
  out.target = {target.at("npu_clock_mhz"),        target.at("host_clock_mhz"),
                target.at("dsp_clock_mhz"),        target.at("sram_bytes_per_cycle"),
                target.at("dram_bytes_per_cycle"), target.at("sram_bytes"),
                target.at("sram_used_bytes")};
  out.latency_ns = json.at("latency_ns"), out.total_ns = json.at("total_ns");
  const Json& cycles = json.at("cycles");
  out.npu_cycles = cycles.at("npu"), out.npu_busy_cycles = cycles.at("npu_busy"),
  out.host_cycles = cycles.at("host");
  out.dsp_busy_cycles = cycles.at("dsp_busy");
  out.npu_macs = json.at("macs").at("npu"), out.mac_utilisation = json.at("mac_utilisation");
  out.component_nj = json.at("energy_nj").get<std::map<std::string, double>>();
  out.total_nj = out.component_nj.at("total");
  out.component_nj.erase("total");
  out.cause_nj = json.at("energy_by_cause_nj").get<std::map<std::string, double>>();
  out.inference_nj = json.at("power").at("inference_nj");
  for (const auto& [memory, count] : json.at("bytes").items())
    out.memory_bytes[memory] = count.at("read").get<double>() + count.at("write").get<double>();
  out.counters = json.at("counters").get<std::map<std::string, double>>();
  out.dram_map_bytes = json.at("npu_dram_bytes").at("feature_maps"),
  out.dram_weight_bytes = json.at("npu_dram_bytes").at("weights");
  out.copied_bytes = json.at("copied_bytes");
  out.bounds = bounds_of_json(json);
  for (const Json& op : json.at("ops")) out.layers.push_back(layer_of(op, out));
  return out;
}

}  // namespace

double ReportFile::npu_ns() const { return ns_of_npu(npu_busy_cycles); }

double ReportFile::dsp_ns() const {
  return target.dsp_mhz > 0 ? dsp_busy_cycles * 1000 / target.dsp_mhz : 0;
}

double ReportFile::cpu_ns() const {
  double out = 0;
  for (const ReportedLayer& l : layers) out += l.ran_on(arch::Engine::kCpu) ? l.own_ns : 0;
  return out;
}

double ReportFile::runtime_ns() const {
  return std::max(0.0, latency_ns - npu_ns() - dsp_ns() - cpu_ns());
}

double ReportFile::clock_mhz(arch::Engine engine) const {
  return engine == arch::Engine::kNpu   ? target.npu_mhz
         : engine == arch::Engine::kDsp ? target.dsp_mhz
                                        : target.host_mhz;
}

double ReportFile::jobs(arch::Engine engine) const {
  const auto it = counters.find(fmt::format("{}.jobs", arch::engine_word(engine)));
  return it == counters.end() ? 0 : it->second;
}

std::string ReportFile::layer_text(std::size_t index) const {
  return fmt::format("{} {} ({})", index, layers[index].name, layers[index].kind);
}

base::Result<ReportFile> parse_report(const std::string& text, const std::string& path) {
  const auto bad = [&](std::string what) {
    return base::Error{base::ErrorKind::kInput, path, std::move(what),
                       "write one with deputy run MODEL --report FILE.json"};
  };
  try {
    const Json json = Json::parse(text);
    if (!json.is_object() || json.value("format", "") != "deputy-report-1")
      return bad("is no report of deputy run");
    if (json.contains("failure"))
      return bad("is of a run that failed: " + json["failure"].get<std::string>());
    if (!json.contains("target")) return bad("is a report of an older version");
    ReportFile out = report_of(json);
    out.path = path;
    return out;
  } catch (const Unreadable& e) {
    return bad(e.what());
  } catch (const nlohmann::json::exception& e) {
    return bad(fmt::format("is no whole report: {}", e.what()));
  }
}

base::Result<ReportFile> read_report(const std::string& path) {
  DEPUTY_ASSIGN(const auto bytes, read_file(path));
  return parse_report({bytes.begin(), bytes.end()}, path);
}

}  // namespace deputy::tools
