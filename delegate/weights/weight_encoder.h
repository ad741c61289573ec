// Makes the compressed blocks that the NPU's LOADW decodes (arch/weight_codec.h): a prefix code
// fitted to a tensor, and the cheapest tokens for each block under it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arch/weight_codec.h"

namespace deputy::delegate {

struct FittedCode {
  arch::CodeLengths lengths;
  std::uint64_t bits = 0;  ///< of the tokens of all the data, as one block
};
/// The code for a tensor: lengths no longer than arch::kMaxCodeBits that are optimal for the tokens
/// of `data` in this order. Every byte value that occurs in `data` has a code, so blocks cut from
/// it in any other order can be encoded too. An empty tensor gets a code for zeros alone.
FittedCode fit_code(std::span<const std::uint8_t> data);

/// Lengths of a prefix code of at most `limit` bits that minimises the sum of counts * lengths; 0
/// where the count is 0, 1 for a symbol that is alone. At most 2^limit symbols may occur.
std::vector<std::uint8_t> limited_lengths(std::span<const std::uint64_t> counts, int limit);

/// The stream of one block: what WeightDecoder::decode() turns back into it. CHECKs that every byte
/// has a code.
std::vector<std::uint8_t> encode_block(std::span<const std::uint8_t> block,
                                       const arch::CodeLengths& code);

/// Records of `planes` bytes as LOADW wants them: byte position by byte position.
std::vector<std::uint8_t> split_planes(std::span<const std::uint8_t> records, int planes);

}  // namespace deputy::delegate
