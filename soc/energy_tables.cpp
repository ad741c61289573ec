#include "soc/energy_tables.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "base/check.h"

namespace deputy::soc {
namespace {

base::Error bad(std::string where, std::string message, std::string remedy) {
  return {base::ErrorKind::kConfig, std::move(where), std::move(message), std::move(remedy)};
}

struct Header {
  std::int32_t node_nm = 0;
  double volts = 0;
  std::string dram_file, host_file;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.node_nm, Field{.name = "node_nm", .unit = "nm", .min = 1, .max = 1000});
    v(s.volts, Field{.name = "volts", .unit = "V", .min = 0.1, .max = 10});
    v(s.dram_file, Field{.name = "dram_file"});
    v(s.host_file, Field{.name = "host_file"});
  }
};

struct MacroFields {
  double kib = 0, read_byte_pj = 0, write_byte_pj = 0;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.kib, Field{.name = "kib", .unit = "KiB", .min = 0.001, .max = 1e6});
    v(s.read_byte_pj, Field{.name = "read_byte_pj", .unit = "pJ", .min = 1e-9, .max = 1e9});
    v(s.write_byte_pj, Field{.name = "write_byte_pj", .unit = "pJ", .min = 1e-9, .max = 1e9});
  }
};

base::Status load_macros(base::Config& table, std::vector<SramMacro>& out) {
  for (int i = 0;; ++i) {
    const std::string key = fmt::format("sram_macros.{}", i);
    if (!table.has_group(key)) return {};
    MacroFields at;
    DEPUTY_TRY(table.load(key, at));
    SramMacro macro{at.kib, at.read_byte_pj, at.write_byte_pj, {}};
    DEPUTY_TRY(read_source(table, key, macro.row));
    if (!(at.kib > (out.empty() ? 0 : out.back().kib)))
      return bad(key, "kib does not grow", "order the sizes");
    out.push_back(std::move(macro));
  }
}

std::string beside(const std::string& file, const std::string& name) {
  return (std::filesystem::path(file).parent_path() / name).string();
}

// `where`: who names the file.
base::Result<base::Config> open_table(const std::string& path, const std::string& where) {
  auto table = base::Config::from_file(path);
  if (!table.ok())
    return bad(where, "energy table: " + table.error().text(), "check the file's name");
  return table;
}

}  // namespace

base::Status read_source(base::Config& config, const std::string& key, RowSource& out) {
  const auto text = [&](const char* name) {
    const auto* entry = config.find(key + "." + name);
    return entry ? entry->value : std::string();
  };
  out = {text("basis"), text("source"), text("node")};
  const std::string nm = text("cited_nm"), volts = text("cited_volts");
  if (!nm.empty()) out.node = fmt::format("{} nm, {} V", nm, volts);
  for (const char* shown : {"cited", "cited_read", "cited_write"})
    text(shown);  // for readers and the test
  if (out.basis != "source" && out.basis != "derived" && out.basis != "assumption")
    return bad(key + ".basis", fmt::format("'{}' is no basis", out.basis),
               "use one of source, derived, assumption");
  if (out.source.empty())
    return bad(key + ".source", "has no value", "say who is cited, or what is assumed");
  return {};
}

SramMacro sram_energy(const std::vector<SramMacro>& macros, double bytes) {
  DEPUTY_CHECK(!macros.empty() && bytes > 0, "an SRAM without a size or a table");
  const double kib = bytes / 1024;
  for (const SramMacro& m : macros)
    if (m.kib == kib) return m;
  const auto derived = [&](const SramMacro& near, double read, double write) {
    SramMacro out{kib, read, write, near.row};
    if (out.row.basis == "source") out.row.basis = "derived";
    out.row.source = fmt::format("{}, for {} KiB", near.row.source, kib);
    return out;
  };
  const auto root = [&](const SramMacro& end) {
    const double factor = std::sqrt(kib / end.kib);
    return derived(end, end.read_byte_pj * factor, end.write_byte_pj * factor);
  };
  if (kib < macros.front().kib) return root(macros.front());
  if (kib > macros.back().kib) return root(macros.back());
  std::size_t above = 1;
  while (macros[above].kib < kib) ++above;
  const SramMacro &a = macros[above - 1], &b = macros[above];
  const double t = std::log(kib / a.kib) / std::log(b.kib / a.kib);
  const auto between = [&](double low, double high) { return low * std::pow(high / low, t); };
  return derived(t < 0.5 ? a : b, between(a.read_byte_pj, b.read_byte_pj),
                 between(a.write_byte_pj, b.write_byte_pj));
}

base::Result<EnergyTables> load_energy_tables(base::Config& config, const std::string& folder) {
  EnergyTables out;
  Header header;
  std::string path, where;
  const auto in_folder = [&](const std::string& name) {
    return (std::filesystem::path(folder) / name).string();
  };
  if (const auto* file = config.find("energy.file")) {
    path = in_folder(file->value), where = file->where;
    DEPUTY_ASSIGN(auto table, open_table(path, where));
    DEPUTY_TRY(table.load("", header));
    DEPUTY_TRY(load_sourced(table, "", out.rows, out.sources));
    DEPUTY_TRY(load_macros(table, out.macros));
    DEPUTY_TRY(table.finish());
  }
  const auto* dram = config.find("energy.dram_file");
  if (dram || !header.dram_file.empty()) {
    DEPUTY_ASSIGN(auto table,
                  open_table(dram ? in_folder(dram->value) : beside(path, header.dram_file),
                             dram ? dram->where : where));
    DEPUTY_TRY(load_sourced(table, "", out.rows, out.sources));
    DEPUTY_TRY(table.finish());
  }
  const auto* host = config.find("host.file");
  if (host || !header.host_file.empty()) {
    DEPUTY_ASSIGN(auto table,
                  open_table(host ? in_folder(host->value) : beside(path, header.host_file),
                             host ? host->where : where));
    arch::HostConfig unused;
    RowSources costs;
    DEPUTY_TRY(load_sourced(table, "energy", out.rows, out.sources));
    DEPUTY_TRY(load_sourced(table, "costs", host ? out.host : unused, costs));
    DEPUTY_TRY(table.finish());
  }
  out.volts = header.volts;
  return out;
}

}  // namespace deputy::soc
