// A session: an executable loaded onto one SoC, ready to run. Synchronous: run() returns when the
// outputs are in host memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "arch/executable.h"
#include "base/result.h"
#include "deputy/hw_port.h"

namespace deputy::host_runtime {

/// One step as it ran, times absolute in ps.
struct StepRecord {
  std::uint32_t step = 0;  ///< index into Executable::steps
  std::uint64_t start_ps = 0, end_ps = 0;
};

/// One inference.
struct InferenceRecord {
  std::uint64_t start_ps = 0, end_ps = 0;  ///< first input copy to last output copy
  std::vector<StepRecord> steps;
  std::uint64_t copied_bytes = 0;  ///< bytes the CPU copied in and out
};

class Session {
 public:
  /// Loads: verifies the file, checks it against the NPU's CONFIG registers, checks that a CPU
  /// kernel exists for every host step, allocates arenas and constants in shared memory. `port`
  /// must outlive the session.
  static base::Result<std::unique_ptr<Session>> load(HwPort& port,
                                                     std::span<const std::uint8_t> file,
                                                     const std::string& name);
  virtual ~Session() = default;

  virtual const arch::Executable& executable() const = 0;

  /// Runs one inference. inputs[i] are the bytes of graph input i (kInput if a size is wrong;
  /// ignored when the port is timing-only). Blocks; errors: kHardwareFault with the driver's
  /// account of the fault.
  virtual base::Status run(std::span<const std::vector<std::uint8_t>> inputs) = 0;

  /// Bytes of a tensor after run(): graph outputs always; others only if they have storage that
  /// nothing later overwrote (compile with keep_all_tensors).
  virtual base::Result<std::vector<std::uint8_t>> read_tensor(std::uint32_t tensor) const = 0;

  virtual const InferenceRecord& record() const = 0;
};

}  // namespace deputy::host_runtime
