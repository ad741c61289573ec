// What helps some networks and costs others is tried on samples of the calibration.
#pragma once

#include <span>
#include <vector>

#include "quantize/quantize.h"

namespace deputy::quantize {

/// Quantises with and without equalisation from the samples in `first` alone, and compares the
/// first output's signal-to-noise ratio on them: kOn where that is better by more than half a
/// decibel, else kOff; without trials where no pair can be equalised. What `options.equalise` says
/// is returned as it is when it is not kAuto.
base::Result<Equalise> choose_equalise(const delegate::Graph& graph, const Options& options,
                                       std::span<const std::vector<Bytes>> first);

/// The method whose ranges lose least: by the first output's signal-to-noise ratio on samples of
/// the calibration. All that was seen (kMinMax) is given up for more than half a decibel only,
/// because what comes later may be larger still. What `options.method` says does not matter.
base::Result<RangeMethod> choose_method(const Calibration& calibration, const Options& options,
                                        std::span<const std::vector<Bytes>> samples);

}  // namespace deputy::quantize
