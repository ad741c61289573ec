// Images: the DSP samples a frame down to what the network wants, in bands of rows, and the NPU
// looks at it where it is.
#pragma once

#include "tools/stream/chain.h"

namespace deputy::tools {

const ChainInfo& capsule_chain();  ///< 320 x 320 RGB at 4 a second, its inner 288 x 288 to 96 x 96
const ChainInfo& camera_chain();   ///< 640 x 480 RGB at 30 a second, to 96 x 96

}  // namespace deputy::tools
