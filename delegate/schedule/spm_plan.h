// Where every section's buffers lie in the scratchpad, and since when. A section's own buffers lie
// at the bottom while it runs; buffers that constants are loaded into are reserved above all of
// those from as early a section as there is room, so that the loads may run ahead.
#pragma once

#include <cstdint>
#include <vector>

#include "delegate/schedule/section.h"

namespace deputy::delegate {

struct BufferPlace {
  std::int64_t address = 0;
  std::size_t since = 0;  ///< the first section during which the buffer is reserved
};
struct SpmPlan {
  std::vector<std::vector<BufferPlace>> places;  ///< by section and buffer
  std::vector<bool> top_free;  ///< by section: nothing lies in the `top_bytes` during it
};

/// `ahead`: how many sections early constants may be loaded; 0: never before their own section. The
/// buffers of each section, rounded up to kBufferAlign each, must fit `spm_bytes` together. The
/// last `top_bytes` are left free where a section's own buffers do.
SpmPlan plan_spm(const std::vector<Section>& sections, std::int64_t spm_bytes, std::size_t ahead,
                 std::int64_t top_bytes = 0);

}  // namespace deputy::delegate
