#include "quantize/choose.h"

#include "quantize/evaluate.h"

namespace deputy::quantize {
namespace {

constexpr double kWorthwhile = 0.5;  ///< decibels

base::Result<double> output_db(const delegate::Graph& graph, const Options& options,
                               std::span<const std::vector<Bytes>> first) {
  DEPUTY_ASSIGN(auto calibration, Calibration::begin(graph, options, first));
  for (const auto& sample : first) DEPUTY_TRY(calibration.add(sample));
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
  DEPUTY_ASSIGN(const double without, output_db(graph, trial, first));
  trial.equalise = Equalise::kOn;
  DEPUTY_ASSIGN(const double with, output_db(graph, trial, first));
  return with > without + kWorthwhile ? Equalise::kOn : Equalise::kOff;
}

}  // namespace deputy::quantize
