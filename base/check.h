// CHECK: an assertion about our own code, on in release builds too. User errors use Result
// (result.h).
#pragma once

namespace deputy::base {
/// Prints file, line and message to stderr and aborts. Never returns.
[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               const char* message);
}  // namespace deputy::base

#define DEPUTY_CHECK(condition, message)                                     \
  do {                                                                       \
    if (!(condition)) [[unlikely]]                                           \
      ::deputy::base::check_failed(__FILE__, __LINE__, #condition, message); \
  } while (false)
