// Many numbers as text: LEB128 varints in base64, for data inside an HTML page.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace deputy::tools {

class PackedNumbers {
 public:
  void add(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<std::uint8_t>(value | 0x80));
    bytes_.push_back(static_cast<std::uint8_t>(value));
  }
  /// base64 with padding, RFC 4648.
  std::string text() const {
    constexpr const char* kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    out.reserve((bytes_.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes_.size(); i += 3) {
      std::uint32_t group = 0;
      for (std::size_t k = 0; k < 3; ++k)
        group = group << 8 | (i + k < bytes_.size() ? bytes_[i + k] : 0u);
      for (std::size_t k = 0; k < 4; ++k)
        out.push_back(i + k > bytes_.size() ? '=' : kDigits[group >> (18 - 6 * k) & 63]);
    }
    return out;
  }

 private:
  std::vector<std::uint8_t> bytes_;
};

}  // namespace deputy::tools
