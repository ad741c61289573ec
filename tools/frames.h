// Several inferences in flight, with a host thread that prepares the next frame while the engines work on this one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "soc/run_record.h"
#include "soc/soc_config.h"

namespace deputy::tools {

/// When each engine worked, from the first frame's preparation to the last result.
struct FrameTimeline {
  int frames = 0, in_flight = 0;
  std::uint64_t from_ps = 0, to_ps = 0;
  std::map<std::string, std::vector<soc::BusyInterval>> busy;  ///< by engine; those that worked
  std::map<std::string, double> utilisation;                   ///< by engine, 0 to 1
  std::vector<std::vector<std::uint8_t>> outputs;              ///< of the last frame; empty when only time was simulated
};

/// Runs `frames` inferences of the same inputs on a fresh platform. A host thread normalises each input (one element-wise
/// pass) and copies it in; the program takes the results in order.
base::Result<FrameTimeline> run_frames(const soc::SocConfig& soc, const std::vector<std::uint8_t>& file, const std::string& name,
                                       const std::vector<std::vector<std::uint8_t>>& inputs, int frames, bool timing_only);

/// A row for each engine: '#' busy all of that time, '+' at least half of it, '.' some of it.
std::string timeline_text(const FrameTimeline& timeline);

}  // namespace deputy::tools
