#include "soc/dram/address_map.h"

#include "base/check.h"

namespace deputy::soc::dram {
namespace {

constexpr const char* kNames[] = {"row_bank_column_group", "row_bank_column", "row_column_bank",
                                  "bank_row_column", "row_xor_bank_column"};

int bits(std::uint64_t n) { return std::bit_width(n) - 1; }

}  // namespace

bool AddressMap::known(const std::string& mapping) {
  for (const char* name : kNames)
    if (mapping == name) return true;
  return false;
}

AddressMap::AddressMap(const Spec& spec, const std::string& mapping, std::uint64_t bytes)
    : group_mask_(static_cast<std::uint64_t>(spec.bank_groups) - 1),
      bank_mask_(static_cast<std::uint64_t>(spec.banks / spec.bank_groups) - 1),
      rank_mask_(static_cast<std::uint64_t>(spec.ranks) - 1) {
  DEPUTY_CHECK(known(mapping), "an address mapping that nobody checked");
  const int group = bits(group_mask_ + 1), bank = bits(bank_mask_ + 1), rank = bits(rank_mask_ + 1);
  const int column = bits(static_cast<std::uint64_t>(spec.row_bytes / spec.burst_bytes()));
  int at = 0;
  const auto put = [&](int& shift, int width) {
    shift = at;
    at += width;
  };
  int column_shift = 0;
  if (mapping ==
      "row_bank_column_group") {  // bursts alternate between the groups: tCCD_S instead of tCCD_L
    put(group_shift_, group), put(column_shift, column), put(bank_shift_, bank),
        put(rank_shift_, rank);
  } else if (mapping == "row_column_bank") {
    put(group_shift_, group), put(bank_shift_, bank), put(rank_shift_, rank),
        put(column_shift, column);
  } else if (mapping == "bank_row_column") {
    put(column_shift, column);
    const std::uint64_t per_bank = bytes / static_cast<std::uint64_t>(spec.row_bytes) /
                                   static_cast<std::uint64_t>(spec.banks * spec.ranks);
    const int row = std::bit_width(per_bank > 0 ? per_bank - 1 : 0);
    put(row_shift_, row);
    row_mask_ = (std::uint64_t{1} << row) - 1;
    put(group_shift_, group), put(bank_shift_, bank), put(rank_shift_, rank);
    return;
  } else {
    put(column_shift, column), put(group_shift_, group), put(bank_shift_, bank),
        put(rank_shift_, rank);
    exclusive_or_ = mapping == "row_xor_bank_column";
  }
  row_shift_ = at;
}

}  // namespace deputy::soc::dram
