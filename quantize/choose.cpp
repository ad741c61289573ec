#include "quantize/choose.h"

#include "quantize/equalise.h"
#include "quantize/evaluate.h"

namespace deputy::quantize {
namespace {

constexpr double kWorthwhile = 0.5;  ///< decibels

base::Result<double> output_db(const Calibration& calibration, const Options& options,
                               std::span<const std::vector<Bytes>> first) {
  DEPUTY_ASSIGN(const auto made, quantise(calibration, options));
  LayerNoise noise(calibration, made, options.engine.numerics);
  for (const auto& sample : first) DEPUTY_TRY(noise.add(sample));
  return noise.sqnr_db(calibration.graph().outputs[0]).value_or(0);
}

}  // namespace

base::Result<Equalise> choose_equalise(const delegate::Graph& graph, const Options& options,
                                       std::span<const std::vector<Bytes>> first) {
  if (options.equalise != Equalise::kAuto || first.empty())
    return options.equalise == Equalise::kOn ? Equalise::kOn : Equalise::kOff;
  Options trial = options;
  trial.equalise = Equalise::kOff;
  DEPUTY_ASSIGN(auto plain, Calibration::begin(graph, trial, first));
  if (equalisable(plain.graph()) == 0) return Equalise::kOff;
  for (const auto& sample : first) DEPUTY_TRY(plain.add(sample));
  DEPUTY_ASSIGN(const double without, output_db(plain, trial, first));
  trial.equalise = Equalise::kOn;
  DEPUTY_ASSIGN(auto balanced, Calibration::begin(graph, trial, first));
  for (const auto& sample : first) DEPUTY_TRY(balanced.add(sample));
  DEPUTY_ASSIGN(const double with, output_db(balanced, trial, first));
  return with > without + kWorthwhile ? Equalise::kOn : Equalise::kOff;
}

base::Result<RangeMethod> choose_method(const Calibration& calibration, const Options& options,
                                        std::span<const std::vector<Bytes>> samples) {
  Options trial = options;
  trial.method = RangeMethod::kMinMax;
  if (samples.empty() || calibration.samples() == 0) return trial.method;
  DEPUTY_ASSIGN(const double whole, output_db(calibration, trial, samples));
  RangeMethod best = RangeMethod::kMinMax;
  double most = whole + kWorthwhile;
  for (const RangeMethod method : {RangeMethod::kMse, RangeMethod::kPercentile,
                                   RangeMethod::kMovingAverage, RangeMethod::kEntropy}) {
    trial.method = method;
    DEPUTY_ASSIGN(const double db, output_db(calibration, trial, samples));
    if (db > most) most = db, best = method;
  }
  return best;
}

}  // namespace deputy::quantize
