// The bytes of one cache entry (compiled_cache.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "api/digest.h"

namespace deputy::api {

std::vector<std::uint8_t> format_entry(const Digest& key, const std::string& model,
                                       std::span<const std::uint8_t> payload);

/// Views into the bytes that were parsed. With a problem nothing else is meaningful.
struct EntryView {
  Digest key{};
  std::string model;
  std::span<const std::uint8_t> payload;
  std::string problem;
};
EntryView parse_entry(std::span<const std::uint8_t> bytes);

}  // namespace deputy::api
