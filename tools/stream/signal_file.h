// A signal of the user's own: samples as the sensor gives them, and what is in them.
#pragma once

#include "tools/stream/chain.h"

namespace deputy::tools {

/// The frames of `source.file` (at most `source.seconds` of them) and the labels of
/// `source.labels`, by time: lines of sample number and class, a number or a name; for chains that
/// decide a number, of sample number, value and, if wanted, class. Names of files are relative to
/// the scenario's folder. kInput names the line.
base::Result<StreamSignal> read_signal(const StreamScenario& scenario, const ChainInfo& chain);

/// The signal that a scenario's run would have: its frames one behind the other, and labels as
/// read_signal() takes them. Empty names: not written.
base::Status write_signal(const StreamScenario& scenario, const std::string& file,
                          const std::string& labels);

}  // namespace deputy::tools
