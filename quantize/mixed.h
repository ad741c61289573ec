// Which tensors are worth 16 bits: the int8 network's noise is a sum over its tensors' rounding,
// and some of them cost little to store and compute in int16.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "quantize/quantize.h"

namespace deputy::quantize {

/// All limits hold together; infinity is none. Percents are of the int8 network's.
struct Budget {
  double bytes_percent = std::numeric_limits<double>::infinity();
  double cycles_percent = std::numeric_limits<double>::infinity();
  /// Of the outputs' signal to noise: reached, nothing more becomes int16.
  double target_db = std::numeric_limits<double>::infinity();
};
/// "bytes=25", "cycles=50" or "sqnr=40" into `budget`. kUsage.
base::Status add_to_budget(const std::string& text, Budget& budget);

/// What a network costs: bytes of all its maps and constants, and picoseconds by the placement's
/// estimates of its operators, each on the engine that takes it sooner.
struct NetworkCost {
  std::uint64_t bytes = 0;
  double picoseconds = 0;
};

/// One operator's result as int16, everything else int8.
struct SensitivityRow {
  std::size_t op = 0;
  std::optional<double> output_db;  ///< of the outputs then; nullopt: not possible, see `verdict`
  double bytes_percent = 0, cycles_percent = 0;  ///< more than int8
  bool chosen = false;
  std::string verdict;
};

struct MixedChoice {
  std::vector<delegate::TensorId> wide;  ///< for Options::wide
  std::vector<SensitivityRow> rows;      ///< by operator whose result is a choice of its own
  double int8_db = 0, mixed_db = 0;
  double bytes_percent = 0, cycles_percent = 0;  ///< of the choice
};

/// Measures each result for itself on `samples`, then takes them by the noise that they remove for
/// what they cost (cycles where these are limited, else bytes), each measured again with those
/// taken before. Time: operators x samples runs of the network. kUsage: no limit was given.
base::Result<MixedChoice> choose_mixed(const Calibration& calibration, const Options& options,
                                       const Budget& budget,
                                       std::span<const std::vector<Bytes>> samples);

}  // namespace deputy::quantize
