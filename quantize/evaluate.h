// How much a network lost: by layer as a ratio of signal to noise, and at its end as a metric on
// labelled samples.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "quantize/quantize.h"

namespace deputy::quantize {

/// The values of a tensor as reals: floats as they are, integers by their scale.
std::vector<float> reals(const arch::TensorDesc& desc, std::span<const std::uint8_t> bytes);

/// A float sample as graph input `index` wants it: rounded where that is int8, else as it is.
Bytes integer_input(const delegate::Graph& graph, std::size_t index, const Bytes& bytes);

/// Sums over samples; sqnr_db() of a layer is 10 log10 of its signal over its noise. The noise of a
/// layer is that of all layers before it too: both networks run whole.
class LayerNoise {
 public:
  /// Both must outlive this object.
  LayerNoise(const Calibration& calibration, const Quantised& quantised, Numerics numerics);
  base::Status add(std::span<const Bytes> inputs);
  /// nullopt: nothing to compare, or the signal was zero. Without noise: infinity.
  std::optional<double> sqnr_db(delegate::TensorId float_tensor) const;

 private:
  const Calibration& calibration_;
  const Quantised& quantised_;
  Executor float_, integer_;
  std::vector<double> signal_, noise_;
  std::vector<std::vector<std::size_t>> of_;  // by integer tensor: the float ones it stands for
};

/// top1: share of samples whose largest output is the label. auc: area under the ROC curve of the
/// output (of each class against the others, averaged, when there are more than two); anomaly-auc:
/// of the squared error between output and input. mae: mean absolute error against an array. dice:
/// 2 |A and B| / (|A| + |B|), averaged over classes that occur.
enum class Metric : std::uint8_t { kTop1, kAuc, kAnomalyAuc, kMae, kDice };
std::optional<Metric> metric_from(std::string_view name);
std::string_view metric_name(Metric metric);
bool higher_is_better(Metric metric);

/// Metric of one network, sample by sample.
class Meter {
 public:
  explicit Meter(Metric metric) : metric_(metric) {}
  /// `output`, `input`: reals; `label`: one number, or an array for mae and dice. kInput: they do
  /// not fit each other.
  base::Status add(std::span<const float> output, std::span<const float> input,
                   std::span<const double> label);
  /// kInput: it is not defined (no sample, or one class only for auc).
  base::Result<double> value() const;

 private:
  Metric metric_;
  double sum_ = 0, count_ = 0;
  std::vector<std::vector<float>> scores_;  ///< by sample, for auc
  std::vector<double> labels_;
  std::vector<double> both_, either_;  ///< by class, for dice
};

}  // namespace deputy::quantize
