// LOAD and STORE without time: what a strided transfer touches, and how it splits into bus
// transactions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "arch/isa.h"

namespace deputy::npu_model {

/// One past the last byte of the memory side, from the region's base.
std::uint64_t memory_extent(const arch::Transfer& t);

/// The memory side of a LOADW: one row.
arch::Transfer stream_of(const arch::LoadWeights& load);

/// What an instruction moves between the memory and the NPU; nullopt for those that move nothing.
std::optional<arch::Transfer> memory_side(const arch::Operation& op);

/// The interconnect takes no transaction across a boundary of this many bytes.
inline constexpr std::uint64_t kBusBoundary = 4096;

/// Splits a transfer into transactions: contiguous in memory, none across a multiple of chunk_bytes
/// (so that a memory that moves whole bursts moves none twice) or a bus boundary. Rows (and planes)
/// that follow each other without a gap in memory merge first.
class ChunkWalker {
 public:
  ChunkWalker(const arch::Transfer& transfer, std::uint64_t region_base, std::uint64_t chunk_bytes);

  struct Chunk {
    std::uint64_t address = 0;  ///< first byte on the bus
    std::uint64_t bytes = 0;
    std::uint64_t position = 0;  ///< bytes of the transfer that precede it
  };
  bool done() const { return position_ == total_; }
  Chunk next();

 private:
  arch::Transfer t_;
  std::uint64_t base_, row_bytes_, rows_, total_, chunk_bytes_;  ///< rows after merging
  std::uint64_t position_ = 0;
};

/// Copies a chunk between `bytes` and its rows in the scratchpad.
void scatter(const arch::Transfer& t, const ChunkWalker::Chunk& chunk, const std::uint8_t* bytes,
             std::span<std::uint8_t> spm);
void gather(const arch::Transfer& t, const ChunkWalker::Chunk& chunk,
            std::span<const std::uint8_t> spm, std::uint8_t* bytes);

}  // namespace deputy::npu_model
