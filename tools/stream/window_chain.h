// Streams whose network looks at the last so many samples of some channels, again and again: heart
// rate from PPG and motion, seizures from EEG. The DSP quantises each frame and moves the window
// on; the NPU reads it where it is.
#pragma once

#include "tools/stream/chain.h"

namespace deputy::tools {

/// Green and infrared light, motion along and across the arm, at 32 Hz; windows of 256 samples, a
/// heart rate a second. The network's one output is beats a minute, less 110.
const ChainInfo& ppg_chain();
/// 22 channels at 256 Hz, windows of 512 samples, looked at four times a second. The network has a
/// score for each class; an alarm begins when six of the last eight windows are a seizure, and ends
/// when at most two are.
const ChainInfo& eeg_chain();

}  // namespace deputy::tools
