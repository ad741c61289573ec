// The ECG patch: two leads at 360 Hz, 64 samples a frame. The DSP filters each frame and finds
// beats; for each beat it cuts and resamples the window that the network of workloads/ecg wants,
// and the NPU names it.
#pragma once

#include "tools/stream/chain.h"

namespace deputy::tools {

const ChainInfo& ecg_chain();

}  // namespace deputy::tools
