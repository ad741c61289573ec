// Weights and biases of one operator as integers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "delegate/ir/graph.h"
#include "quantize/moments.h"
#include "quantize/statistics.h"

namespace deputy::quantize {

/// How weights become integers: each to its nearest one, or so that their errors cancel
/// (compensate.h), for which calibration measures moments.
enum class Rounding : std::uint8_t { kNearest, kCompensated };

struct WeightOptions {
  bool per_channel = true;  ///< convolutions: a scale for each output channel
  bool matrix_per_channel =
      false;  ///< FULLY_CONNECTED too; TFLite's older kernels take one scale only
  bool correct_bias = true;
  Rounding rounding = Rounding::kNearest;
};

struct IntegerWeights {
  delegate::Tensor weights;  ///< int8, symmetric, in [-127, 127]
  delegate::Tensor bias;     ///< int32 (int64 for int16 maps), in steps of input's scale x weights'
  int raised = 0;            ///< channels whose scale was raised so that bias and sum fit
  double most_raised = 1;    ///< by how much at most
  std::optional<double> compensated_db;  ///< what the outputs' error fell by, where it did
};

/// `op` is_weighted(). `input`: its input's quantisation, int16 if `wide`; `statistics` what
/// calibration saw of it, `moments` too, or nullptr. With correct_bias the bias takes up what the
/// rounding of weights shifts the mean of each output by (Nagel et al. 2019, section 4.2).
/// kUnsupported: the sum of one output does not fit (32 bits; 48 for int16 maps, as TFLite has it)
/// with any scale.
base::Result<IntegerWeights> quantise_weights(const delegate::Graph& graph, const delegate::Op& op,
                                              const Quantisation& input, bool wide,
                                              const TensorStatistics& statistics,
                                              const LayerMoments* moments,
                                              const WeightOptions& options);

}  // namespace deputy::quantize
