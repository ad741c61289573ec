// The behaviour every register block shares: reset values, masks, access kinds. Device models and
// fakes add what a write starts.
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "arch/registers.h"
#include "base/check.h"

namespace deputy::arch {

class RegisterFile {
 public:
  explicit RegisterFile(std::span<const RegisterInfo> table) : table_(table) { reset(); }

  /// Every register to its reset value.
  void reset() {
    for (const auto& r : table_) values_[r.offset] = r.reset;
  }

  /// nullptr when no register is at `offset`.
  const RegisterInfo* find(std::uint32_t offset) const {
    for (const auto& r : table_)
      if (r.offset == offset) return &r;
    return nullptr;
  }

  /// A bus read: write-only registers read 0. The register must exist.
  std::uint32_t bus_read(std::uint32_t offset) const {
    const RegisterInfo* r = find(offset);
    DEPUTY_CHECK(r, "no such register");
    return r->access == Access::kWo ? 0 : values_.at(offset);
  }

  /// A bus write, by the register's access kind. Write-only commands store nothing: the device acts
  /// on them.
  void bus_write(std::uint32_t offset, std::uint32_t value) {
    const RegisterInfo* r = find(offset);
    DEPUTY_CHECK(r, "no such register");
    std::uint32_t& stored = values_[offset];
    switch (r->access) {
      case Access::kRo:
      case Access::kWo:
        break;
      case Access::kRw:
        stored = value & r->mask;
        break;
      case Access::kW1c:
        stored &= ~(value & r->mask);
        break;
      case Access::kW1s:
        stored |= value & r->mask;
        break;
    }
  }

  /// The device's own access, past all access kinds.
  std::uint32_t get(std::uint32_t offset) const { return values_.at(offset); }
  void set(std::uint32_t offset, std::uint32_t value) { values_.at(offset) = value; }

 private:
  std::span<const RegisterInfo> table_;
  std::map<std::uint32_t, std::uint32_t> values_;
};

}  // namespace deputy::arch
