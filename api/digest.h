// SHA-256 (FIPS 180-4), from Debian's nettle.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace deputy::api {

using Digest = std::array<std::uint8_t, 32>;

Digest sha256(std::span<const std::uint8_t> bytes);
Digest sha256(std::string_view text);
std::string hex(const Digest& digest);  ///< 64 lower-case digits

}  // namespace deputy::api
