#include "dsp_kernels/tables.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace deputy::dsp_kernels {
namespace {

std::int16_t q15(double v) {
  return static_cast<std::int16_t>(std::clamp<long>(std::lround(v * 32768), -32768, 32767));
}

}  // namespace

std::vector<std::int16_t> fft_factors(std::size_t points) {
  std::vector<std::int16_t> out;
  for (std::size_t s = 1; s < points / 2; s *= 2)
    for (std::size_t i = 0; i < points / 2; ++i) {
      const double angle =
          -2 * std::numbers::pi * static_cast<double>(i / s * s) / static_cast<double>(points);
      out.push_back(q15(std::cos(angle))), out.push_back(q15(std::sin(angle)));
    }
  return out;
}

std::vector<std::int16_t> hann(std::size_t samples) {
  std::vector<std::int16_t> out;
  for (std::size_t i = 0; i < samples; ++i)
    out.push_back(q15(0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(i) /
                                           static_cast<double>(samples))));
  return out;
}

std::vector<std::int32_t> mel_weights(std::size_t bins, double high_hz) {
  const auto mel = [](double hz) { return 1127 * std::log(1 + hz / 700); };
  const auto hz = [](double m) { return 700 * (std::exp(m / 1127) - 1); };
  const double step = high_hz / static_cast<double>(bins), low = mel(step), high = mel(high_hz);
  const auto edge = [&](std::size_t i) {
    return hz(low + (high - low) * static_cast<double>(i) / (kMelFilters + 1));
  };
  std::vector<std::int32_t> out;
  for (std::size_t k = 0; k < bins; ++k)
    for (std::size_t f = 0; f < kMelFilters; ++f) {
      const double at = static_cast<double>(k) * step,
                   rise = (at - edge(f)) / (edge(f + 1) - edge(f)),
                   fall = (edge(f + 2) - at) / (edge(f + 2) - edge(f + 1));
      out.push_back(static_cast<std::int32_t>(
          std::lround(32767 * std::clamp(std::min(rise, fall), 0.0, 1.0))));
    }
  return out;
}

std::vector<std::int32_t> mel_cosines() {
  std::vector<std::int32_t> out;
  for (std::size_t f = 0; f < kMelFilters; ++f)
    for (std::size_t c = 0; c < kMelFilters; ++c)
      out.push_back(static_cast<std::int32_t>(
          std::lround(8192 * std::cos(std::numbers::pi / kMelFilters *
                                      (static_cast<double>(f) + 0.5) * static_cast<double>(c)))));
  return out;
}

Sampling sampling(std::size_t from, std::size_t to, std::size_t first, std::size_t channels) {
  Sampling out;
  for (std::size_t i = 0; i < to; ++i) {
    // In 2^-15 of a pixel, of (i + 1/2) from / to - 1/2; all in integers.
    const auto scaled = static_cast<std::int64_t>((2 * i + 1) * from * 16384 / to) - 16384;
    const std::int64_t most = static_cast<std::int64_t>(from - 1) * 32768 - 1;
    const std::int64_t at = std::clamp<std::int64_t>(scaled, 0, most);
    for (std::size_t c = 0; c < channels; ++c) {
      out.offsets.push_back(
          static_cast<std::uint16_t>((first + static_cast<std::size_t>(at >> 15)) * channels + c));
      out.fractions.push_back(static_cast<std::int16_t>(at & 0x7FFF));
    }
  }
  return out;
}

}  // namespace deputy::dsp_kernels
