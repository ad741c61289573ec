// What a stream's run says: latencies, losses, stages, power and battery, decisions against labels;
// as text and JSON.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/stream/stream_run.h"

namespace deputy::tools {

struct StreamStage {
  std::string name;
  std::uint64_t jobs = 0;
  double busy_ms = 0, energy_uj = 0;
};

/// Decisions against labels that lie far enough from gaps and ends.
struct StreamScore {
  /// Of one class: labels, decisions near one of them whatever their class, right ones, and
  /// decisions for it that name another's label or none.
  struct OfClass {
    std::uint64_t labelled = 0, found = 0, right = 0, wrong = 0;
    double sensitivity() const { return share(right, labelled); }
    double predictivity() const { return share(right, right + wrong); }  ///< PPV
  };
  std::uint64_t labelled = 0, found = 0, right = 0, extra = 0;
  std::vector<OfClass> of_class;
  std::vector<std::vector<std::uint64_t>> confusion;  ///< [label][decision]
  static double share(std::uint64_t part, std::uint64_t whole) {
    return whole ? static_cast<double>(part) / static_cast<double>(whole) : 0;
  }
  double sensitivity() const { return share(found, labelled); }  ///< of finding, whatever the class
  double predictivity() const { return share(found, found + extra); }  ///< PPV of finding
  double accuracy() const { return share(right, found); }  ///< of the class of what is found
};

struct StreamReport {
  std::string name, soc;
  double signal_s = 0, stream_s = 0, wall_s = 0;
  std::uint64_t frames = 0, taken = 0, dropped = 0, missed = 0, failed = 0, lost_samples = 0;
  std::uint64_t decisions = 0, given_up = 0, deadline_misses = 0;
  double deadline_ms = 0, latency_p50_ms = 0, latency_p99_ms = 0, latency_max_ms = 0;
  std::vector<StreamStage> stages;
  double soc_mw = 0, analog_mw = 0, radio_mw = 0, radio_bytes = 0;
  double battery_mwh = 0, battery_hours = 0;
  bool labelled = false;
  StreamScore score;  ///< with labels
  std::vector<std::string> classes, failures;
  std::map<std::string, std::uint64_t> recovery;  ///< steps taken, by name and engine
  double total_mw() const { return soc_mw + analog_mw + radio_mw; }
};

StreamReport report_stream(const StreamOptions& options, const StreamRun& run);
std::string stream_text(const StreamReport& report);
/// `reproducible`: without wall time.
std::string stream_json(const StreamReport& report, bool reproducible);
/// One line a decision: sample, class, scores.
std::string decisions_text(const StreamRun& run);

}  // namespace deputy::tools
