// Keyword spotting: a microphone at 16 kHz, 1,024 samples a frame. The DSP halves the rate, makes
// four spectra and their mel-frequency cepstra a frame and moves a window of 49 of them on; the NPU
// reads it where it is.
#pragma once

#include "tools/stream/chain.h"

namespace deputy::tools {

const ChainInfo& keyword_chain();  ///< a network of 49 x 10 values: `ds_cnn`

}  // namespace deputy::tools
