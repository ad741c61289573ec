// Reads and writes records as little-endian bytes, field by field, driven by fields(). Integers and
// enums take their type's width, bool one byte, floats their IEEE bits; strings and vectors start
// with a u32 count. The reader takes untrusted bytes: it never reads past its span, checks every
// field's range, and after the first problem answers zeros and keeps the message.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/fields.h"

namespace deputy::arch {

template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;

/// The unsigned integer a scalar is stored as.
template <std::size_t Bytes>
using StoredInteger = std::conditional_t<
    Bytes == 1, std::uint8_t,
    std::conditional_t<Bytes == 2, std::uint16_t,
                       std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>>>;

/// FNV-1a of 64 bits: the content hash of what is written by these.
inline std::uint64_t fnv1a(std::span<const std::uint8_t> bytes) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001B3u;
  return hash;
}

class ByteWriter {
 public:
  template <class T>
  void put(const T& value) {
    if constexpr (base::HasFields<T>) {
      T::fields(value, [&](const auto& member, const base::Field&) { put(member); });
    } else if constexpr (std::is_same_v<T, std::vector<std::uint8_t>>) {
      put(static_cast<std::uint32_t>(value.size()));
      append(value);
    } else if constexpr (std::is_same_v<T, std::string> || kIsVector<T>) {
      put(static_cast<std::uint32_t>(value.size()));
      for (const auto& element : value) put(element);
    } else {
      auto raw = std::bit_cast<StoredInteger<sizeof(T)>>(value);
      for (std::size_t i = 0; i < sizeof(T); ++i)
        bytes_.push_back(static_cast<std::uint8_t>(static_cast<std::uint64_t>(raw) >> (8 * i)));
    }
  }
  void append(std::span<const std::uint8_t> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void pad_to(std::size_t alignment) {
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment, 0);
  }
  std::size_t size() const { return bytes_.size(); }
  std::vector<std::uint8_t>& bytes() { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  template <class T>
  T get() {
    T value{};
    read(value, base::Field{.name = "value"});
    return value;
  }
  /// Reads T; `field` names it in a message and bounds it if it is a number.
  template <class T>
  void read(T& value, const base::Field& field) {
    if constexpr (base::HasFields<T>) {
      T::fields(value, [&](auto& member, const base::Field& f) { read(member, f); });
    } else if constexpr (std::is_same_v<T, std::vector<std::uint8_t>>) {
      const auto count = get<std::uint32_t>();
      if (!ok()) return;
      if (count > remaining()) return fail(field.name, "is longer than the bytes that are left");
      value.assign(bytes_.begin() + static_cast<std::ptrdiff_t>(at_),
                   bytes_.begin() + static_cast<std::ptrdiff_t>(at_ + count));
      at_ += count;
    } else if constexpr (std::is_same_v<T, std::string> || kIsVector<T>) {
      const auto count = get<std::uint32_t>();
      // An element takes at least a byte. Growing one by one keeps memory near the file's size.
      if (ok() && count > remaining())
        return fail(field.name, "is longer than the bytes that are left");
      for (std::uint32_t i = 0; i < count && ok(); ++i) {
        value.resize(i + 1);
        read(value.back(), field);
      }
    } else if constexpr (std::is_same_v<T, char>) {
      value = static_cast<char>(raw<1>());
    } else if constexpr (std::is_same_v<T, bool>) {
      const auto byte = raw<1>();
      if (byte > 1) return fail(field.name, "is neither 0 nor 1");
      value = byte == 1;
    } else {
      value = std::bit_cast<T>(static_cast<StoredInteger<sizeof(T)>>(raw<sizeof(T)>()));
      if constexpr (std::is_arithmetic_v<T>)
        if (!(static_cast<double>(value) >= field.min && static_cast<double>(value) <= field.max))
          fail(field.name, "is out of range");
    }
  }
  std::size_t remaining() const { return bytes_.size() - at_; }
  bool ok() const { return problem_.empty(); }
  const std::string& problem() const { return problem_; }

 private:
  template <std::size_t N>
  std::uint64_t raw() {
    if (!ok()) return 0;
    if (remaining() < N) {
      problem_ = "the bytes end inside a record";
      return 0;
    }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < N; ++i) value |= std::uint64_t{bytes_[at_ + i]} << (8 * i);
    at_ += N;
    return value;
  }
  void fail(const char* field, const char* what) {
    if (ok()) problem_ = std::string(field) + " " + what;
  }

  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
  std::string problem_;
};

}  // namespace deputy::arch
