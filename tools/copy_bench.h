// What it costs to make a range of shared memory, written by an engine, ready for the next engine:
// by the CPU where it lies, by the CPU into other memory, or by the DMA engine.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "soc/soc_config.h"

namespace deputy::tools {

struct CopyRow {
  std::uint64_t bytes = 0;
  // Each from when the range is the engine's until another engine may read it, in ps.
  std::uint64_t invalidate_ps = 0;  ///< before the CPU reads
  std::uint64_t clean_ps = 0;       ///< before an engine reads what the CPU wrote
  std::uint64_t copy_ps =
      0;  ///< both and the copy into another buffer; what the program does on the way is free
  std::uint64_t dma_ps = 0;  ///< a copy by the DMA engine, until the host knows that it is over
  std::uint64_t map_ps() const { return invalidate_ps + clean_ps; }
};

/// Rows for `sizes`, by time alone, on an otherwise idle SoC.
base::Result<std::vector<CopyRow>> measure_copies(const soc::SocConfig& soc,
                                                  const std::vector<std::uint64_t>& sizes);

/// About from how many bytes on, up to `limit`, a copy by the DMA engine is faster than one by the
/// CPU, by bisection (the DRAM's state moves a single copy by some hundred ns); 0: it never is.
base::Result<std::uint64_t> dma_pays_from(const soc::SocConfig& soc, std::uint64_t limit);

}  // namespace deputy::tools
