// Seeded random instructions whose operands lie in a scratchpad of random bytes without
// overlapping.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/isa.h"

namespace deputy::npu_test {

/// splitmix64: the same numbers on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::int64_t range(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return range(1, 100) <= percent; }
  /// Small numbers mostly, the edges sometimes.
  std::int8_t byte();

 private:
  std::uint64_t state_;
};

/// Hands out scratchpad addresses upwards, with gaps; the last allocations may touch the very end.
class Layout {
 public:
  Layout(Random& random, std::uint64_t bytes) : random_(random), end_(bytes) {}
  std::uint32_t take(std::uint64_t bytes);
  bool full() const { return next_ > end_; }

 private:
  Random& random_;
  std::uint64_t next_ = 0, end_;
};

/// Writes random scale parameters for `channels` into spm at addr, suited to sums of about
/// `magnitude`.
void random_params(Random& random, std::vector<std::uint8_t>& spm, std::uint32_t addr,
                   std::uint32_t channels, std::uint32_t rounding, bool extreme);
/// A multiplier and shift (or float bits) that brings `magnitude` to about 8 bits.
void random_scale(Random& random, std::uint32_t rounding, double magnitude,
                  std::int32_t& multiplier, std::int32_t& shift);

// Each fits in spm.size() bytes and is legal; parameters are written to spm.
arch::Conv random_conv(Random& random, std::vector<std::uint8_t>& spm);
arch::Depthwise random_depthwise(Random& random, std::vector<std::uint8_t>& spm);
arch::Pool random_pool(Random& random, std::vector<std::uint8_t>& spm);
arch::Softmax random_softmax(Random& random, std::vector<std::uint8_t>& spm);
arch::Eltwise random_eltwise(Random& random, std::vector<std::uint8_t>& spm);

}  // namespace deputy::npu_test
