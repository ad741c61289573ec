// The wire format of protocol buffers, as far as writing needs it:
// protobuf.dev/programming-guides/encoding.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace deputy::tools {

/// One message. Fields come out in the order in which they are added.
class ProtoWriter {
 public:
  ProtoWriter& number(std::uint32_t field, std::uint64_t value) {
    varint(field << 3 | 0);
    varint(value);
    return *this;
  }
  ProtoWriter& fixed64(std::uint32_t field, std::uint64_t value) {
    varint(field << 3 | 1);
    for (int i = 0; i < 8; ++i) bytes_.push_back(static_cast<char>(value >> (8 * i)));
    return *this;
  }
  ProtoWriter& real(std::uint32_t field, double value) {
    return fixed64(field, std::bit_cast<std::uint64_t>(value));
  }
  ProtoWriter& text(std::uint32_t field, std::string_view value) {
    varint(field << 3 | 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  ProtoWriter& message(std::uint32_t field, const ProtoWriter& value) {
    return text(field, value.bytes_);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }
  std::string bytes_;
};

}  // namespace deputy::tools
