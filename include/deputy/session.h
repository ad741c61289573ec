// A model loaded onto a device, ready to run: all at once with run(), or in frames that overlap.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "deputy/buffer.h"
#include "deputy/device.h"
#include "deputy/fence.h"
#include "deputy/model.h"

namespace deputy {

namespace api {
struct SessionImpl;
}

struct SessionOptions {
  Context context;  ///< empty: the device's default one
  int frames = 1;   ///< inferences that can be in flight at once, 1 to 8
  std::vector<Shape>
      input_shapes;  ///< when they are not the model's (ModelOptions::shapes); else empty
};

struct SubmitOptions {
  std::vector<Fence>
      waits;  ///< the inference begins when all are reached, and fails when one fails
  std::uint64_t deadline_ps = kNoDeadline;  ///< absolute; then its fence fails with kDeadline
};

/// One inference as it ran; times absolute.
struct RunRecord {
  std::uint64_t start_ps = 0, end_ps = 0;
  std::uint64_t copied_bytes = 0;       ///< by the CPU, in and out; run() only
  std::uint32_t restarts = 0;           ///< times it began again from its inputs after a fault
  std::vector<std::uint32_t> degraded;  ///< NPU programs that the CPU computed in its place
  struct Step {
    bool npu = false;
    std::uint64_t start_ps = 0, end_ps = 0;
  };
  std::vector<Step> steps;  ///< that have ended
};

/// One inference's place in a session: inputs, outputs and working memory. Frames and their buffers
/// keep the session alive.
class Frame {
 public:
  /// Where input or output `index` is until something else is bound: write inputs before submit(),
  /// read outputs after the fence. kInput: there is no such input or output.
  base::Result<Buffer> input(std::size_t index) const;
  base::Result<Buffer> output(std::size_t index) const;

  /// Makes the inference work on the caller's memory, until the next call; the frame keeps the
  /// buffer alive. kInput: it does not fit the tensor's requirements, or the tensor is not external
  /// (ModelOptions::io); kBusy: in flight.
  base::Status bind_input(std::size_t index, const Buffer& buffer) const;
  base::Status bind_output(std::size_t index, const Buffer& buffer) const;

  /// Starts an inference and returns at once. Until the fence is over nobody may touch inputs and
  /// outputs. kBusy: the last one of this frame is not over; kInput: an input's contents are
  /// undefined.
  base::Result<Fence> submit(const SubmitOptions& options = {}) const;
  /// Gives the inference up: its fence fails now with kCancelled. The frame can be used again when
  /// idle().
  void cancel() const;
  /// No inference of this frame is anywhere any more.
  bool idle() const;
  /// Of the last inference; grows while it runs.
  RunRecord record() const;

 private:
  friend class Session;
  Frame(std::shared_ptr<api::SessionImpl> session, std::size_t index)
      : session_(std::move(session)), index_(index) {}
  std::shared_ptr<api::SessionImpl> session_;
  std::size_t index_ = 0;
};

/// When the last handle goes, what is in flight is given up; a timeline of the program's that it
/// still waits for is failed, because the wait could never end.
class Session {
 public:
  /// Verifies the program, checks it against the NPU that is there and allocates its memory; no
  /// simulated time but the registers'. kConfig: the NPU is another one than the target's, or
  /// memory is full; kInput: shapes, by policy; kBusy: no context or timeline is free;
  /// kHardwareFault: an engine does not answer.
  static base::Result<Session> load(const Device& device, const Model& model,
                                    const SessionOptions& options = {});

  std::vector<TensorInfo> inputs() const;
  std::vector<TensorInfo> outputs() const;
  /// kInput: there is no such input or output.
  base::Result<BufferRequirements> input_requirements(std::size_t index) const;
  base::Result<BufferRequirements> output_requirements(std::size_t index) const;
  /// What the shape policy did; empty when nothing.
  std::string note() const;

  int frames() const;
  /// kInput: there is no such frame.
  base::Result<Frame> frame(int index) const;

  /// One inference in frame 0: copies the inputs (their bytes, little-endian, C order) in and the
  /// outputs out. Blocks. kInput: a size is wrong; kHardwareFault: what the driver knows of the
  /// fault.
  base::Result<std::vector<std::vector<std::uint8_t>>> run(
      std::span<const std::vector<std::uint8_t>> inputs) const;
  RunRecord record() const;  ///< of the last run()

  explicit Session(std::shared_ptr<api::SessionImpl> impl)
      : impl_(std::move(impl)) {}                                          ///< the runtime's
  const std::shared_ptr<api::SessionImpl>& impl() const { return impl_; }  ///< the runtime's

 private:
  std::shared_ptr<api::SessionImpl> impl_;
};

}  // namespace deputy
