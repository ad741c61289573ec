// Every kernel against its plain reference, over random and extreme data, and the cycles that are
// promised.
#include <catch2/catch.hpp>

#include "tests/dsp_kernels/run_case.h"

namespace deputy::dsp_test {

TEST_CASE("every kernel's cases give the bytes of the reference") {
  for (const auto fill : dsp_kernels::kFills)
    for (const std::uint64_t seed : {1, 2})
      for (const auto& c : dsp_kernels::kernel_cases(seed, fill)) {
        INFO(c.kernel << ": " << c.what << ", fill " << static_cast<int>(fill) << ", seed "
                      << seed);
        CHECK(run_case(c).wrong == "");
      }
}

TEST_CASE(
    "FIR, biquad, FFT of 256 and matrix-vector take at most 1.3 times the cycles of their busiest "
    "slot") {
  int seen = 0;
  for (const auto& c : dsp_kernels::kernel_cases(1, dsp_kernels::Fill::kRandom)) {
    const auto run = run_case(c);
    const double ratio =
        static_cast<double>(run.stats.cycles) / static_cast<double>(c.bound ? c.bound : 1);
    INFO(c.kernel << ": " << c.what << ", " << run.stats.cycles << " cycles, bound " << c.bound);
    CHECK((c.bound == 0 || ratio >= 1));
    const bool promised = (c.kernel == "fir" && !c.what.starts_with("1 ")) ||
                          (c.kernel == "biquad" && c.what.starts_with("4")) ||
                          (c.kernel == "fft_registers" && c.what.starts_with("256")) ||
                          c.kernel == "matvec";
    WARN(c.kernel << ": " << c.what << ": " << run.stats.cycles << " cycles, bound " << c.bound
                  << ", ratio " << ratio);
    if (!promised) continue;
    ++seen;
    CHECK(ratio <= 1.3);
  }
  CHECK(seen >= 5);
}

}  // namespace deputy::dsp_test
