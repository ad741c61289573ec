// Writes down which tilings the search timed and which it chose (delegate/trace.h).
#pragma once

#include "delegate/codegen/tile_search.h"
#include "delegate/trace.h"

namespace deputy::delegate {

/// "8x16x32 from 24 channels, space outer, 2 weight, 2 input and 1 output buffers".
std::string tiling_text(const WindowShape& shape, const Tiling& tiling);

/// Adds the timed candidates to `trace`, the best first; `chosen` is marked, and added if the
/// search did not time it.
void note_tilings(KernelTrace& trace, const WindowShape& shape, const Tiling& chosen,
                  const arch::NpuConfig& npu, const TransferRates& rates);

}  // namespace deputy::delegate
