// Moves part of a feature map between system memory and a dense tile in the scratchpad.
#pragma once

#include "delegate/codegen/program_builder.h"
#include "delegate/codegen/views.h"

namespace deputy::delegate {

/// Rows [y0, y1), pixels [x0, x1) and channels [c0, c1) of image n.
struct MapPart {
  std::int64_t n = 0, y0 = 0, y1 = 1, x0 = 0, x1 = 1, c0 = 0, c1 = 1;
};
/// One LOAD or STORE, or one for each stretch of rows where they go round a ring.
void load_map(ProgramBuilder& program, const MapView& map, const MapPart& part, std::uint32_t spm);
void store_map(ProgramBuilder& program, const MapView& map, const MapPart& part, std::uint32_t spm);

}  // namespace deputy::delegate
