// How transfers split, and which instructions get in each other's way: worked out by hand.
#include "npu_model/core/transfer.h"

#include <catch2/catch.hpp>

#include "arch/instruction_check.h"

namespace deputy::npu_model {
namespace {

struct Piece {
  std::uint64_t address, bytes;
  bool operator==(const Piece&) const = default;
};
std::vector<Piece> pieces(const arch::Transfer& t, std::uint64_t base, std::uint64_t chunk_bytes) {
  std::vector<Piece> out;
  std::uint64_t position = 0;
  for (ChunkWalker walker(t, base, chunk_bytes); !walker.done();) {
    const auto chunk = walker.next();
    CHECK(chunk.position == position);
    position += chunk.bytes;
    out.push_back({chunk.address, chunk.bytes});
  }
  CHECK(position == t.bytes());
  return out;
}

}  // namespace

TEST_CASE("transfers merge rows that touch and split at chunks and bus boundaries") {
  arch::Transfer t;
  t.mem_offset = 0x100, t.row_bytes = 100, t.rows = 4, t.planes = 2;
  t.mem_row_stride = 100, t.mem_plane_stride = 400;
  CHECK(pieces(t, 0x1000, 1024) == std::vector<Piece>{{0x1100, 768}, {0x1400, 32}});
  CHECK(pieces(t, 0x1000, 300) ==
        std::vector<Piece>{
            {0x1100, 148}, {4500, 300}, {4800, 300}, {5100, 52}});  // 0x1100 = 14 x 300 + 152
  CHECK(pieces(t, 0x1E00, 1024) == std::vector<Piece>{{0x1F00, 256}, {0x2000, 544}});
  t.mem_plane_stride = 1000;  // planes apart: a transaction for each
  CHECK(pieces(t, 0x1000, 1024) == std::vector<Piece>{{0x1100, 400}, {0x1100 + 1000, 400}});
  t.mem_row_stride = 128;  // rows apart
  CHECK(pieces(t, 0x1000, 64).size() ==
        4 * 2 + 4 * 3);  // the second plane's rows start 40 bytes late
  t.planes = 1, t.rows = 1, t.row_bytes = 10000;
  CHECK(pieces(t, 0x1000, 65536) ==
        std::vector<Piece>{{0x1100, 0xF00}, {0x2000, 4096}, {0x3000, 10000 - 0xF00 - 4096}});
  // The largest fields: 65535 planes and rows with the largest strides end below 2^50.
  t = {.mem_offset = (std::uint64_t{1} << 40) - 1,
       .row_bytes = (1u << 24) - 1,
       .rows = 65535,
       .planes = 65535,
       .mem_row_stride = 0xFFFFFFFF,
       .mem_plane_stride = 0xFFFFFFFF};
  CHECK(memory_extent(t) ==
        (std::uint64_t{1} << 40) - 1 + 2 * std::uint64_t{65534} * 0xFFFFFFFF + (1u << 24) - 1);
}

TEST_CASE("instructions that share bytes conflict when one of them writes") {
  const auto load = [](std::uint32_t spm, std::uint32_t bytes) {
    arch::Load l;
    l.spm_addr = spm, l.row_bytes = bytes;
    return spm_accesses(l);
  };
  const auto store = [](std::uint32_t spm, std::uint32_t bytes) {
    arch::Store s;
    s.spm_addr = spm, s.row_bytes = bytes;
    return spm_accesses(s);
  };
  const auto lut =
      spm_accesses(arch::Lut{.ifm_addr = 1000, .ofm_addr = 2000, .count = 100, .lut_addr = 0});
  CHECK(conflict(lut, load(1099, 1)));
  CHECK_FALSE(conflict(lut, load(1100, 1)));
  CHECK(conflict(lut, load(255, 10)));
  CHECK(conflict(lut, store(2000, 1)));
  CHECK_FALSE(conflict(lut, store(1000, 100)));  // both read
  CHECK(conflict(load(0, 10), store(9, 1)));
  // A convolution that only holds its sums writes nothing.
  arch::Conv c{.ifm_row_stride = 1,
               .ifm_px_stride = 1,
               .ofm_addr = 500,
               .w_addr = 100,
               .prm_addr = 200,
               .acc_hold = 1};
  CHECK_FALSE(conflict(spm_accesses(c), store(0, 1000)));
  CHECK(conflict(spm_accesses(c), load(211, 1)));
}

}  // namespace deputy::npu_model
