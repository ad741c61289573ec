// Errors, port, device, contexts, copies.
#include "api/c/handles.h"
#include "api/handles.h"

using namespace deputy;
using namespace deputy::api::c;

namespace {

// std::string would have to be allocated to say that nothing can be.
thread_local char last_error[1024] = "";

}  // namespace

namespace deputy::api::c {

deputy_status fail(deputy_status kind, const char* text) noexcept {
  std::size_t i = 0;
  for (; text[i] != '\0' && i + 1 < sizeof last_error; ++i) last_error[i] = text[i];
  last_error[i] = '\0';
  return kind;
}

base::Result<std::vector<Fence>> fences(const deputy_fence* const* list, std::uint32_t count) {
  DEPUTY_TRY(check_list(list, count, "fences"));
  std::vector<Fence> out;
  for (std::uint32_t i = 0; i < count; ++i) out.push_back(list[i]->value);
  return out;
}

// The numbers are the C++ ones.
static_assert(DEPUTY_ERROR_USAGE == static_cast<int>(base::ErrorKind::kUsage));
static_assert(DEPUTY_ERROR_MODEL == static_cast<int>(base::ErrorKind::kModel));
static_assert(DEPUTY_ERROR_CONFIG == static_cast<int>(base::ErrorKind::kConfig));
static_assert(DEPUTY_ERROR_UNSUPPORTED == static_cast<int>(base::ErrorKind::kUnsupported));
static_assert(DEPUTY_ERROR_HARDWARE_FAULT == static_cast<int>(base::ErrorKind::kHardwareFault));
static_assert(DEPUTY_ERROR_IO == static_cast<int>(base::ErrorKind::kIo));
static_assert(DEPUTY_ERROR_MISMATCH == static_cast<int>(base::ErrorKind::kMismatch));
static_assert(DEPUTY_ERROR_INPUT == static_cast<int>(base::ErrorKind::kInput));
static_assert(DEPUTY_ERROR_BUSY == static_cast<int>(base::ErrorKind::kBusy));
static_assert(DEPUTY_ERROR_DEADLINE == static_cast<int>(base::ErrorKind::kDeadline));
static_assert(DEPUTY_ERROR_CANCELLED == static_cast<int>(base::ErrorKind::kCancelled));

}  // namespace deputy::api::c

extern "C" {

const char* deputy_last_error(void) { return last_error; }

uint64_t deputy_now(deputy_port* port) { return port ? port->port->now_ps() : 0; }

deputy_status deputy_sleep_until(deputy_port* port, uint64_t time_ps) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(port);
    port->port->sleep_until(time_ps);
    return {};
  });
}

deputy_status deputy_thread_start(deputy_port* port, void (*body)(void*), void* user,
                                  uint32_t* thread) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(port);
    DEPUTY_C_NEED(body);
    DEPUTY_C_NEED(thread);
    *thread = port->port->start_thread([body, user] { body(user); });
    return {};
  });
}

deputy_status deputy_thread_join(deputy_port* port, uint32_t thread) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(port);
    port->port->join(thread);
    return {};
  });
}

void deputy_device_options_init(deputy_device_options* options) {
  if (!options) return;
  const DeviceOptions defaults;
  *options = {};
  options->struct_bytes = sizeof *options;
  options->ring_entries = defaults.ring_entries;
  options->watchdog_ps = defaults.watchdog_ps;
}

void deputy_device_options_full_recovery(deputy_device_options* options) {
  if (!options) return;
  const RecoveryOptions full = RecoveryOptions::full();
  options->retries = full.retries, options->restart_ring = full.restart_ring;
  options->reset_engine = full.reset_engine, options->cpu_fallback = full.cpu_fallback;
  options->unhealthy_after = full.unhealthy_after,
  options->readmit_after_ps = full.readmit_after_ps;
}

deputy_status deputy_device_open(deputy_port* port, const deputy_device_options* options,
                                 deputy_device** device) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(port);
    DEPUTY_C_NEED(device);
    DEPUTY_ASSIGN(const auto o, options_or_default(options, deputy_device_options_init));
    DeviceOptions with;
    with.ring_entries = o.ring_entries, with.watchdog_ps = o.watchdog_ps,
    with.isolation = o.isolation != 0;
    with.recovery = {.retries = o.retries,
                     .restart_ring = o.restart_ring != 0,
                     .reset_engine = o.reset_engine != 0,
                     .cpu_fallback = o.cpu_fallback != 0,
                     .unhealthy_after = o.unhealthy_after,
                     .readmit_after_ps = o.readmit_after_ps};
    DEPUTY_ASSIGN(auto opened, Device::open(*port->port, with));
    *device = new deputy_device{std::move(opened)};
    return {};
  });
}

void deputy_device_destroy(deputy_device* device) { delete device; }

deputy_status deputy_device_poll(const deputy_device* device) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(device);
    device->value.poll();
    return {};
  });
}

deputy_status deputy_device_copied_bytes(const deputy_device* device, uint64_t* bytes) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(device);
    DEPUTY_C_NEED(bytes);
    *bytes = device->value.copied_bytes();
    return {};
  });
}

deputy_status deputy_device_healthy(const deputy_device* device, int32_t engine, int32_t* healthy) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(device);
    DEPUTY_C_NEED(healthy);
    if (engine != DEPUTY_ENGINE_NPU && engine != DEPUTY_ENGINE_DMA)
      return api::bad_argument("engine", "there is no such engine");
    *healthy = device->value.healthy(static_cast<Engine>(engine));
    return {};
  });
}

deputy_status deputy_device_recovery_count(const deputy_device* device, uint32_t* count) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(device);
    DEPUTY_C_NEED(count);
    *count = static_cast<uint32_t>(device->value.recovery_events().size());
    return {};
  });
}

deputy_status deputy_context_create(const deputy_device* device, uint32_t priority,
                                    deputy_context** context) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(device);
    DEPUTY_C_NEED(context);
    DEPUTY_ASSIGN(auto made, device->value.create_context({.priority = priority}));
    *context = new deputy_context{std::move(made)};
    return {};
  });
}

void deputy_context_destroy(deputy_context* context) { delete context; }

deputy_status deputy_copy(const deputy_device* device, const deputy_context* context,
                          const deputy_buffer* to, const deputy_buffer* from,
                          const deputy_fence* const* waits, uint32_t wait_count,
                          deputy_fence** fence) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(device);
    DEPUTY_C_NEED(to);
    DEPUTY_C_NEED(from);
    DEPUTY_C_NEED(fence);
    DEPUTY_ASSIGN(const auto after, fences(waits, wait_count));
    DEPUTY_ASSIGN(auto made, device->value.copy(to->value, from->value, after,
                                                context ? context->value : Context()));
    *fence = make(std::move(made));
    return {};
  });
}

}  // extern "C"
