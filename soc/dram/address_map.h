// Which rank, bank and row an address is in: named schemes, each an order of bit fields.
#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include "soc/dram/spec.h"

namespace deputy::soc::dram {

/// A bank of the channel: rank * banks + bank; its group is its lowest bits. The column does not
/// matter to timing.
struct Place {
  std::int32_t bank = 0;
  std::int64_t row = 0;
};

class AddressMap {
 public:
  /// `mapping` must be known(); `bytes` of memory bound the rows where banks are on top.
  AddressMap(const Spec& spec, const std::string& mapping, std::uint64_t bytes);

  static bool known(const std::string& mapping);

  /// The place of burst number `index` from the memory's start.
  Place place(std::uint64_t index) const {
    const std::uint64_t group = index >> group_shift_ & group_mask_;
    std::uint64_t bank = index >> bank_shift_ & bank_mask_;
    const std::uint64_t rank = index >> rank_shift_ & rank_mask_;
    const std::uint64_t row = index >> row_shift_ & row_mask_;
    if (exclusive_or_)
      bank ^= row & bank_mask_;  // Zhang et al., MICRO-33: rows that collide in a bank are spread
    return {static_cast<std::int32_t>((rank * (bank_mask_ + 1) + bank) * (group_mask_ + 1) + group),
            static_cast<std::int64_t>(row)};
  }

 private:
  int group_shift_ = 0, bank_shift_ = 0, rank_shift_ = 0, row_shift_ = 0;
  std::uint64_t group_mask_, bank_mask_, rank_mask_, row_mask_ = ~std::uint64_t{0};
  bool exclusive_or_ = false;
};

}  // namespace deputy::soc::dram
