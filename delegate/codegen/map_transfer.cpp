#include "delegate/codegen/map_transfer.h"

#include <algorithm>

#include "base/check.h"

namespace deputy::delegate {
namespace {

// Calls move(memory, scratchpad, box) for every stretch of rows that does not cross a ring's end.
template <class Move>
void each_stretch(const MapView& map, const MapPart& part, std::uint32_t spm, Move&& move) {
  const std::int64_t pixels = part.x1 - part.x0, channels = part.c1 - part.c0;
  DEPUTY_CHECK(map.ring == 0 || part.y1 - part.y0 <= map.ring, "more rows than the ring keeps");
  for (std::int64_t y = part.y0; y < part.y1;) {
    const std::int64_t row = map.ring ? y % map.ring : y;
    const std::int64_t rows = map.ring ? std::min(part.y1 - y, map.ring - row) : part.y1 - y;
    const std::int64_t offset = part.n * map.image + row * map.row + part.x0 * map.pixel + part.c0;
    const auto first = static_cast<std::uint32_t>((y - part.y0) * pixels * channels);
    move(shifted(map.at, offset), spm + first,
         Box::dense(rows, pixels, channels, map.row, map.pixel));
    y += rows;
  }
}

}  // namespace

void load_map(ProgramBuilder& program, const MapView& map, const MapPart& part, std::uint32_t spm) {
  each_stretch(map, part, spm, [&](MemoryRef from, std::uint32_t to, const Box& box) {
    program.load(from, to, box, arch::Traffic::kFeatureMap);
  });
}

void store_map(ProgramBuilder& program, const MapView& map, const MapPart& part,
               std::uint32_t spm) {
  each_stretch(map, part, spm, [&](MemoryRef to, std::uint32_t from, const Box& box) {
    program.store(to, from, box);
  });
}

}  // namespace deputy::delegate
