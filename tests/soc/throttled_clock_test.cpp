// A clock that is divided for a while: how much of a stretch of time counts as work.
#include "sim/throttled_clock.h"

#include <catch2/catch.hpp>

namespace deputy::soc_test {

TEST_CASE("time counts in proportion where the clock is divided, wherever in the run it lies") {
  sim::Fault f;
  f.kind = "throttle", f.target = "npu", f.at_ns = 1000, f.duration_ns = 1000, f.factor = 4;
  sim::FaultInjector injector({{f}});
  sim::ThrottledClock clock(100);  // a period of 10 ns
  clock.attach(&injector, "npu");
  const auto worked = [&](std::uint64_t from_ns, std::uint64_t to_ns) {
    return clock.worked_ps(sim::from_ps(from_ns * 1000), sim::from_ps(to_ns * 1000));
  };
  CHECK(worked(0, 500) == 500'000);
  CHECK(worked(1200, 1600) == 100'000);
  CHECK(worked(500, 3000) == 500'000 + 250'000 + 1'000'000);
  CHECK(worked(2000, 2010) == 10'000);
  CHECK(clock.cycles_of(10'000) == 1);
  CHECK(clock.cycles_of(10'001) == 2);
  CHECK(clock.cycles_between(sim::from_ps(1'200'000), sim::from_ps(1'600'000)) == 10);
}

}  // namespace deputy::soc_test
