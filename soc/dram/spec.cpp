#include "soc/dram/spec.h"

#include <fmt/format.h>

#include <vector>

#include "base/config.h"
#include "soc/dram/address_map.h"

namespace deputy::soc::dram {
namespace {

bool power_of_two(std::int64_t v) { return v > 0 && (v & (v - 1)) == 0; }

base::Status bad(const char* key, std::string what, const char* remedy) {
  return base::Error{base::ErrorKind::kConfig, key, std::move(what), remedy};
}

}  // namespace

base::Result<Spec> load_spec(const std::string& path) {
  DEPUTY_ASSIGN(auto config, base::Config::from_file(path));
  Spec out;
  DEPUTY_TRY(config.load("", out));
  DEPUTY_TRY(config.finish());
  std::vector<base::ParamRow> rows;
  base::list_params("", out, rows);
  for (const auto& row : rows)
    if (!config.find(row.key))
      return base::Error{base::ErrorKind::kConfig, path,
                         fmt::format("row '{}' is missing", row.key), "a device has no defaults"};
  DEPUTY_TRY(check(out, {}));
  return out;
}

base::Status check(const Spec& s, const ControllerConfig& c) {
  if (s.tck_ps < 100) return bad("tck_ps", "must be at least 100", "625 is LPDDR4-3200's");
  if (s.devices < 1)
    return bad("devices", "must be at least 1", "1 where a device is as wide as the channel");
  if (s.width_bits % 8 != 0 || !power_of_two(s.burst_bytes()))
    return bad("width_bits",
               "a burst (width_bits / 8 * burst_length) must be a power of two of bytes",
               "use 8, 16, 32 or 64 bits");
  if (!power_of_two(s.row_bytes) || s.row_bytes < s.burst_bytes())
    return bad("row_bytes", "must be a power of two and hold a burst", "2048 is usual");
  if (!power_of_two(s.banks)) return bad("banks", "must be a power of two", "8 or 16 are usual");
  if (!power_of_two(s.bank_groups) || s.bank_groups > s.banks)
    return bad("bank_groups", "must be a power of two, at most banks", "1 or 4 are usual");
  if (!power_of_two(s.ranks)) return bad("ranks", "must be a power of two", "1 or 2 are usual");
  if (s.burst_ck < 1 || s.command_ck < 1)
    return bad("burst_ck", "bursts and commands take at least a clock",
               "give burst_ck and command_ck");
  if (s.tccd_s < s.burst_ck || s.tccd_l < s.tccd_s)
    return bad("tccd_s", "bursts would overlap", "tccd_l >= tccd_s >= burst_ck");
  if (s.trrd_l < s.trrd_s) return bad("trrd_l", "must not be less than trrd_s", "give both rows");
  if (s.twtr_l < s.twtr_s) return bad("twtr_l", "must not be less than twtr_s", "give both rows");
  if (s.trc < s.tras + s.trp)
    return bad("trc", "must not be less than tras + trp", "give the three rows of one device");
  if (s.trefi <= s.trfc)
    return bad("trefi", "refresh would take all the time", "trefi must exceed trfc");
  if (s.trefi_pb > 0 && s.trefi_pb <= s.trfc_pb)
    return bad("trefi_pb", "refresh would take all the time", "trefi_pb must exceed trfc_pb");
  if (!AddressMap::known(c.mapping))
    return bad("mapping", fmt::format("'{}' is not a choice", c.mapping),
               "deputy list params names them");
  const auto one_of = [](const std::string& word, std::initializer_list<const char*> words) {
    for (const char* w : words)
      if (word == w) return true;
    return false;
  };
  if (!one_of(c.page_policy, {"open", "closed", "timeout"}))
    return bad("page_policy", fmt::format("'{}' is not a choice", c.page_policy),
               "use one of open, closed, timeout");
  if (!one_of(c.refresh, {"all_bank", "per_bank", "none"}))
    return bad("refresh", fmt::format("'{}' is not a choice", c.refresh),
               "use one of all_bank, per_bank, none");
  if (!one_of(s.currents_basis, {"source", "derived", "assumption"}))
    return bad("currents_basis", fmt::format("'{}' is not a choice", s.currents_basis),
               "use one of source, derived, assumption");
  if (c.refresh == "per_bank" && (s.trefi_pb == 0 || s.trfc_pb == 0))
    return bad("refresh", fmt::format("{} has no per-bank refresh", s.name), "use all_bank");
  return {};
}

}  // namespace deputy::soc::dram
