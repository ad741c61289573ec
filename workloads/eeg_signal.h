// Synthetic EEG of 22 channels with seizures, and when these begin and end. Background: noise that
// falls with frequency, shared between neighbours, and an alpha rhythm that waxes and wanes.
// Seizures begin at a focus with low, fast activity, become a rhythm of 6 to 8 a second and then
// spikes and waves that spread, grow and slow down from about 3.6 to 2.4 a second. What only looks
// like it is there too: bursts of a second of the same spikes and waves, slow waves of sleep, and
// artefacts (blinks, muscles, electrodes, movements in a rhythm of 2 to 4 a second). The same seed
// gives the same samples on every machine.
#pragma once

#include <cstdint>
#include <vector>

namespace deputy::workloads {

inline constexpr int kEegRate = 256;  ///< samples a second
inline constexpr int kEegChannels = 22;

struct EegOptions {
  std::uint64_t seed = 1;
  double seconds = 60;
  double seizures_per_hour = 12;  ///< far more than anybody has: there is something to count
};

/// From its first fast activity to its last wave.
struct Seizure {
  std::int64_t begin = 0, end = 0;  ///< samples
};

struct EegSignal {
  std::vector<std::int16_t> samples;  ///< channel by channel, sample by sample; 1/64 microvolt
  std::vector<Seizure> seizures;      ///< by time
};

EegSignal make_eeg(const EegOptions& options);

}  // namespace deputy::workloads
