#include "soc/soc_config.h"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <initializer_list>
#include <set>
#include <string_view>

#include "npu_model/core/defect.h"
#include "npu_model/rtl/rtl_core.h"

namespace deputy::soc {
namespace {

base::Status check_word(base::Config& config, const std::string& key, const std::string& value,
                        std::initializer_list<const char*> words) {
  std::string list;
  for (const char* word : words) {
    if (value == word) return {};
    list += list.empty() ? word : fmt::format(", {}", word);
  }
  const auto* entry = config.find(key);
  return base::Error{base::ErrorKind::kConfig, entry ? entry->where : key,
                     fmt::format("{} = '{}' is not a choice", key, value), "use one of " + list};
}

bool power_of_two(std::int64_t v) { return v > 0 && (v & (v - 1)) == 0; }

// The SRAM rows that no key gives follow from the sizes.
void fill_sram_rows(const std::vector<SramMacro>& macros, SocConfig& c) {
  if (macros.empty()) return;
  const auto fill = [&](const char* row, double& value, double given, const SramMacro& from) {
    if (!c.energy_sources.count(row)) value = given, c.energy_sources[row] = from.row;
  };
  const SramMacro spm = sram_energy(macros, static_cast<double>(c.npu.spm.bytes));
  const SramMacro tcm = sram_energy(macros, static_cast<double>(c.dsp.tcm.bytes));
  const SramMacro sram = sram_energy(macros, static_cast<double>(c.sram.bytes));
  fill("npu_spm_read_byte_pj", c.energy.npu_spm_read_byte_pj, spm.read_byte_pj, spm);
  fill("npu_spm_write_byte_pj", c.energy.npu_spm_write_byte_pj, spm.write_byte_pj, spm);
  fill("dsp_tcm_read_byte_pj", c.energy.dsp_tcm_read_byte_pj, tcm.read_byte_pj, tcm);
  fill("dsp_tcm_write_byte_pj", c.energy.dsp_tcm_write_byte_pj, tcm.write_byte_pj, tcm);
  fill("sram_read_byte_pj", c.energy.sram_read_byte_pj, sram.read_byte_pj, sram);
  fill("sram_write_byte_pj", c.energy.sram_write_byte_pj, sram.write_byte_pj, sram);
}

// Of a block that a SoC need not have.
bool of_dsp(const std::string& row) { return row.starts_with("dsp_"); }

// Energy has no defaults: a row that nobody gave would be zero joules, silently.
base::Status check_energy(const RowSources& sources, bool dsp) {
  std::vector<base::ParamRow> rows;
  base::list_params("", sim::EnergyTable{}, rows);
  for (const auto& row : rows)
    if (!sources.count(row.key) && (dsp || !of_dsp(row.key)))
      return base::Error{base::ErrorKind::kConfig, "energy." + row.key, "has no value",
                         "name a table with energy.file (configs/energy) or give the row"};
  return {};
}

// Energy rows with what stands behind them.
std::vector<base::ParamRow> with_sources(std::vector<base::ParamRow> rows,
                                         const RowSources& sources) {
  std::vector<base::ParamRow> out;
  for (auto& row : rows) {
    const auto it =
        row.key.starts_with("energy.") ? sources.find(row.key.substr(7)) : sources.end();
    if (it == sources.end()) {
      if (!row.key.starts_with("energy.") || !of_dsp(row.key.substr(7)))
        out.push_back(std::move(row));
      continue;
    }
    out.push_back({row.key + ".value", row.value, row.field});
    out.push_back({row.key + ".basis", it->second.basis, {}});
    out.push_back({row.key + ".source", it->second.source, {}});
    if (!it->second.node.empty()) out.push_back({row.key + ".node", it->second.node, {}});
  }
  return out;
}

// The voltage that the rows hold at and the one there is; with an operating point, its voltage and
// clocks.
base::Status choose_point(base::Config& config, double table_volts, SocConfig& c) {
  const auto where = [&](const char* key) {
    const auto* entry = config.find(key);
    return entry ? entry->where : std::string(key);
  };
  if (c.power.reference_volts == 0) c.power.reference_volts = table_volts;
  if (c.power.point != "none") {
    const OperatingPoint* chosen = nullptr;
    std::string names = "none";
    for (const auto& point : c.operating_points) {
      names += ", " + point.name;
      if (point.name == c.power.point) chosen = &point;
    }
    if (!chosen)
      return base::Error{base::ErrorKind::kConfig, where("power.point"),
                         fmt::format("'{}' is no operating point of {}", c.power.point, c.name),
                         "use one of " + names};
    const double ratio = chosen->mhz / c.npu.clock_mhz;
    c.npu.clock_mhz = chosen->mhz;
    c.power.volts = chosen->volts;
    if (c.power.rail == "soc")
      for (double* clock :
           {&c.noc.clock_mhz, &c.dma.clock_mhz, &c.host.clock_mhz, &c.dsp.clock_mhz})
        *clock *= ratio;
  }
  if (c.power.volts == 0) c.power.volts = c.power.reference_volts;
  if (c.power.reference_volts == 0 && c.power.volts > 0)
    return base::Error{base::ErrorKind::kConfig, "power.reference_volts",
                       "nobody says at which voltage the energy rows hold",
                       "give it, or name a table with energy.file"};
  return {};
}

base::Status load_points(base::Config& config, std::vector<OperatingPoint>& out) {
  for (int i = 0; config.has_group(fmt::format("power.points.{}", i)); ++i) {
    const std::string key = fmt::format("power.points.{}", i);
    DEPUTY_TRY(config.load(key, out.emplace_back()));
    const OperatingPoint& p = out.back();
    if (p.name.empty() || p.volts == 0 || p.mhz == 0)
      return base::Error{base::ErrorKind::kConfig, key, "is not complete",
                         "an operating point has name, volts and mhz"};
  }
  return {};
}

// The operating points as rows of their own, behind the others of their group.
std::vector<base::ParamRow> with_points(std::vector<base::ParamRow> rows,
                                        const std::vector<OperatingPoint>& points) {
  std::vector<base::ParamRow> out;
  bool power = false;
  for (auto& row : rows) {
    if (power && !row.key.starts_with("power."))
      for (std::size_t i = 0; i < points.size(); ++i)
        base::list_params(fmt::format("power.points.{}", i), points[i], out);
    power = row.key.starts_with("power.");
    out.push_back(std::move(row));
  }
  return out;
}

// The device that dram.device.file names; the names of its rows.
base::Result<std::set<std::string>> load_device(base::Config& config, const std::string& folder,
                                                dram::Spec& out) {
  std::set<std::string> rows;
  const auto* file = config.find("dram.device.file");
  if (!file) return rows;
  auto table = base::Config::from_file((std::filesystem::path(folder) / file->value).string());
  if (!table.ok())
    return base::Error{table.error().kind, file->where, "DRAM device: " + table.error().text(),
                       "check dram.device.file"};
  DEPUTY_TRY(table->load("", out));
  DEPUTY_TRY(table->finish());
  for (const auto& [row, entry] : table->entries()) rows.insert(row);
  return rows;
}

// The full model's device has no defaults either.
base::Status check_device(base::Config& config, const DramConfig& dram,
                          const std::set<std::string>& table_rows) {
  if (dram.model != "full") return {};
  std::vector<base::ParamRow> rows;
  base::list_params("", dram.device, rows);
  for (const auto& row : rows)
    if (!table_rows.count(row.key) && !config.find("dram.device." + row.key))
      return base::Error{base::ErrorKind::kConfig, "dram.device." + row.key, "has no value",
                         "name a device with dram.device.file (configs/dram) or give the row"};
  const base::Status status = dram::check(dram.device, dram.controller);
  if (status.ok()) return {};
  base::Error error = status.error();
  for (const char* group : {"dram.controller.", "dram.device."})
    if (const auto* entry = config.find(group + status.error().where)) error.where = entry->where;
  error.message = "dram: " + status.error().where + ": " + error.message;
  return error;
}

// A scalar that YAML reads back as the same text: plain where that is safe, else in double quotes.
std::string yaml_text(const std::string& value) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-+";
  const bool word = !value.empty() && value.find_first_not_of(kPlain) == std::string::npos;
  const bool null = value == "null" || value == "Null" || value == "NULL";
  if (word && !null && std::isalnum(static_cast<unsigned char>(value.front()))) return value;
  std::string out = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + "\"";
}

base::Status check_silicon(base::Config& config, const arch::Silicon& silicon) {
  const auto at = [&](const char* key) {
    const auto* entry = config.find(key);
    return entry ? entry->where : std::string(key);
  };
  if (const auto revision = arch::revision_register(silicon); !revision.ok()) {
    base::Error error = revision.error();
    error.message = error.where + ": " + error.message;
    error.where = at(error.where.c_str());
    return error;
  }
  if (npu_model::defect_from_name(silicon.defect)) return {};
  std::string names;
  for (const auto& defect : npu_model::defects())
    names += (names.empty() ? "use one of " : ", ") + std::string(defect.name);
  return base::Error{base::ErrorKind::kConfig, at("silicon.defect"),
                     fmt::format("silicon.defect = '{}' is not a known fault", silicon.defect),
                     names};
}

base::Status check_engine(base::Config& config, const NpuParams& npu) {
  DEPUTY_TRY(check_word(config, "npu.engine", npu.engine, {"tlm", "rtl"}));
  if (npu.engine != "rtl") return {};
  const std::string refusal = npu_model::rtl_refusal(npu);
  if (refusal.empty()) return {};
  const auto* entry = config.find("npu.engine");
  return base::Error{base::ErrorKind::kConfig, entry ? entry->where : "npu.engine",
                     "npu.engine = rtl: " + refusal, "use npu.engine: tlm, or one of those shapes"};
}

// Ranges that depend on more than one knob.
base::Status check_together(const SocConfig& c) {
  const auto bad = [](const char* key, std::string what, const char* remedy) {
    return base::Error{base::ErrorKind::kConfig, key, std::move(what), remedy};
  };
  const int burst = c.dram.width_bits / 8 * c.dram.burst_length;
  if (c.dram.width_bits % 8 != 0 || !power_of_two(burst))
    return bad("dram.width_bits",
               "a burst (width_bits / 8 * burst_length) must be a power of two of bytes",
               "use 8, 16, 32 or 64 bits");
  if (!power_of_two(c.dram.row_bytes) || c.dram.row_bytes < burst)
    return bad("dram.row_bytes", "must be a power of two and hold at least one burst",
               "2048 is usual");
  if (!power_of_two(c.dram.banks))
    return bad("dram.banks", "must be a power of two", "8 or 16 are usual");
  if (!power_of_two(c.host.cache_line_bytes))
    return bad("host.cache_line_bytes", "must be a power of two", "32 or 64 are usual");
  if (!power_of_two(c.dsp.tcm.banks))
    return bad("dsp.tcm.banks", "must be a power of two", "32 serve a vector in one cycle");
  if (!power_of_two(c.dsp.dma.bytes_per_cycle))
    return bad("dsp.dma.bytes_per_cycle", "must be a power of two", "8 or 16 are usual");
  if (c.dram.trefi > 0 && c.dram.trefi <= c.dram.trfc)
    return bad("dram.trefi", "refresh would take all the time", "trefi must exceed trfc");
  return {};
}

}  // namespace

base::Result<SocConfig> parse_soc_config(base::Config config, const std::string& folder) {
  SocConfig out;
  DEPUTY_ASSIGN(auto tables, load_energy_tables(config, folder));
  static_cast<HostConfig&>(out.host) = tables.host;
  out.energy = tables.rows;
  out.energy_sources = std::move(tables.sources);
  DEPUTY_ASSIGN(const auto device_rows, load_device(config, folder, out.dram.device));
  DEPUTY_TRY(config.load("", out));
  DEPUTY_TRY(load_sourced(config, "energy", out.energy, out.energy_sources));
  DEPUTY_TRY(load_points(config, out.operating_points));
  DEPUTY_TRY(config.finish());
  fill_sram_rows(tables.macros, out);
  DEPUTY_TRY(check_energy(out.energy_sources, out.dsp.present));
  DEPUTY_TRY(check_word(config, "power.rail", out.power.rail, {"soc", "npu"}));
  DEPUTY_TRY(choose_point(config, tables.volts, out));
  DEPUTY_TRY(check_word(config, "noc.arbitration", out.noc.arbitration,
                        {"round_robin", "priority", "fifo"}));
  DEPUTY_TRY(check_word(config, "dram.model", out.dram.model, {"simple", "full", "fixed"}));
  DEPUTY_TRY(check_device(config, out.dram, device_rows));
  if (out.dram.model == "full")
    out.energy_sources["dram.device"] = {
        out.dram.device.currents_basis,
        out.dram.device.name + ": " + out.dram.device.currents_source, ""};
  DEPUTY_TRY(check_engine(config, out.npu));
  DEPUTY_TRY(check_silicon(config, out.silicon));
  DEPUTY_TRY(check_together(out));
  return out;
}

base::Result<SocConfig> load_soc_config(const std::string& path,
                                        const std::vector<std::string>& sets) {
  DEPUTY_ASSIGN(auto config, base::Config::from_file(path));
  for (const auto& assignment : sets) DEPUTY_TRY(config.set(assignment));
  return parse_soc_config(std::move(config), std::filesystem::path(path).parent_path().string());
}

std::string effective_config_yaml(const SocConfig& config) {
  std::vector<base::ParamRow> rows;
  base::list_params("", config, rows);
  rows = with_points(with_sources(std::move(rows), config.energy_sources), config.operating_points);
  std::string out;
  std::vector<std::string> open;  // groups above the current line
  for (const auto& row : rows) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at != std::string::npos;) {
      const std::size_t dot = row.key.find('.', at);
      parts.push_back(row.key.substr(at, dot == std::string::npos ? dot : dot - at));
      at = dot == std::string::npos ? dot : dot + 1;
    }
    std::size_t shared = 0;
    while (shared + 1 < parts.size() && shared < open.size() && open[shared] == parts[shared])
      ++shared;
    open.resize(shared);
    for (; shared + 1 < parts.size(); ++shared) {
      out += std::string(2 * shared, ' ') + parts[shared] + ":\n";
      open.push_back(parts[shared]);
    }
    out += std::string(2 * (parts.size() - 1), ' ') + parts.back() + ": " + yaml_text(row.value) +
           "\n";
  }
  return out;
}

}  // namespace deputy::soc
