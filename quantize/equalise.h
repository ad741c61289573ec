// Cross-layer equalisation (Nagel, van Baalen, Blankevoort, Welling: "Data-free quantization
// through weight equalization and bias correction", ICCV 2019): a channel's weights in one layer
// are divided by a number that the next layer's weights for that channel are multiplied with, so
// that all channels of both have like ranges and one scale suits them all.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "delegate/ir/graph.h"
#include "quantize/executor.h"

namespace deputy::quantize {

/// By tensor: the largest magnitude of each channel of its last dimension.
using ChannelMaxima = std::vector<std::vector<float>>;
base::Result<ChannelMaxima> channel_maxima(const delegate::Graph& graph,
                                           std::span<const std::vector<Bytes>> samples);

/// How many pairs equalise() would take.
int equalisable(const delegate::Graph& graph);

/// Weighted operators one after the other, with nothing between but what commutes with a positive
/// factor by channel: no activation, RELU, LEAKY_RELU, pads by zeros, pools, means over the image,
/// and reshapes that keep the channels. Weights must not be shared (separate_weights). No channel
/// between two layers gets above what the largest was in `maxima`: a large bias on small weights
/// would otherwise widen the range for all (the paper's "high biases"); without maxima it may.
/// Returns how many pairs were equalised; the function stays the same but for rounding.
int equalise(delegate::Graph& graph, const ChannelMaxima& maxima);

}  // namespace deputy::quantize
