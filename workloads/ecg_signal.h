// A synthetic ECG of two leads with its beats labelled, by the model that workloads/ecg trains on
// (McSharry, Clifford, Tarassenko and Smith, IEEE Trans. Biomed. Eng. 50(3), 2003) in its closed
// form: each wave of a beat is a Gaussian. The same seed gives the same samples on every machine.
#pragma once

#include <cstdint>
#include <vector>

namespace deputy::workloads {

struct EcgOptions {
  std::uint64_t seed = 1;
  double seconds = 60;
  std::int32_t rate = 360;  ///< samples a second
  double beats_per_minute = 72;
  double supraventricular = 0.04, ventricular = 0.06;  ///< of the beats
  double st_shift = 0.1;  ///< of the time, in episodes of about a minute
  double noise_mv = 0.015, wander_mv = 0.08, mains_mv = 0.01;
};

/// Class numbers are those of workloads/ecg: 0 normal, 1 supraventricular, 2 ventricular, 3 ST
/// shift.
struct LabelledBeat {
  std::int64_t sample = 0;  ///< of the R peak
  std::uint8_t kind = 0;
};

struct EcgSignal {
  std::vector<std::int16_t>
      samples;  ///< lead 0, lead 1, lead 0, ...; 5 microvolts a step, as MIT-BIH's records
  std::vector<LabelledBeat> beats;  ///< by time
};
inline constexpr double kEcgStepMv = 0.005;

EcgSignal make_ecg(const EcgOptions& options);

}  // namespace deputy::workloads
