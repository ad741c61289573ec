// FULLY_CONNECTED as a job of the DSP (kernel dense_map). Internal to delegate/dsp.
#pragma once

#include "delegate/dsp/dsp_ops.h"

namespace deputy::delegate {

std::optional<std::string> dense_refusal(const Graph& graph, const Op& op,
                                         const CompileOptions& options);
DspPlan plan_dense(const Graph& graph, const Op& op, const CompileOptions& options);

}  // namespace deputy::delegate
