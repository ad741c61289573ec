// Synthetic light pulses at the wrist (photoplethysmogram) with the arm's motion, and the heart
// rate that is in them. Rest, gestures, walking and running follow each other; in half of the
// walks and runs the heart beats within 7 % of the steps' rhythm, which is what makes wrist heart
// rate hard (Reiss et al., "Deep PPG", Sensors 19(14), 2019, name motion artefacts as its main
// problem). The same seed gives the same samples on every machine.
#pragma once

#include <cstdint>
#include <vector>

namespace deputy::workloads {

inline constexpr int kPpgRate = 32;     ///< samples a second
inline constexpr int kPpgChannels = 4;  ///< green, infrared, motion along and across the arm

/// Light: front end coupled to AC, 1/256 of an int8 step; motion: 1/8192 g.
struct PpgSignal {
  std::vector<std::int16_t> samples;  ///< channel by channel, sample by sample
  std::vector<double> beats;          ///< heart beats until each sample, with their fraction
  std::vector<bool> moving;           ///< each sample: walks or runs
  /// Mean of the `window` samples that end with `last`, in beats a minute.
  double rate(std::size_t last, std::size_t window) const {
    return (beats[last] - beats[last + 1 - window]) * 60 * kPpgRate /
           static_cast<double>(window - 1);
  }
};

PpgSignal make_ppg(std::uint64_t seed, double seconds);

}  // namespace deputy::workloads
