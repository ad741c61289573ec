// The SoC as a program uses it. Handles are references: copies mean the same thing, and everything
// that was made from a device keeps it alive. All handles must be gone before the port is.
// docs/api.md tells the life of a program.
//
// Nothing moves behind the program's back: inside wait(), poll() and submissions the runtime looks
// at interrupts, does the host's part of what is in flight, watches engines for hangs and takes the
// recovery steps.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "deputy/buffer.h"
#include "deputy/fence.h"
#include "deputy/hw_port.h"

namespace deputy {

namespace api {
struct ContextImpl;
struct DeviceImpl;
}  // namespace api

enum class Engine : std::uint8_t { kNpu, kDma };

/// What is done about a job that failed or hangs; each step is bounded in time, and comes when
/// those before it have not helped.
enum class RecoveryStep : std::uint8_t {
  kRetry,        ///< the same job again
  kRestartRing,  ///< its context begins afresh
  kResetEngine,  ///< and so does the engine; innocent jobs are given to it again
  kGiveUp,       ///< the job has failed
  kToCpu,        ///< a copy that the DMA engine gave up is the CPU's
};
const char* recovery_step_text(RecoveryStep step);

struct RecoveryOptions {
  int retries = 0;  ///< 0 to 100
  bool restart_ring = false;
  bool reset_engine = false;
  bool cpu_fallback =
      false;  ///< the CPU computes what was given up (for models compiled with `fallback`)
  int unhealthy_after = 0;  ///< jobs given up in a row that take an engine out of service; 0: never
  std::uint64_t readmit_after_ps =
      0;  ///< after that a self-test decides whether the engine comes back

  /// Every step.
  static RecoveryOptions full() { return {1, true, true, true, 3, 100'000'000'000}; }
};

/// A step that was taken.
struct RecoveryEvent {
  std::uint64_t time_ps = 0;
  RecoveryStep step = RecoveryStep::kRetry;
  std::string engine, what;
};

struct DeviceOptions {
  std::uint32_t ring_entries =
      16;  ///< jobs that a context can have waiting at an engine: 2 to 256, a power of two
  /// How often the runtime looks at an engine that says nothing. Hangs and lost interrupts are
  /// found that late.
  std::uint64_t watchdog_ps = 10'000'000'000;
  /// Every context has an address space of its own: engines reach only what its sessions and copies
  /// use.
  bool isolation = false;
  RecoveryOptions recovery;
};

struct ContextOptions {
  std::uint32_t priority =
      1;  ///< 0 to 3; of two contexts with work for an engine, the higher one's goes first
};

/// Somebody's share of the engines, with a priority. An empty one stands for the device's default
/// context.
class Context {
 public:
  Context() = default;
  explicit Context(std::shared_ptr<api::ContextImpl> impl)
      : impl_(std::move(impl)) {}                                          ///< the runtime's
  const std::shared_ptr<api::ContextImpl>& impl() const { return impl_; }  ///< the runtime's

 private:
  std::shared_ptr<api::ContextImpl> impl_;
};

class Device {
 public:
  /// `port` must outlive everything made from the device. Touches no hardware yet. kBusy: the port
  /// has a device already; kInput: an option is out of range.
  static base::Result<Device> open(HwPort& port, const DeviceOptions& options = {});

  HwPort& port() const;
  std::uint64_t now_ps() const { return port().now_ps(); }

  /// kBusy: all four contexts are taken (the default one is the first that is needed).
  /// kHardwareFault: an engine does not answer.
  base::Result<Context> create_context(const ContextOptions& options = {}) const;

  /// A copy of all bytes of `from` to the beginning of `to` by the DMA engine, after `waits`;
  /// returns at once. Both buffers are kept alive until the fence is over. kInput: it does not fit;
  /// kBusy: no timeline is free.
  base::Result<Fence> copy(const Buffer& to, const Buffer& from, std::span<const Fence> waits = {},
                           const Context& context = {}) const;

  /// Does what can be done without waiting.
  void poll() const;

  /// Bytes that the CPU has copied into and out of buffers, since the device was opened.
  std::uint64_t copied_bytes() const;
  /// False while an engine is out of service. May run the engine's self-test, which takes time.
  bool healthy(Engine engine) const;
  /// What was done about faults so far, in order.
  std::vector<RecoveryEvent> recovery_events() const;

  explicit Device(std::shared_ptr<api::DeviceImpl> impl)
      : impl_(std::move(impl)) {}                                         ///< the runtime's
  const std::shared_ptr<api::DeviceImpl>& impl() const { return impl_; }  ///< the runtime's

 private:
  std::shared_ptr<api::DeviceImpl> impl_;
};

}  // namespace deputy
