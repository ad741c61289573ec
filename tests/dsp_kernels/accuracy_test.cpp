// How far the integer kernels are from the mathematics they stand for, in doubles, by the bounds
// that their texts state.
#include <catch2/catch.hpp>
#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>

#include "tests/dsp_kernels/run_case.h"

namespace deputy::dsp_test {
namespace {

template <class T>
std::vector<T> values(const std::vector<std::uint8_t>& bytes) {
  std::vector<T> out(bytes.size() / sizeof(T));
  std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
  return out;
}

std::vector<std::complex<double>> transform(const std::vector<std::int16_t>& x) {
  const std::size_t n = x.size() / 2;
  std::vector<std::complex<double>> out(n), turn(n);
  for (std::size_t i = 0; i < n; ++i)
    turn[i] =
        std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n));
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = 0; i < n; ++i)
      out[k] += std::complex<double>(x[2 * i], x[2 * i + 1]) * turn[i * k % n];
    out[k] /= static_cast<double>(n);
  }
  return out;
}

}  // namespace

TEST_CASE("transforms of numbers of magnitude 1 at most are within 4 steps of the exact ones") {
  int seen = 0;
  for (const auto fill :
       {dsp_kernels::Fill::kRandom, dsp_kernels::Fill::kAlternating, dsp_kernels::Fill::kLargest})
    for (auto& c : dsp_kernels::kernel_cases(3, fill)) {
      if (!c.kernel.starts_with("fft")) continue;
      ++seen;
      auto x = values<std::int16_t>(c.inputs[0].bytes);
      for (auto& v : x) v = static_cast<std::int16_t>(v * 0.7071);
      std::memcpy(c.inputs[0].bytes.data(), x.data(), c.inputs[0].bytes.size());
      const auto y = values<std::int16_t>(run_case(c).outputs[0]);
      const auto exact = transform(x);
      double worst = 0;
      for (std::size_t k = 0; k < exact.size(); ++k)
        worst = std::max({worst, std::abs(exact[k].real() - y[2 * k]),
                          std::abs(exact[k].imag() - y[2 * k + 1])});
      INFO(c.kernel << ": " << c.what << ", worst " << worst);
      CHECK(worst <= 4);
    }
  CHECK(seen >= 12);
}

TEST_CASE("softmax is within a step of the exact one") {
  for (const auto& c : dsp_kernels::kernel_cases(4, dsp_kernels::Fill::kRandom)) {
    if (c.kernel != "softmax") continue;
    const auto x = values<std::int8_t>(c.inputs[0].bytes),
               y = values<std::int8_t>(run_case(c).outputs[0]);
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += std::exp(0.1 * x[i]);  // the cases' scale
    for (std::size_t i = 0; i < y.size(); ++i)
      CHECK(std::abs(std::min(127.0, 256 * std::exp(0.1 * x[i]) / sum - 128) - y[i]) <= 1);
  }
}

TEST_CASE("logarithms of mel energies are within 0.01 of the exact ones") {
  for (const auto& c : dsp_kernels::kernel_cases(5, dsp_kernels::Fill::kRandom)) {
    if (c.kernel != "mfcc") continue;
    const auto x = values<std::int16_t>(c.inputs[0].bytes);
    const auto w = values<std::int32_t>(c.inputs[1].bytes),
               logs = values<std::int32_t>(run_case(c).outputs[1]);
    for (std::size_t f = 0; f < 32; ++f) {
      double energy = 0;
      for (std::size_t k = 0; k < x.size() / 2; ++k)
        energy += w[k * 32 + f] / 32768.0 * (std::pow(x[2 * k], 2) + std::pow(x[2 * k + 1], 2)) / 2;
      energy = std::min(energy, 2147483646.0);  // the kernel saturates its sums
      CHECK(std::abs(std::log2(energy + 1) - logs[f] / 1024.0) <= 0.01);
    }
  }
}

}  // namespace deputy::dsp_test
