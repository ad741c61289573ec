#include "tests/delegate/live_range_sets.h"

#include <algorithm>
#include <cmath>

namespace deputy::delegate {
namespace {

using Random = std::mt19937;

std::uint64_t between(Random& random, std::uint64_t low, std::uint64_t high) {
  return low + random() % (high - low + 1);
}
// Sizes over several orders of magnitude.
std::uint64_t log_size(Random& random) {
  return std::uint64_t{1} << between(random, 4, 15) | random() % 4096;
}

// A network: each layer reads the one before, some also an older one; sizes shrink as it goes.
std::vector<PackItem> network(Random& random, bool dense) {
  const auto layers = static_cast<std::ptrdiff_t>(between(random, 15, 90));
  std::vector<PackItem> out;
  std::uint64_t size = between(random, 20000, 200000);
  for (std::ptrdiff_t i = 0; i < layers; ++i) {
    const std::uint64_t factor = between(random, 1, 8);
    std::ptrdiff_t end = i + 1;
    if (random() % (dense ? 2 : 4) == 0)
      end += static_cast<std::ptrdiff_t>(between(random, 1, dense ? 20 : 4));
    out.push_back({i, std::min(end, layers), size * factor / 4});
    if (random() % 8 == 0) size = std::max<std::uint64_t>(size / 2, 500);
  }
  return out;
}

std::vector<PackItem> uniform(Random& random) {
  std::vector<PackItem> out;
  const std::uint64_t count = between(random, 10, 120), time = between(random, 10, 100);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto begin = static_cast<std::ptrdiff_t>(random() % time);
    out.push_back(
        {begin, begin + static_cast<std::ptrdiff_t>(random() % (time / 3 + 1)), log_size(random)});
  }
  return out;
}

// A rectangle of time and bytes cut into buffers: the bound can be met, but only by one of few
// packings.
void cut(Random& random, std::ptrdiff_t begin, std::ptrdiff_t end, std::uint64_t bytes, int depth,
         std::vector<PackItem>& out) {
  const bool can_time = end > begin, can_bytes = bytes > kArenaAlign;
  if (depth == 0 || (!can_time && !can_bytes)) {
    out.push_back({begin, end, bytes});
    return;
  }
  if (can_time && (!can_bytes || random() % 2 == 0)) {
    const auto at =
        begin + static_cast<std::ptrdiff_t>(random() % static_cast<unsigned>(end - begin));
    cut(random, begin, at, bytes, depth - 1, out);
    cut(random, at + 1, end, bytes, depth - 1, out);
  } else {
    const std::uint64_t lines = bytes / kArenaAlign,
                        low = between(random, 1, lines - 1) * kArenaAlign;
    cut(random, begin, end, low, depth - 1, out);
    cut(random, begin, end, bytes - low, depth - 1, out);
  }
}

// Long-lived small buffers between short-lived large ones: every order leaves holes.
std::vector<PackItem> comb(Random& random) {
  std::vector<PackItem> out;
  const auto steps = static_cast<std::ptrdiff_t>(between(random, 10, 50));
  for (std::ptrdiff_t i = 0; i < steps; ++i) {
    out.push_back({i, i + 1, between(random, 5000, 60000)});
    out.push_back({i, std::min(steps, i + static_cast<std::ptrdiff_t>(between(random, 2, 25))),
                   between(random, 64, 9000)});
  }
  return out;
}

}  // namespace

RangeSet random_range_set(unsigned index) {
  Random random(index + 1);
  switch (index % 5) {
    case 0:
      return {"network with skips", network(random, false)};
    case 1:
      return {"network with long skips", network(random, true)};
    case 2:
      return {"uniform", uniform(random)};
    case 3: {
      std::vector<PackItem> out;
      cut(random, 0, static_cast<std::ptrdiff_t>(between(random, 8, 60)),
          between(random, 200, 4000) * kArenaAlign, static_cast<int>(between(random, 4, 7)), out);
      std::shuffle(out.begin(), out.end(), random);
      return {"cut rectangle", out};
    }
    default:
      return {"comb", comb(random)};
  }
}

}  // namespace deputy::delegate
