// What the command streams of an executable do for each kernel, read back from the instructions
// themselves: tiles, buffers, bytes. It knows nothing of how the compiler came to them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "arch/executable.h"

namespace deputy::delegate {

struct KernelSummary {
  std::uint32_t tag = 0;      ///< operator that the instructions carry
  std::uint32_t program = 0;  ///< of the first instruction
  std::uint64_t loads = 0, stores = 0, computes = 0;
  std::uint64_t map_load_bytes = 0, weight_load_bytes = 0, param_load_bytes = 0, store_bytes = 0;
  std::uint64_t dram_map_bytes = 0;  ///< feature-map bytes loaded from or stored to the slow arena,
                                     ///< constants or external regions in DRAM
  std::uint64_t weight_stored_bytes = 0;  ///< weights as they lie in memory, each byte once
  std::uint64_t runs =
      0;  ///< stretches of instructions without another kernel's between; over 1: interleaved
  /// Shapes of the tiles that compute instructions write, "height x width x channels", with how
  /// many there are.
  std::map<std::string, std::uint64_t> tiles;
  std::set<std::uint32_t> input_buffers, weight_buffers, output_buffers;  ///< scratchpad addresses
  std::uint64_t instructions() const { return loads + stores + computes; }
  /// How often each weight is loaded on average; 0 without weights.
  double weight_reads() const {
    return weight_stored_bytes
               ? static_cast<double>(weight_load_bytes) / static_cast<double>(weight_stored_bytes)
               : 0;
  }
};

/// In the order of their first instructions. Undecodable words end a program's summary.
std::vector<KernelSummary> summarise_programs(const arch::Executable& executable);

}  // namespace deputy::delegate
