// Equalisation helps some networks and costs others: `auto` tries.
#pragma once

#include <span>
#include <vector>

#include "quantize/quantize.h"

namespace deputy::quantize {

/// Quantises with and without equalisation from the samples in `first` alone, and compares the
/// first output's signal-to-noise ratio on them: kOn where that is better by more than half a
/// decibel, else kOff. What `options.equalise` says is returned as it is when it is not kAuto.
base::Result<Equalise> choose_equalise(const delegate::Graph& graph, const Options& options,
                                       std::span<const std::vector<Bytes>> first);

}  // namespace deputy::quantize
