// Rounding of weights that makes up for its own errors.
//
// An output's error is the sum of its weights' rounding errors times their inputs. Inputs of one
// patch resemble each other, so the error that one weight's rounding makes can be taken back by
// others: weights are rounded one after the other, and those that are left move to where they make
// the expected error least (Frantar and Alistarh 2022, "Optimal Brain Compression"; Frantar et al.
// 2022, "GPTQ"). Then single steps are taken as long as they make the error smaller.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "quantize/moments.h"

namespace deputy::quantize {

/// The weights of one operator and what rounding them costs.
struct RoundingTask {
  const LayerMoments& moments;
  std::size_t channels = 0;         ///< outputs, the same number in each group
  std::span<const double> weights;  ///< channels x taps
  std::span<const double> steps;    ///< by channel
  double largest = 127;             ///< integers are within +-this
  /// Of an input's own rounding: independent of everything, so it weighs each weight's error alone.
  double input_variance = 0;
  bool mean_corrected = true;  ///< the bias takes up the mean of the error
};

/// Mean squared error of an output that integers (channels x taps) cause, on the samples of `sum`.
/// The bias's correction comes from the fitted samples, whatever `sum` is.
double rounding_error(const RoundingTask& task, const MomentSum& sum,
                      std::span<const double> integers);

struct Compensated {
  std::vector<double> integers;
  double gain_db =
      0;  ///< of the outputs' error against `nearest`, on held samples where there are some
};
/// nullopt: no smaller error than that of `nearest` on the fitted samples, or not on the held ones.
std::optional<Compensated> compensate(const RoundingTask& task, std::span<const double> nearest);

}  // namespace deputy::quantize
