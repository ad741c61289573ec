#include "deputy/device.h"

#include <fmt/format.h>

#include <bit>
#include <map>
#include <mutex>

#include "api/handles.h"

namespace deputy {
namespace api {
namespace {

// Never held over a call of a port, whose threads may be the only ones there are.
std::mutex ports_mutex;
std::map<const HwPort*, const DeviceImpl*>& ports() {
  static std::map<const HwPort*, const DeviceImpl*> open;
  return open;
}

host_runtime::RecoveryPolicy policy(const RecoveryOptions& o) {
  host_runtime::RecoveryPolicy out;
  out.retries = o.retries, out.restart_ring = o.restart_ring, out.reset_engine = o.reset_engine;
  out.cpu_fallback = o.cpu_fallback, out.unhealthy_after = o.unhealthy_after,
  out.readmit_after_ps = o.readmit_after_ps;
  return out;
}

}  // namespace

bool forget_port(const HwPort& port) {
  const std::lock_guard guard(ports_mutex);
  return ports().erase(&port) != 0;
}

DeviceImpl::~DeviceImpl() {
  settle_copies(nullptr);
  const std::lock_guard guard(ports_mutex);
  if (const auto it = ports().find(&device.port()); it != ports().end() && it->second == this)
    ports().erase(it);
}

void DeviceImpl::settle_copies(const SessionImpl* session) {
  // Another thread may add copies while this one waits: none of this session's.
  const std::vector<Copy> now = copies;
  for (const Copy& copy : now) {
    if (session && copy.sessions[0] != session && copy.sessions[1] != session) continue;
    if (!copy.fence.pending()) continue;
    fail_timelines(copy.waits);
    (void)device.wait(copy.fence, kNoDeadline);  // the watchdog ends whatever hangs
  }
}

}  // namespace api

const char* recovery_step_text(RecoveryStep step) {
  return host_runtime::recovery_step_name(static_cast<host_runtime::RecoveryStep>(step));
}
static_assert(static_cast<int>(RecoveryStep::kGiveUp) ==
                  static_cast<int>(host_runtime::RecoveryStep::kGiveUp) &&
              static_cast<int>(RecoveryStep::kToCpu) ==
                  static_cast<int>(host_runtime::RecoveryStep::kToCpu));

base::Result<Device> Device::open(HwPort& port, const DeviceOptions& options) {
  const auto refuse = [](std::string what, std::string remedy) {
    return api::bad_argument("device options", std::move(what), std::move(remedy));
  };
  if (!std::has_single_bit(options.ring_entries) || options.ring_entries < 2 ||
      options.ring_entries > 256)
    return refuse(fmt::format("{} ring entries", options.ring_entries),
                  "use a power of two from 2 to 256");
  if (options.watchdog_ps == 0)
    return refuse("no time between two looks of the watchdog", "10 ms are usual");
  if (options.recovery.retries < 0 || options.recovery.retries > 100)
    return refuse(fmt::format("{} retries", options.recovery.retries), "use 0 to 100");
  if (options.recovery.unhealthy_after < 0)
    return refuse("a negative number of jobs given up", "0 is never");
  host_runtime::DeviceOptions with;
  with.ring_entries = options.ring_entries, with.watchdog_ps = options.watchdog_ps;
  with.isolation = options.isolation;
  with.recovery = api::policy(options.recovery);
  auto impl = std::make_shared<api::DeviceImpl>(port, with);
  const std::lock_guard guard(api::ports_mutex);
  if (!api::ports().emplace(&port, impl.get()).second)
    return base::Error{base::ErrorKind::kBusy, "device", "the port has a device already",
                       "share it"};
  return Device(std::move(impl));
}

HwPort& Device::port() const { return impl_->device.port(); }

base::Result<Context> Device::create_context(const ContextOptions& options) const {
  if (options.priority > 3)
    return api::bad_argument("context options", fmt::format("priority {}", options.priority),
                             "use 0 to 3");
  DEPUTY_ASSIGN(auto context, impl_->device.create_context({.priority = options.priority}));
  return Context(std::make_shared<api::ContextImpl>(api::ContextImpl{impl_, std::move(context)}));
}

base::Result<Fence> Device::copy(const Buffer& to, const Buffer& from, std::span<const Fence> waits,
                                 const Context& context) const {
  std::shared_ptr<host_runtime::Context> share;
  for (const Buffer* buffer : {&to, &from}) {
    if (!buffer->valid()) return api::bad_argument("copy", "a buffer of no memory");
    if (buffer->impl()->device != impl_)
      return api::bad_argument("copy", "a buffer of another device");
  }
  api::DeviceImpl::Copy copy;
  DEPUTY_ASSIGN(const auto fences, api::runtime_fences(impl_, waits, copy.waits));
  if (context.impl()) {
    if (context.impl()->device != impl_)
      return api::bad_argument("copy", "a context of another device");
    share = context.impl()->context;
  } else {
    DEPUTY_ASSIGN(share, impl_->device.default_context());
  }
  const api::Locked locked(impl_);
  std::erase_if(impl_->copies, [](const auto& c) { return !c.fence.pending(); });
  DEPUTY_ASSIGN(copy.fence,
                impl_->device.copy(share, to.impl()->buffer, from.impl()->buffer, fences));
  copy.sessions[0] = to.impl()->session.get(), copy.sessions[1] = from.impl()->session.get();
  impl_->copies.push_back(copy);
  return api::make_fence(impl_, copy.fence);
}

void Device::poll() const { impl_->device.poll(); }
std::uint64_t Device::copied_bytes() const { return impl_->device.space().copied_bytes; }

bool Device::healthy(Engine engine) const {
  return impl_->device.healthy(engine == Engine::kNpu ? host_runtime::EngineId::kNpu
                                                      : host_runtime::EngineId::kDma);
}

std::vector<RecoveryEvent> Device::recovery_events() const {
  std::vector<RecoveryEvent> out;
  for (const host_runtime::RecoveryEvent& e : impl_->device.recovery_events())
    out.push_back({e.time_ps, static_cast<RecoveryStep>(e.step), e.engine, e.what});
  return out;
}

}  // namespace deputy
