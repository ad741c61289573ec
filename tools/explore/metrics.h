// What a run is measured by, one row each: what the store holds, and what experiments name as
// objectives.
#pragma once

#include <map>
#include <span>
#include <string>

#include "base/result.h"
#include "tools/explore/area.h"
#include "tools/report.h"
#include "tools/stream/stream_report.h"

namespace deputy::tools {

struct Metric {
  const char* name;
  const char* unit;
  const char* doc;
  /// How several workloads make one number: the weighted sum, the largest, or any (it is the
  /// point's own).
  enum class Over { kSum, kMost, kPoint } over;
  bool frames;  ///< of networks only with a period_us
  /// Null: not measured of networks' runs.
  double (*value)(const Report& report, const Simulation& simulation, const soc::SocConfig& soc,
                  const AreaTable& area);
  /// Null: not measured of streams.
  double (*of_stream)(const StreamReport& report, const soc::SocConfig& soc,
                      const AreaTable& area) = nullptr;
};
std::span<const Metric> metrics();
/// An error that lists the names there are.
base::Result<const Metric*> find_metric(const std::string& name);

/// All rows by name (those of frames where there were some), and "bound.WORD": the share of the
/// operators' time that each bound has (docs/benchmarks.md).
std::map<std::string, double> measure(const Report& report, const Simulation& simulation,
                                      const soc::SocConfig& soc, const AreaTable& area);
/// The rows that streams have.
std::map<std::string, double> measure(const StreamReport& report, const soc::SocConfig& soc,
                                      const AreaTable& area);

}  // namespace deputy::tools
