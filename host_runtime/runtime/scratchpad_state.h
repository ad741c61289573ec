// What a command stream has put into the scratchpad and the accumulators so far, in stream order,
// and which constants it has copied into memory. A stream starts with nothing: what an earlier job
// left there is not its own, and a byte of the scratchpad that it reads must be one that it wrote.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arch/isa.h"
#include "arch/npu_config.h"

namespace deputy::host_runtime {

class ScratchpadState {
 public:
  explicit ScratchpadState(const arch::NpuConfig& config);

  /// Follows an instruction that arch::check_instruction accepts and whose memory side lies in its
  /// region. `contents`: that region's bytes if they are known and nobody writes them, else empty.
  /// The first thing wrong, empty if nothing is: bytes or sums that nothing has set are read, or a
  /// LOADW whose code table or stream does not decode, or is not known to. `decode` false: LOADW's
  /// streams are not looked at, nor their tables.
  std::string follow(const arch::Operation& op, std::span<const std::uint8_t> contents,
                     bool decode);

 private:
  std::string load_weights(const arch::LoadWeights& load, std::span<const std::uint8_t> contents);
  void copy_constants(const arch::Load& load, std::span<const std::uint8_t> contents);
  void store(const arch::Store& store);
  /// The bytes of a region that copies of constants lie in; empty when some are not known.
  std::vector<std::uint8_t> copied(std::uint32_t region, std::uint64_t begin,
                                   std::uint64_t bytes) const;

  enum : std::uint8_t { kUnset, kSet, kConstant };  ///< kConstant: value_ is what it will be
  std::vector<std::uint8_t> state_, value_;
  std::uint64_t sums_ = 0;             ///< accumulators below this hold sums
  std::vector<std::uint8_t> decoded_;  ///< of the last LOADW
  /// What STOREs of constants have left in memory, by region and first byte; apart from each other.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<std::uint8_t>> copies_;
};

}  // namespace deputy::host_runtime
