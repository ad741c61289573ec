// Weights and requantisation of 32 output channels at a time, as the DSP's kernels conv_map and
// dense_map want them. Internal to delegate/dsp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "delegate/ir/graph.h"

namespace deputy::delegate {

/// Why constants or scales of a CONV_2D or FULLY_CONNECTED of `outputs` channels do not suit.
std::optional<std::string> weights_refusal(const Graph& graph, const Op& op, std::int64_t outputs,
                                           Numerics numerics);

/// Appends 32 channels from `first` on, `count` of which are real: for each four of the `taps`
/// weights of a channel (a multiple of four; those that it does not have are 0) the four weights of
/// each channel, then biases, multipliers, shifts and masks. `twice`: as `tflite` rounds.
void append_weights(const Graph& graph, const Op& op, std::int64_t first, std::int64_t count,
                    std::int64_t taps, bool twice, std::vector<std::uint8_t>& table);

}  // namespace deputy::delegate
