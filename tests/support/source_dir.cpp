#include "tests/support/source_dir.h"

namespace deputy::tests {
const std::string& source_dir() {
  static const std::string dir = DEPUTY_SOURCE_DIR;
  return dir;
}
}  // namespace deputy::tests
