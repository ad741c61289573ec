// What stands behind the handles of include/deputy: the runtime's objects, each with whatever must
// outlive it. The order of members is the order of their ends, backwards.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/compile_key.h"
#include "api/model.h"
#include "api/quirks.h"
#include "arch/executable.h"
#include "delegate/compile.h"
#include "deputy/device.h"
#include "deputy/model.h"
#include "deputy/session.h"
#include "host_runtime/runtime/device.h"
#include "host_runtime/runtime/session.h"

namespace deputy::api {

/// The port is going away: whether a device is still open on it. Another port may have its address
/// later.
bool forget_port(const HwPort& port);

struct DeviceImpl {
  DeviceImpl(HwPort& port, const host_runtime::DeviceOptions& options) : device(port, options) {}
  ~DeviceImpl();

  /// A copy in flight, with what it must not outlive.
  struct Copy {
    host_runtime::Fence fence;
    std::vector<std::weak_ptr<TimelineImpl>> waits;
    const SessionImpl* sessions[2] = {};
  };
  /// Ends the copies that touch a session's memory (null: all), waiting for those that run.
  void settle_copies(const SessionImpl* session);

  host_runtime::Device device;
  std::vector<Copy> copies;
};
using DevicePtr = std::shared_ptr<DeviceImpl>;

/// Holds the runtime's lock. Not over a wait: only the outermost holder of the lock may let it go
/// meanwhile.
struct Locked : host_runtime::RuntimeGuard {
  explicit Locked(const DevicePtr& d) : RuntimeGuard(d->device.space().lock) {}
};

struct ContextImpl {
  DevicePtr device;
  std::shared_ptr<host_runtime::Context> context;
};

struct TimelineImpl {
  ~TimelineImpl();
  void fail();

  DevicePtr device;
  std::uint8_t number = 0;
  std::vector<host_runtime::Fence> fences;  ///< that are not known to be over
  bool failed = false;
};

struct FenceImpl {
  DevicePtr device;
  host_runtime::Fence fence;
  std::shared_ptr<TimelineImpl> timeline;  ///< the program's, if it is a point on one
};

struct BufferImpl {
  DevicePtr device;
  std::shared_ptr<SessionImpl> session;  ///< whose memory it is, if a session's
  host_runtime::Buffer buffer;
};

struct TargetImpl {
  std::string name;
  delegate::CompileOptions compile;  ///< what the SoC decides
  DeviceIdentity device;
};

struct ModelImpl {
  std::string name;
  std::shared_ptr<api::Model> source;  ///< null: it came as an executable
  std::vector<std::uint8_t> file;
  arch::Executable executable;
  std::vector<std::string> notes;
};

struct SessionImpl {
  ~SessionImpl();

  DevicePtr device;
  std::shared_ptr<ModelImpl> model;
  std::string note;
  struct FrameState {
    std::vector<std::weak_ptr<TimelineImpl>> waits;            ///< of the last submission
    std::vector<std::shared_ptr<BufferImpl>> inputs, outputs;  ///< that are bound
  };
  std::vector<FrameState> frames;
  std::unique_ptr<host_runtime::Session> session;
};

/// An error about an argument.
inline base::Error bad_argument(std::string where, std::string what, std::string remedy = "") {
  return {base::ErrorKind::kInput, std::move(where), std::move(what), std::move(remedy)};
}

Fence make_fence(const DevicePtr& device, host_runtime::Fence fence);
/// The runtime's fences of the program's, and the program's timelines among them. kInput: one is
/// another device's.
base::Result<std::vector<host_runtime::Fence>> runtime_fences(
    const DevicePtr& device, std::span<const Fence> fences,
    std::vector<std::weak_ptr<TimelineImpl>>& timelines);
/// Fails those that are still there: who waits for them goes away and must not wait for ever.
void fail_timelines(const std::vector<std::weak_ptr<TimelineImpl>>& timelines);

/// A handle on memory; `session`: whose it is, null for none's.
Buffer make_buffer(const DevicePtr& device, std::shared_ptr<SessionImpl> session,
                   host_runtime::Buffer buffer);
std::vector<TensorInfo> tensor_infos(const arch::Executable& executable,
                                     std::span<const std::uint32_t> tensors);

}  // namespace deputy::api
