#include "quantize/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>

namespace deputy::quantize {
namespace {

using delegate::kNoTensor;
using delegate::TensorId;

constexpr std::array kNames = {"top1", "auc", "anomaly-auc", "mae", "dice"};

base::Error input_error(std::string message) {
  return {base::ErrorKind::kInput, "--labels", std::move(message), ""};
}

template <class T>
bool all_finite(std::span<const T> values) {
  return std::all_of(values.begin(), values.end(), [](T v) { return std::isfinite(v); });
}

/// Mann and Whitney's U over the number of pairs: equal scores count half.
double area(const std::vector<std::pair<float, bool>>& samples, bool& defined) {
  auto sorted = samples;
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  double positives = 0, ranks = 0;
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t j = i;
    while (j < sorted.size() && sorted[j].first == sorted[i].first) ++j;
    const double rank = (static_cast<double>(i + j) + 1) / 2;
    for (; i < j; ++i)
      if (sorted[i].second) positives += 1, ranks += rank;
  }
  const double negatives = static_cast<double>(sorted.size()) - positives;
  defined = positives > 0 && negatives > 0;
  return defined ? (ranks - positives * (positives + 1) / 2) / (positives * negatives) : 0;
}

}  // namespace

std::vector<float> reals(const arch::TensorDesc& desc, std::span<const std::uint8_t> bytes) {
  std::vector<float> out(bytes.size() / dtype_size(desc.dtype));
  if (desc.dtype == DType::kFloat32) {
    if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  } else if (desc.dtype == DType::kInt8) {
    const float scale = desc.quant.present() ? desc.quant.scale[0] : 1;
    const std::int32_t zero = desc.quant.present() ? desc.quant.zero_point[0] : 0;
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = scale * static_cast<float>(static_cast<std::int8_t>(bytes[i]) - zero);
  } else if (desc.dtype == DType::kInt16 && desc.quant.present()) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      std::int16_t v;
      std::memcpy(&v, &bytes[i * sizeof v], sizeof v);
      out[i] = desc.quant.scale[0] * static_cast<float>(v - desc.quant.zero_point[0]);
    }
  } else {
    out.clear();
  }
  return out;
}

LayerNoise::LayerNoise(const Calibration& calibration, const Quantised& quantised,
                       Numerics numerics)
    : calibration_(calibration),
      quantised_(quantised),
      float_(calibration.graph(), Numerics::kFp32),
      integer_(quantised.graph, numerics),
      signal_(calibration.graph().tensors.size(), 0),
      noise_(signal_),
      of_(quantised.graph.tensors.size()) {
  for (std::size_t t = 0; t < signal_.size(); ++t)
    if (quantised_.twin[t] != kNoTensor && !calibration_.graph().tensors[t].constant)
      of_[static_cast<std::size_t>(quantised_.twin[t])].push_back(t);
}

base::Status LayerNoise::add(std::span<const Bytes> inputs) {
  std::vector<std::vector<float>> expected(signal_.size());
  const auto keep = [&](TensorId id, std::span<const std::uint8_t> bytes) -> base::Status {
    expected[static_cast<std::size_t>(id)] = reals(calibration_.graph().tensor(id).desc, bytes);
    return {};
  };
  const auto floats = float_.run(inputs, keep);
  if (!floats.ok()) return floats.error();
  const auto compare = [&](TensorId id, std::span<const std::uint8_t> bytes) -> base::Status {
    if (of_[static_cast<std::size_t>(id)].empty()) return {};
    const auto got = reals(quantised_.graph.tensor(id).desc, bytes);
    for (const std::size_t t : of_[static_cast<std::size_t>(id)])
      for (std::size_t k = 0; k < got.size() && k < expected[t].size(); ++k) {
        const double s = static_cast<double>(expected[t][k]), d = s - static_cast<double>(got[k]);
        signal_[t] += s * s, noise_[t] += d * d;
      }
    return {};
  };
  std::vector<Bytes> given(inputs.begin(), inputs.end());
  for (std::size_t i = 0; i < given.size(); ++i)
    given[i] = integer_input(quantised_.graph, i, given[i]);
  const auto integers = integer_.run(given, compare);
  return integers.ok() ? base::Status{} : base::Status{integers.error()};
}

std::optional<double> LayerNoise::sqnr_db(TensorId id) const {
  const auto t = static_cast<std::size_t>(id);
  if (signal_[t] <= 0) return std::nullopt;
  if (noise_[t] <= 0) return HUGE_VAL;
  return 10 * std::log10(signal_[t] / noise_[t]);
}

Bytes integer_input(const delegate::Graph& graph, std::size_t index, const Bytes& bytes) {
  const arch::TensorDesc& desc = graph.tensor(graph.inputs[index]).desc;
  if (desc.dtype != DType::kInt8 ||
      bytes.size() != static_cast<std::size_t>(desc.elements()) * sizeof(float))
    return bytes;
  Bytes out(static_cast<std::size_t>(desc.elements()));
  for (std::size_t k = 0; k < out.size(); ++k) {
    float v;
    std::memcpy(&v, &bytes[k * sizeof v], sizeof v);
    const float q =
        std::nearbyint(v / desc.quant.scale[0]) + static_cast<float>(desc.quant.zero_point[0]);
    // What is no number becomes the lowest, as in the QUANTIZE kernels.
    const float bounded = q > -128.0f ? std::min(q, 127.0f) : -128.0f;
    out[k] = static_cast<std::uint8_t>(static_cast<std::int8_t>(bounded));
  }
  return out;
}

std::optional<Metric> metric_from(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<Metric>(i);
  return std::nullopt;
}
std::string_view metric_name(Metric metric) { return kNames[static_cast<std::size_t>(metric)]; }
bool higher_is_better(Metric metric) { return metric != Metric::kMae; }

base::Status Meter::add(std::span<const float> output, std::span<const float> input,
                        std::span<const double> label) {
  if (output.empty())
    return input_error("the network's first output is empty, or of a type without reals");
  if (label.empty()) return input_error("there is no label for a sample");
  if (!all_finite(label)) return input_error("a label is not a finite number");
  if (!all_finite(output))
    return input_error("the network makes a value that is NaN or infinite of a sample");
  const bool scalar =
      metric_ == Metric::kTop1 || metric_ == Metric::kAuc || metric_ == Metric::kAnomalyAuc;
  if (scalar && label.size() != 1)
    return input_error(fmt::format("{} wants one number a sample, there are {}",
                                   metric_name(metric_), label.size()));
  switch (metric_) {
    case Metric::kTop1: {
      const auto best = std::max_element(output.begin(), output.end()) - output.begin();
      sum_ += static_cast<double>(best) == label[0], count_ += 1;
      return {};
    }
    case Metric::kAuc:
      scores_.emplace_back(output.begin(), output.end()), labels_.push_back(label[0]);
      return {};
    case Metric::kAnomalyAuc: {
      if (input.size() != output.size())
        return input_error(
            fmt::format("the output has {} values, the input {}", output.size(), input.size()));
      double error = 0;
      for (std::size_t k = 0; k < output.size(); ++k)
        error += std::pow(static_cast<double>(output[k]) - static_cast<double>(input[k]), 2);
      scores_.push_back({static_cast<float>(error)}), labels_.push_back(label[0]);
      return {};
    }
    case Metric::kMae:
      if (label.size() != output.size())
        return input_error(fmt::format("mae wants {} numbers a sample, there are {}", output.size(),
                                       label.size()));
      for (std::size_t k = 0; k < output.size(); ++k)
        sum_ += std::fabs(static_cast<double>(output[k]) - label[k]);
      count_ += static_cast<double>(output.size());
      return {};
    case Metric::kDice: {
      if (output.size() % label.size())
        return input_error(
            fmt::format("{} labels do not fit {} outputs", label.size(), output.size()));
      const std::size_t classes = output.size() / label.size();
      both_.resize(std::max<std::size_t>(classes, 2), 0), either_.resize(both_.size(), 0);
      for (std::size_t k = 0; k < label.size(); ++k) {
        const auto* at = &output[k * classes];
        const auto got = classes == 1
                             ? static_cast<std::size_t>(at[0] > 0.5f)
                             : static_cast<std::size_t>(std::max_element(at, at + classes) - at);
        if (!(label[k] >= 0 && label[k] < static_cast<double>(both_.size())))
          return input_error(
              fmt::format("a label is {}, there are {} classes", label[k], both_.size()));
        const auto want = static_cast<std::size_t>(label[k]);
        either_[got] += 1, either_[want] += 1, both_[got] += got == want ? 2 : 0;
      }
      return {};
    }
  }
  return {};
}

base::Result<double> Meter::value() const {
  switch (metric_) {
    case Metric::kTop1:
    case Metric::kMae:
      if (count_ <= 0) return input_error("there is no sample");
      return sum_ / count_;
    case Metric::kDice: {
      double sum = 0, classes = 0;
      // The background, class 0, counts only where nothing else does.
      for (std::size_t c = 1; c < both_.size(); ++c)
        if (either_[c] > 0) sum += both_[c] / either_[c], classes += 1;
      if (classes <= 0) return input_error("no class besides 0 occurs: dice is not defined");
      return sum / classes;
    }
    default:
      break;
  }
  const std::size_t width = scores_.empty() ? 0 : scores_[0].size();
  double sum = 0, classes = 0;
  for (std::size_t c = width > 2 ? 0 : (width == 2 ? 1 : 0); c < width; ++c) {
    std::vector<std::pair<float, bool>> samples;
    for (std::size_t i = 0; i < scores_.size(); ++i)
      samples.emplace_back(scores_[i][c],
                           width > 2 ? labels_[i] == static_cast<double>(c) : labels_[i] > 0);
    bool defined = false;
    const double a = area(samples, defined);
    if (defined) sum += a, classes += 1;
  }
  if (classes <= 0) return input_error("auc needs samples of two classes");
  return sum / classes;
}

}  // namespace deputy::quantize
