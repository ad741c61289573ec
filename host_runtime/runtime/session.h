// A session: an executable loaded onto one SoC, ready to run. run() is synchronous; frames are how
// several inferences are in flight at once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "arch/executable.h"
#include "base/result.h"
#include "host_runtime/runtime/device.h"
#include "host_runtime/runtime/inference.h"

namespace deputy::host_runtime {

struct SessionOptions {
  std::shared_ptr<Context> context;  ///< none: the device's default one
  int frames = 1;                    ///< inferences that can be in flight at once
};

struct SubmitOptions {
  std::vector<Fence> waits;                       ///< the inference begins when all are reached
  std::uint64_t deadline_ps = ~std::uint64_t{0};  ///< absolute; then its fence fails
};

class Session {
 public:
  /// One inference's place in the session: its inputs, outputs and working memory.
  class Frame {
   public:
    virtual ~Frame() = default;
    /// Where input and output `index` of the model are. Write inputs before submit(), read outputs
    /// after the fence.
    virtual Buffer& input(std::size_t index) = 0;
    virtual Buffer& output(std::size_t index) = 0;
    /// Lets the inference work on the caller's memory, until the next call. kInput says what the
    /// tensor requires, or that the executable keeps it in an arena (compile with external inputs
    /// and outputs).
    virtual base::Status bind_input(std::size_t index, const Buffer& buffer) = 0;
    virtual base::Status bind_output(std::size_t index, const Buffer& buffer) = 0;
    /// Starts an inference and returns at once. Nobody may touch inputs and outputs until the fence
    /// is over. kBusy when the last one of this frame is not over.
    virtual base::Result<Fence> submit(const SubmitOptions& options) = 0;
    /// Gives the inference up: its fence fails now. The frame can be submitted again when idle().
    virtual void cancel() = 0;
    /// No inference of this frame is anywhere any more.
    virtual bool idle() const = 0;
    virtual const InferenceRecord& record() const = 0;
    /// The longest that the frame's inference takes with the SoC to itself, whatever fails
    /// (docs/recovery.md). Beside others Device::bound_ps() counts.
    virtual std::uint64_t bound_ps() const = 0;
  };

  /// Loads: verifies the file, checks it against the NPU's CONFIG registers, checks that a CPU
  /// kernel exists for every host step, allocates arenas and constants in shared memory. `device`
  /// must outlive the session.
  static base::Result<std::unique_ptr<Session>> load(Device& device,
                                                     std::span<const std::uint8_t> file,
                                                     const std::string& name,
                                                     const SessionOptions& options = {});
  /// Waits for whatever is in flight.
  virtual ~Session() = default;

  virtual const arch::Executable& executable() const = 0;

  virtual std::size_t frames() const = 0;
  virtual Frame& frame(std::size_t index) = 0;
  virtual BufferRequirements input_requirements(std::size_t index) const = 0;
  virtual BufferRequirements output_requirements(std::size_t index) const = 0;

  /// Runs one inference in frame 0. inputs[i] are the bytes of graph input i (kInput if a size is
  /// wrong; ignored when the port is timing-only). Blocks; errors: kHardwareFault with the driver's
  /// account of the fault.
  virtual base::Status run(std::span<const std::vector<std::uint8_t>> inputs) = 0;

  /// Bytes of a tensor after run(): graph outputs always; others only if they have storage that
  /// nothing later overwrote (compile with keep_all_tensors).
  virtual base::Result<std::vector<std::uint8_t>> read_tensor(std::uint32_t tensor) const = 0;

  /// Of the last run().
  virtual const InferenceRecord& record() const = 0;
};

}  // namespace deputy::host_runtime
