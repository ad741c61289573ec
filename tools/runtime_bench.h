// What the ways of running frames cost: synchronous or in flight, the frame copied, mapped or left
// where the sensor put it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "delegate/ir/graph.h"
#include "tools/simulate.h"

namespace deputy::tools {

enum class Movement : std::uint8_t {
  kCopy,      ///< the CPU copies the frame out of the sensor's buffer, and the result out
  kMap,       ///< the CPU works on the frame where it lies, the caches maintained for its range
  kZeroCopy,  ///< the CPU touches no byte of the frame
};
const char* movement_name(Movement movement);

struct StreamCase {
  std::string name;
  delegate::Graph graph;
  SimulateOptions options;
  delegate::IoPlacement io = delegate::IoPlacement::kDram;
  std::uint32_t period_ns = 0;  ///< of the run that latency and energy are taken from
  int frames = 0;
};

struct StreamRow {
  std::string name;
  bool async = false;
  Movement movement = Movement::kCopy;
  // At the case's frame rate. From the frame's last byte in memory to its result with the program.
  double p50_us = 0, p99_us = 0, dynamic_uj = 0, total_uj = 0;
  std::uint64_t dropped = 0;
  // With a sensor as fast as buffers become free, between the warm-up's end and the last result.
  double frames_per_s = 0, cpu_busy = 0, npu_busy = 0, dma_busy = 0;
  double busiest_fps = 0;  ///< what the busiest engine could do if it never paused
  std::uint64_t copied_per_frame = 0;
  std::vector<std::vector<std::uint8_t>>
      outputs;  ///< of each frame of that run; empty when only time was simulated
};

/// A case with its executable.
struct PreparedCase {
  StreamCase what;
  std::vector<std::uint8_t> file;
  std::uint32_t frame_bytes = 0;
  int host_steps = 0;
  std::vector<std::vector<std::uint8_t>> scene;  ///< what the sensor sees, in turn
  double idle_dynamic_uj = 0, idle_end_us = 0;   ///< a run that only loads
};

/// Compiles, all that can go on the NPU.
base::Result<PreparedCase> prepare(const StreamCase& what);
base::Result<StreamRow> run_stream(const PreparedCase& prepared, bool async, Movement movement);

}  // namespace deputy::tools
