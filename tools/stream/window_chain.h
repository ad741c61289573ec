// Streams whose network looks at the last so many samples of some channels, again and again: heart
// rate from PPG and motion, seizures from EEG. The DSP quantises each frame and moves the window
// on; the NPU reads it where it is.
#pragma once

#include "tools/stream/chain.h"

namespace deputy::tools {

const ChainInfo&
ppg_chain();  ///< 4 channels at 32 Hz, windows of 256 samples, a decision a second: `temponet`
const ChainInfo&
eeg_chain();  ///< 22 channels at 256 Hz, windows of 512 samples, four decisions a second: `eegnet`

}  // namespace deputy::tools
