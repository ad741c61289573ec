#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace deputy::base {
void check_failed(const char* file, int line, const char* condition, const char* message) {
  std::fprintf(stderr, "deputy: internal error at %s:%d: %s (%s)\n", file, line, message,
               condition);
  std::abort();
}
}  // namespace deputy::base
