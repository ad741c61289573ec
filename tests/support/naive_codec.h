// A decoder of compressed blocks for tests, written from docs/weight_compression.md alone: codes as
// text, each lane a text of its own, no tables, no speed. Throws on anything the format forbids.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace deputy::test {

/// The 145 bytes of the table that is built into the decoder.
inline std::vector<std::uint8_t> naive_fixed_table() {
  std::vector<std::uint8_t> table(145, 0x99);
  table[0x80 / 2] = 0x94;                        // value 0 (symbol 128) is short, 1 is not
  table[0x7F / 2] = 0x49;                        // value -1 (symbol 127) is short, -2 is not
  for (int i = 128; i < 136; ++i) table[i] = 0;  // no fill runs
  for (int i = 136; i < 140; ++i) table[i] = 0x55;
  for (int i = 140; i < 144; ++i) table[i] = 0x66;
  table[144] = 0;
  return table;
}

inline std::vector<std::uint8_t> naive_decode(const std::vector<std::uint8_t>& stream,
                                              const std::vector<std::uint8_t>& table,
                                              std::size_t bytes) {
  const int runs[] = {2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 24, 32, 64, 128, 256};
  // Codes in order of (length, symbol): each is the one before plus one, extended with zeros.
  std::map<std::string, int> codes;
  std::string code;
  for (std::size_t length = 1; length <= 15; ++length)
    for (int symbol = 0; symbol < 288; ++symbol) {
      if ((table[symbol / 2] >> (symbol % 2 ? 4 : 0) & 15u) != length) continue;
      if (length > 12) throw std::runtime_error("a long code");
      if (code.empty()) {
        code = std::string(length, '0');
      } else {
        std::size_t i = code.size();
        while (i > 0 && code[i - 1] == '1') code[--i] = '0';
        if (i == 0) throw std::runtime_error("too many codes");
        code[i - 1] = '1';
        code.resize(length, '0');
      }
      codes[code] = symbol;
    }

  struct Lane {
    std::string bits;  // 'x' for those beyond the stream's end
  };
  std::array<Lane, 8> lanes;
  std::size_t next = 0;
  std::vector<std::uint8_t> out;
  for (std::size_t token = 0; out.size() < bytes; ++token) {
    std::string& bits = lanes[token % 8].bits;
    if (bits.size() < 12)
      for (int i = 0; i < 2; ++i, ++next)
        for (int b = 7; b >= 0; --b)
          bits += next >= stream.size() ? 'x' : (stream[next] >> b & 1) ? '1' : '0';
    std::size_t length = 1;
    while (length <= 12 && !codes.contains(bits.substr(0, length))) ++length;
    if (length > 12) throw std::runtime_error("no such code");
    const int symbol = codes[bits.substr(0, length)];
    bits.erase(0, length);
    if (symbol < 256) {
      out.push_back(static_cast<std::uint8_t>(symbol - 128));
      continue;
    }
    if (symbol >= 272 && out.empty()) throw std::runtime_error("nothing to repeat");
    const std::uint8_t value = symbol < 272 ? table[144] : out.back();
    out.insert(out.end(), static_cast<std::size_t>(runs[(symbol - 256) % 16]), value);
  }
  if (out.size() != bytes) throw std::runtime_error("a run beyond the block");
  if (next < stream.size()) throw std::runtime_error("trailing bytes");
  return out;
}

}  // namespace deputy::test
