// A signal of the user's own: samples as the sensor gives them, and what is in them.
#pragma once

#include "tools/stream/chain.h"

namespace deputy::tools {

/// The frames of `source.file` (at most `source.seconds` of them) and the labels of
/// `source.labels`: lines of sample number and class, a number or one of `classes`, by time. Names
/// are relative to the scenario's folder. kInput names the line.
base::Result<StreamSignal> read_signal(const StreamScenario& scenario, const FrameShape& shape,
                                       const std::vector<std::string>& classes);

}  // namespace deputy::tools
