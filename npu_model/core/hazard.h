// Which bytes of the scratchpad an instruction touches, to notice two instructions in flight at the
// same time that should have waited for each other. Hardware would not notice; a simulator can.
#pragma once

#include <array>
#include <cstddef>

#include "arch/isa.h"
#include "base/check.h"
#include "npu_model/core/tile.h"

namespace deputy::npu_model {

struct SpmAccess {
  Tile tile;
  bool write = false;
};

/// At most five: input, weights, parameters, output, table.
class AccessList {
 public:
  void push_back(const SpmAccess& access) {
    DEPUTY_CHECK(size_ < items_.size(), "an instruction with more operands than any has");
    items_[size_++] = access;
  }
  const SpmAccess* begin() const { return items_.data(); }
  const SpmAccess* end() const { return items_.data() + size_; }

 private:
  std::array<SpmAccess, 5> items_;
  std::size_t size_ = 0;
};

/// Every operand of an instruction that check_instruction accepts.
AccessList spm_accesses(const arch::Operation& op);

/// Whether one may write a byte that the other reads or writes (tile.h: false only when provably
/// not).
bool conflict(const AccessList& a, const AccessList& b);

}  // namespace deputy::npu_model
