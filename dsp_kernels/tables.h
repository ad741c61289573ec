// Constants that kernels read from the data memory, as their texts (asm/*.dsp) want them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace deputy::dsp_kernels {

/// `factors` of fft and fft_registers: complex Q15 for every stage but the last.
std::vector<std::int16_t> fft_factors(std::size_t points);
/// Periodic Hann window of Q15.
std::vector<std::int16_t> hann(std::size_t samples);

inline constexpr std::size_t kMelFilters = 32;
/// W of mfcc: triangles that are equally wide in mel from bin 1 to `high_hz`, Q15; bin k is at k
/// high_hz / bins.
std::vector<std::int32_t> mel_weights(std::size_t bins, double high_hz);
/// D of mfcc: the cosines of a DCT-II by 8192.
std::vector<std::int32_t> mel_cosines();

/// p and f of shrink for a row: where `to` pixels lie among `from` pixels that begin `first` pixels
/// into the row, edges aligned.
struct Sampling {
  std::vector<std::uint16_t> offsets;
  std::vector<std::int16_t> fractions;
};
Sampling sampling(std::size_t from, std::size_t to, std::size_t first, std::size_t channels);

}  // namespace deputy::dsp_kernels
