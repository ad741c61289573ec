// CONV_2D, 3x3, as a job of the DSP: the map is padded on its way in, 32 output channels at a time.
#pragma once

#include "delegate/dsp/dsp_ops.h"

namespace deputy::delegate {

std::optional<std::string> conv_refusal(const Graph& graph, const Op& op,
                                        const CompileOptions& options);
DspPlan plan_conv(const Graph& graph, const Op& op, const CompileOptions& options);

}  // namespace deputy::delegate
