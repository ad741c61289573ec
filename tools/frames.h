// Several inferences in flight, with a host thread that prepares the next frame while the engines
// work on this one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "soc/run_record.h"
#include "soc/soc_config.h"

namespace deputy::tools {

/// When frames come: one a period, each late by a part of `jitter_ps` that is drawn evenly. Period
/// 0: as fast as they are taken.
struct ArrivalPlan {
  std::uint64_t period_ps = 0, jitter_ps = 0, seed = 1;
};
/// When frame n of `frames` comes, from the first one's earliest moment on, in order. kUsage when
/// jitter exceeds the period.
base::Result<std::vector<std::uint64_t>> arrivals(const ArrivalPlan& plan, int frames);

/// When each engine worked, from the first frame's preparation to the last result.
struct FrameTimeline {
  int frames = 0, in_flight = 0;
  std::uint64_t from_ps = 0, to_ps = 0;
  std::map<std::string, std::vector<soc::BusyInterval>> busy;  ///< by engine; those that worked
  std::map<std::string, double> utilisation;                   ///< by engine, 0 to 1
  std::vector<std::vector<std::uint8_t>>
      outputs;  ///< of the last frame; empty when only time was simulated
  std::vector<std::uint64_t>
      response_ps;  ///< of frames with a period: from coming to the result in the program's hands
  /// The response that a share of the frames does not exceed, by nearest rank: 0.99 of 200 is the
  /// 198th.
  std::uint64_t response_at(double share) const;
};

/// Runs `frames` inferences of the same inputs on a fresh platform. A host thread normalises each
/// input (one element-wise pass) and copies it in; the program takes the results in order. A frame
/// that comes while all before it are in flight waits.
base::Result<FrameTimeline> run_frames(const soc::SocConfig& soc,
                                       const std::vector<std::uint8_t>& file,
                                       const std::string& name,
                                       const std::vector<std::vector<std::uint8_t>>& inputs,
                                       int frames, bool timing_only, const ArrivalPlan& plan = {});

/// A row for each engine: '#' busy all of that time, '+' at least half of it, '.' some of it.
std::string timeline_text(const FrameTimeline& timeline);

}  // namespace deputy::tools
