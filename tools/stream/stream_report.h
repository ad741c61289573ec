// What a stream's run says: latencies, losses, stages, power and battery, decisions against labels;
// as text and JSON.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/stream/stream_score.h"

namespace deputy::tools {

struct StreamStage {
  std::string name;
  std::uint64_t jobs = 0;
  double busy_ms = 0, energy_uj = 0;
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
  Judge judge = Judge::kClasses;
  std::string unit;       ///< of values
  StreamScore score;      ///< with labels, as the chain's judge has it: this,
  ValueScores values;     ///< or this,
  EpisodeScore episodes;  ///< or this
  std::vector<std::string> classes, failures;
  std::map<std::string, std::uint64_t> recovery;  ///< steps taken, by name and engine
  double total_mw() const { return soc_mw + analog_mw + radio_mw; }
};

StreamReport report_stream(const StreamOptions& options, const StreamRun& run);
std::string stream_text(const StreamReport& report);
/// `reproducible`: without wall time.
std::string stream_json(const StreamReport& report, bool reproducible);
/// One line a decision: sample, class or value, scores.
std::string decisions_text(const StreamRun& run);

}  // namespace deputy::tools
