// The C interface's handles, and how a call becomes a status: nothing of C++ leaves it but the
// unwinding of a simulated host thread, which passes through.
#pragma once

#include <new>
#include <stdexcept>
#include <string>

#include "deputy/deputy.h"
#include "deputy/device.h"
#include "deputy/model.h"
#include "deputy/session.h"

struct deputy_port {
  deputy::HwPort* port;
};
struct deputy_target {
  deputy::Target value;
};
struct deputy_device {
  deputy::Device value;
};
struct deputy_context {
  deputy::Context value;
};
struct deputy_model {
  deputy::Model value;
  std::vector<deputy::TensorInfo> inputs, outputs;
};
struct deputy_session {
  deputy::Session value;
};
struct deputy_buffer {
  deputy::Buffer value;
};
struct deputy_fence {
  deputy::Fence value;
};
struct deputy_timeline {
  deputy::Timeline value;
};

namespace deputy::api::c {

/// Keeps the text for deputy_last_error().
deputy_status fail(deputy_status kind, const char* text) noexcept;
inline deputy_status fail(const base::Error& error) {
  return fail(static_cast<int>(error.kind), error.text().c_str());
}

/// The status of `body`, which returns a base::Status. Only what the library itself may throw is
/// caught: whatever else comes by unwinds a simulated thread.
template <class Body>
deputy_status guarded(Body&& body) {
  try {
    const base::Status status = body();
    return status.ok() ? DEPUTY_OK : fail(status.error());
  } catch (const std::bad_alloc&) {
    return fail(DEPUTY_ERROR_MEMORY, "out of memory");
  } catch (const std::length_error&) {
    return fail(DEPUTY_ERROR_MEMORY, "more memory was asked for than there can be");
  }
}

inline base::Error missing(const char* what) { return {base::ErrorKind::kInput, what, "NULL", ""}; }

/// Options as given, or those that `init` sets. An error for a struct that nobody has set up.
template <class Options>
base::Result<Options> options_or_default(const Options* given, void (*init)(Options*)) {
  if (given && given->struct_bytes != sizeof(Options))
    return base::Error{base::ErrorKind::kInput, "options",
                       "the struct was not set up, or for another version of deputy.h",
                       "call its deputy_..._options_init()"};
  if (given) return *given;
  Options out;
  init(&out);
  return out;
}

/// A list of strings or handles.
template <class T>
base::Status check_list(const T* const* list, std::uint32_t count, const char* what) {
  if (count != 0 && list == nullptr) return missing(what);
  for (std::uint32_t i = 0; i < count; ++i)
    if (list[i] == nullptr) return missing(what);
  return {};
}

base::Result<std::vector<Fence>> fences(const deputy_fence* const* list, std::uint32_t count);
inline deputy_fence* make(Fence fence) { return new deputy_fence{std::move(fence)}; }

}  // namespace deputy::api::c

/// Refuses a null argument.
#define DEPUTY_C_NEED(argument)                                 \
  do {                                                          \
    if (!(argument)) return deputy::api::c::missing(#argument); \
  } while (false)
