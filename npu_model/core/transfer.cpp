#include "npu_model/core/transfer.h"

#include <algorithm>
#include <cstring>

namespace deputy::npu_model {
namespace {

using std::uint64_t;

// Calls f(spm address, offset in the chunk, bytes) for each piece of a chunk that is contiguous in
// the scratchpad.
template <class F>
void for_each_piece(const arch::Transfer& t, const ChunkWalker::Chunk& chunk, F&& f) {
  for (uint64_t done = 0; done < chunk.bytes;) {
    const uint64_t at = chunk.position + done, row = at / t.row_bytes, column = at % t.row_bytes;
    const uint64_t n = std::min<uint64_t>(t.row_bytes - column, chunk.bytes - done);
    f(t.spm_addr + row / t.rows * t.spm_plane_stride + row % t.rows * t.spm_row_stride + column,
      done, n);
    done += n;
  }
}

}  // namespace

uint64_t memory_extent(const arch::Transfer& t) { return t.mem_offset + t.mem_extent(); }

arch::Transfer stream_of(const arch::LoadWeights& load) {
  arch::Transfer t;
  t.region = static_cast<std::uint8_t>(load.region);
  t.traffic = static_cast<std::uint8_t>(load.traffic);
  t.mem_offset = load.mem_offset;
  t.row_bytes = load.stream_bytes;
  return t;
}

std::optional<arch::Transfer> memory_side(const arch::Operation& op) {
  return std::visit(
      []<class T>(const T& o) -> std::optional<arch::Transfer> {
        if constexpr (std::is_base_of_v<arch::Transfer, T>) return o;
        if constexpr (std::is_same_v<T, arch::LoadWeights>) return stream_of(o);
        return std::nullopt;
      },
      op);
}

ChunkWalker::ChunkWalker(const arch::Transfer& transfer, uint64_t region_base, uint64_t chunk_bytes)
    : t_(transfer),
      base_(region_base + transfer.mem_offset),
      row_bytes_(transfer.row_bytes),
      rows_(transfer.rows),
      total_(transfer.bytes()),
      chunk_bytes_(chunk_bytes) {
  if (rows_ == 1 || t_.mem_row_stride == row_bytes_) {  // a plane is one long row
    row_bytes_ *= rows_;
    rows_ = 1;
    if (t_.mem_plane_stride == row_bytes_) row_bytes_ = total_;
  }
}

ChunkWalker::Chunk ChunkWalker::next() {
  const uint64_t row = position_ / row_bytes_, column = position_ % row_bytes_;
  Chunk chunk;
  chunk.address =
      base_ + row / rows_ * t_.mem_plane_stride + row % rows_ * t_.mem_row_stride + column;
  chunk.bytes = std::min({chunk_bytes_ - chunk.address % chunk_bytes_, row_bytes_ - column,
                          kBusBoundary - chunk.address % kBusBoundary});
  chunk.position = position_;
  position_ += chunk.bytes;
  return chunk;
}

void scatter(const arch::Transfer& t, const ChunkWalker::Chunk& chunk, const std::uint8_t* bytes,
             std::span<std::uint8_t> spm) {
  for_each_piece(t, chunk, [&](uint64_t addr, uint64_t offset, uint64_t n) {
    std::memcpy(spm.data() + addr, bytes + offset, n);
  });
}

void gather(const arch::Transfer& t, const ChunkWalker::Chunk& chunk,
            std::span<const std::uint8_t> spm, std::uint8_t* bytes) {
  for_each_piece(t, chunk, [&](uint64_t addr, uint64_t offset, uint64_t n) {
    std::memcpy(bytes + offset, spm.data() + addr, n);
  });
}

}  // namespace deputy::npu_model
