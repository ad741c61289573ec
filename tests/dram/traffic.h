// Devices of configs/dram and traffic on a controller, for the tests of this folder.
#pragma once

#include <catch2/catch.hpp>
#include <deque>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "soc/dram/controller.h"
#include "tests/support/source_dir.h"

namespace deputy::dram_test {

using namespace soc::dram;

inline constexpr std::uint64_t kBytes = 64 << 20;

inline Spec device(const std::string& name) {
  const auto spec = load_spec(tests::source_dir() + "/configs/dram/" + name + ".yaml");
  INFO((spec.ok() ? "" : spec.error().text()));
  REQUIRE(spec.ok());
  return *spec;
}
inline const std::vector<std::string> kDevices = {"lpddr4-3200", "ddr4-2400", "lpddr5-6400"};

struct Ask {
  std::uint64_t offset = 0;
  std::uint32_t bytes = 32;
  bool write = false;
  std::uint64_t gap_ps = 0;  ///< after the one before
};

/// Issues what `next` gives until `n` are done, at most `outstanding` at a time: a request leaves
/// when there is room for it in the controller and the one `outstanding` places before it has
/// completed. Returns the end of the last data.
inline std::uint64_t drive(Controller& c, int n, std::size_t outstanding,
                           const std::function<Ask(int)>& next) {
  std::deque<Controller::Ticket> flying;
  std::uint64_t now = 0, end = 0;
  for (int i = 0; i < n; ++i) {
    const Ask ask = next(i);
    now += ask.gap_ps;
    if (flying.size() >= outstanding) {
      const auto served = c.finish(flying.front());
      flying.pop_front();
      now = std::max(now, served.end_ps), end = std::max(end, served.end_ps);
    }
    now = std::max(now, c.accepts_at_ps());
    c.advance(now);
    flying.push_back(c.submit(ask.offset, ask.bytes, ask.write, now));
  }
  for (const auto ticket : flying) end = std::max(end, c.finish(ticket).end_ps);
  return end;
}

}  // namespace deputy::dram_test
