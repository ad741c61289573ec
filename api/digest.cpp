#include "api/digest.h"

#include <nettle/sha2.h>

namespace deputy::api {

Digest sha256(std::span<const std::uint8_t> bytes) {
  sha256_ctx context;
  sha256_init(&context);
  sha256_update(&context, bytes.size(), bytes.data());
  Digest out;
  sha256_digest(&context, out.size(), out.data());
  return out;
}

Digest sha256(std::string_view text) {
  return sha256(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

std::string hex(const Digest& digest) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const std::uint8_t byte : digest) out += {kDigits[byte >> 4], kDigits[byte & 15]};
  return out;
}

}  // namespace deputy::api
