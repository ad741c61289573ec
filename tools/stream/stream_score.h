// Decisions against labels, by what a chain decides: classes of moments, a number, or episodes that
// begin and end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/stream/stream_run.h"

namespace deputy::tools {

inline double share_of(std::uint64_t part, std::uint64_t whole) {
  return whole ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

/// Labelled moments that lie far enough from gaps and ends, and their classes.
struct StreamScore {
  /// Of one class: labels, decisions near one of them whatever their class, right ones, and
  /// decisions for it that name another's label or none.
  struct OfClass {
    std::uint64_t labelled = 0, found = 0, right = 0, wrong = 0;
    double sensitivity() const { return share_of(right, labelled); }
    double predictivity() const { return share_of(right, right + wrong); }  ///< PPV
  };
  std::uint64_t labelled = 0, found = 0, right = 0, extra = 0;
  std::vector<OfClass> of_class;
  std::vector<std::vector<std::uint64_t>> confusion;  ///< [label][decision]
  double sensitivity() const {
    return share_of(found, labelled);
  }  ///< of finding, whatever the class
  double predictivity() const { return share_of(found, found + extra); }  ///< PPV of finding
  double accuracy() const { return share_of(right, found); }  ///< of the class of what is found
};
StreamScore score_classes(const StreamRun& run);

/// Numbers against the labels' numbers, in the chain's unit.
struct ValueScore {
  std::uint64_t labelled = 0, found = 0;
  double error = 0;  ///< mean absolute, of the labels that have a decision
  double bias = 0;   ///< mean
  double p90 = 0;    ///< nine of ten are not further off
};
struct ValueScores {
  ValueScore all;
  std::vector<ValueScore> of_class;  ///< of the labels' classes
};
ValueScores score_values(const StreamRun& run);

/// Episodes: an alarm counts for an episode that it overlaps (to a window's length behind its end),
/// and as false when there is none. Alarms that gaps interrupt are two.
struct EpisodeScore {
  std::uint64_t labelled = 0, found = 0, false_alarms = 0;
  double hours = 0;                         ///< of signal
  double latency_s = 0, latency_max_s = 0;  ///< from an episode's begin to its alarm: mean, longest
  double sensitivity() const { return share_of(found, labelled); }
  double false_per_hour() const {
    return hours > 0 ? static_cast<double>(false_alarms) / hours : 0;
  }
};
EpisodeScore score_episodes(const StreamRun& run);

}  // namespace deputy::tools
