// The executable's constants: weights, channel parameters, tables and constant operands, each
// stored once.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace deputy::delegate {

class ConstantPool {
 public:
  /// The offset of `data` in bytes(), kConstantAlign-aligned; equal data is shared.
  std::uint64_t add(std::span<const std::uint8_t> data);
  std::vector<std::uint8_t> take() { return std::move(bytes_); }

 private:
  struct Entry {
    std::uint64_t offset, bytes;
  };
  std::vector<std::uint8_t> bytes_;
  std::unordered_map<std::uint64_t, std::vector<Entry>>
      by_hash_;  ///< looked up only, never iterated
};

}  // namespace deputy::delegate
