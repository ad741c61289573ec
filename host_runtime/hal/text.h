// Numbers in a driver's messages, without a formatting library: drivers also build for targets that
// have none.
#pragma once

#include <cstdint>
#include <string>

namespace deputy::host_runtime {

/// "0x1a4".
inline std::string hex(std::uint64_t value) {
  std::string digits;
  do {
    digits.insert(digits.begin(), "0123456789abcdef"[value & 15]);
    value >>= 4;
  } while (value != 0);
  return "0x" + digits;
}

}  // namespace deputy::host_runtime
