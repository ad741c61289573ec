// The planners of one arena on random sets of live ranges: sound, and how far from the lower bound.
#include "delegate/passes/arena_packer.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>

#include "tests/delegate/live_range_sets.h"

namespace deputy::delegate {
namespace {

// The largest sum of live bytes, counted at every time.
std::uint64_t naive_peak(const std::vector<PackItem>& items) {
  std::uint64_t most = 0;
  for (std::ptrdiff_t t = -1; t < 300; ++t) {
    std::uint64_t sum = 0;
    for (const PackItem& item : items)
      if (item.begin <= t && t <= item.end) sum += (item.bytes + 63) / 64 * 64;
    most = std::max(most, sum);
  }
  return most;
}

void require_sound(const std::vector<PackItem>& items, const Packing& packing) {
  REQUIRE(packing.offsets.size() == items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    REQUIRE(packing.offsets[i] % 64 == 0);
    REQUIRE(packing.offsets[i] + items[i].bytes <= packing.bytes);
    for (std::size_t j = 0; j < i; ++j) {
      const bool both = items[i].begin <= items[j].end && items[j].begin <= items[i].end;
      const bool apart = packing.offsets[i] + items[i].bytes <= packing.offsets[j] ||
                         packing.offsets[j] + items[j].bytes <= packing.offsets[i];
      REQUIRE((!both || apart));
    }
  }
}

}  // namespace

TEST_CASE("planners are sound and, on average, within two per cent of the lower bound") {
  std::map<std::string, std::pair<double, int>> excess;  // family and planner
  double total = 0, worst = 0;
  constexpr unsigned kSets = 200;
  for (unsigned i = 0; i < kSets; ++i) {
    const RangeSet set = random_range_set(i);
    const Packing best = pack(set.items, Effort::kFull);
    require_sound(set.items, best);
    REQUIRE(best.lower_bound == naive_peak(set.items));
    const auto over = [&](const Packing& packing) {
      return static_cast<double>(packing.bytes) / static_cast<double>(packing.lower_bound) - 1;
    };
    const auto add = [&](const std::string& planner, double value) {
      auto& [sum, count] = excess[fmt::format("{:<24} {}", set.family, planner)];
      sum += value, ++count;
    };
    for (const Packer packer : {Packer::kBySize, Packer::kByDuration, Packer::kByArea,
                                Packer::kByTime, Packer::kByPressure}) {
      const Packing fixed = pack_in_order(set.items, packer);
      if (i % 10 == 0) require_sound(set.items, fixed);
      REQUIRE(best.bytes <= fixed.bytes);
      add(std::string(packer_name(packer)), over(fixed));
    }
    const Packing fast = pack(set.items, Effort::kFast);
    REQUIRE(best.bytes <= fast.bytes);
    add("best of all, fast", over(fast));
    add("best of all, full", over(best));
    total += over(best), worst = std::max(worst, over(best));
  }
  std::string table;
  for (const auto& [row, sum] : excess)
    table += fmt::format("  {:<50} {:6.2f} %\n", row, 100 * sum.first / sum.second);
  INFO("mean excess over the lower bound\n" << table);
  INFO("all sets: mean " << 100 * total / kSets << " %, worst " << 100 * worst << " %");
  CHECK(total / kSets <= 0.02);
#ifdef DEPUTY_PRINT
  WARN(table);
#endif
}

TEST_CASE("degenerate sets of live ranges pack") {
  CHECK(pack({}, Effort::kFull).bytes == 0);
  CHECK(pack({{0, 3, 0}, {1, 2, 0}}, Effort::kFull).bytes == 0);
  CHECK(pack({{0, 0, 1}}, Effort::kFull).bytes == 64);
  const Packing two = pack({{0, 3, 64}, {3, 3, 65}, {4, 9, 128}}, Effort::kFull);
  CHECK(two.bytes == 192);
  CHECK(two.lower_bound == 192);
}

}  // namespace deputy::delegate
