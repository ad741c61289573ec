// The chunk walk against a byte-by-byte walk written independently.
#include "dma/core/chunks.h"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

using namespace deputy::dma;

namespace {
struct Pair {
  std::uint64_t a, b;
  bool operator==(const Pair&) const = default;
};

std::vector<Pair> naive(const Walk& a, const Walk& b) {
  std::vector<Pair> out;
  for (std::uint64_t p = 0; p < a.planes; ++p)
    for (std::uint64_t r = 0; r < a.rows; ++r)
      for (std::uint64_t i = 0; i < a.row_bytes; ++i)
        out.push_back({a.address + p * a.plane_stride + r * a.row_stride + i,
                       b.address + p * b.plane_stride + r * b.row_stride + i});
  return out;
}
}  // namespace

TEST_CASE("chunks cover every byte once, in order, within the limits") {
  std::mt19937 random(7);
  for (int trial = 0; trial < 500; ++trial) {
    Walk a, b;
    a.row_bytes = b.row_bytes = 1 + random() % 300;
    a.rows = b.rows = 1 + random() % 5;
    a.planes = b.planes = 1 + random() % 4;
    a.row_stride = a.row_bytes + (random() % 2) * (random() % 50);
    b.row_stride = b.row_bytes + (random() % 2) * (random() % 50);
    a.plane_stride = a.row_stride * a.rows + (random() % 2) * (random() % 500);
    b.plane_stride = b.row_stride * b.rows + (random() % 2) * (random() % 500);
    a.address = random() % 10000;
    b.address = random() % 10000;
    const std::uint32_t limit = 1 + random() % 700;
    const bool bus_a = random() % 2, bus_b = random() % 2;
    std::vector<Pair> seen;
    const bool whole = for_each_chunk(a, b, limit, bus_a, bus_b, [&](const Chunk& c) {
      CHECK(c.bytes >= 1);
      CHECK(c.bytes <= limit);
      if (bus_a) CHECK(c.a / 4096 == (c.a + c.bytes - 1) / 4096);
      if (bus_b) CHECK(c.b / 4096 == (c.b + c.bytes - 1) / 4096);
      for (std::uint32_t i = 0; i < c.bytes; ++i) seen.push_back({c.a + i, c.b + i});
      return true;
    });
    REQUIRE(whole);
    REQUIRE(seen == naive(a, b));
  }
}

TEST_CASE("contiguous rows become one chunk") {
  const Walk a{0, 64, 4, 2, 64, 256};
  int chunks = 0;
  for_each_chunk(a, a, 4096, true, true, [&](const Chunk& c) {
    CHECK(c.bytes == 512);
    return ++chunks > 0;
  });
  CHECK(chunks == 1);
}

TEST_CASE("a walk stops when the callback says so") {
  const Walk a{0, 64, 4, 2, 100, 1000};
  int chunks = 0;
  CHECK_FALSE(for_each_chunk(a, a, 4096, true, true, [&](const Chunk&) { return ++chunks < 3; }));
  CHECK(chunks == 3);
}
