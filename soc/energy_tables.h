// Reading tables whose rows say where their value comes from: configs/energy/*.yaml and
// configs/host/*.yaml.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "arch/host_config.h"
#include "base/config.h"
#include "base/result.h"
#include "sim/energy.h"

namespace deputy::soc {

/// What stands behind one row.
struct RowSource {
  /// "source": the value as cited. "derived": computed from a cited one by a stated rule (scaling
  /// between nodes, interpolation, currents times voltage). "assumption": nobody is cited for it.
  std::string basis, source;
  std::string node;  ///< of the cited value, where it is not told by cited_nm
  bool operator==(const RowSource&) const = default;
};
/// By the row's key, for example "npu_mac_pj".
using RowSources = std::map<std::string, RowSource>;

/// One size of SRAM macro, pJ a byte.
struct SramMacro {
  double kib = 0, read_byte_pj = 0, write_byte_pj = 0;
  RowSource row;
};

/// Energy of a byte in an SRAM of `bytes`: at a size of the table its value, between two sizes the
/// power law through both, beyond the ends the square root of the size from the nearest. `macros`
/// by growing size, not empty. Source of the rule: docs/energy.md.
SramMacro sram_energy(const std::vector<SramMacro>& macros, double bytes);

/// What the table files give: rows, their sources and the voltage that their dynamic energy is at.
struct EnergyTables {
  sim::EnergyTable rows;
  RowSources sources;
  std::vector<SramMacro> macros;
  arch::HostConfig host;  ///< costs of the host that host.file names, else the defaults
  double volts = 0;
};

/// Loads the table that `config` names in energy.file, those of DRAM and host that it names in
/// turn, and what energy.dram_file and host.file of `config` put in their place. Names are relative
/// to `folder`, those in a table to the table. Without energy.file only what the other two give.
base::Result<EnergyTables> load_energy_tables(base::Config& config, const std::string& folder);

/// Fills fields of `params` from keys `prefix.NAME` that are a plain value (basis: assumption) or a
/// mapping {value, basis, source, node, ...}. Fields without a key keep their value.
template <base::HasFields T>
base::Status load_sourced(base::Config& config, const std::string& prefix, T& params,
                          RowSources& sources);

/// The other keys of the mapping `key`; errors name what is missing or no basis.
base::Status read_source(base::Config& config, const std::string& key, RowSource& out);

/// One field as a struct of its own.
template <class M>
struct OneField {
  M value;
  base::Field field;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    v(s.value, s.field);
  }
};

template <base::HasFields T>
base::Status load_sourced(base::Config& config, const std::string& prefix, T& params,
                          RowSources& sources) {
  base::Status status;
  T::fields(params, [&](auto& member, const base::Field& field) {
    if (!status.ok()) return;
    const std::string key = prefix.empty() ? field.name : prefix + "." + field.name;
    OneField<std::remove_cvref_t<decltype(member)>> one{member, field};
    if (config.has_group(key)) {
      one.field.name = "value";
      status = read_source(config, key, sources[field.name]);
      if (status.ok() && !config.find(key + ".value"))
        status = base::Error{base::ErrorKind::kConfig, key + ".value", "has no value",
                             "give it, or remove the row"};
      if (status.ok()) status = config.load(key, one);
      one.field.name = field.name;
    }
    if (const auto* plain = status.ok() ? config.find(key) : nullptr) {
      sources[field.name] = {"assumption", "given without a source: " + plain->where, ""};
      status = config.load(prefix, one);
    }
    member = one.value;
  });
  return status;
}

}  // namespace deputy::soc
