// deputy quantize
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "api/digest.h"
#include "api/import_model.h"
#include "delegate/import/explicit_pads.h"
#include "delegate/import/onnx/onnx_export.h"
#include "delegate/import/tflite_export.h"
#include "quantize/choose.h"
#include "quantize/evaluate.h"
#include "quantize/mixed.h"
#include "tools/cli/common.h"
#include "tools/files.h"
#include "tools/quantise_report.h"
#include "tools/samples.h"
#include "tools/simulator/target.h"

namespace deputy::tools {
namespace {

using quantize::Bytes;

constexpr std::uint64_t kSaveEvery = 16;       ///< samples
constexpr std::uint64_t kNoiseSamples = 32;    ///< for the layers' SQNR
constexpr std::uint64_t kFirstSamples = 16;    ///< for equalisation
constexpr std::uint64_t kMomentSamples = 512;  ///< for compensated rounding
constexpr std::uint64_t kHeldEvery = 4;        ///< of these one judges and is not fitted to
constexpr std::uint64_t kLeastMoments = 32;  ///< fewer tell too little of how inputs vary together
constexpr std::uint64_t kTrialSamples = 64;  ///< for the method and mixed precision

base::Error usage(const char* where, std::string message, std::string remedy = "") {
  return {base::ErrorKind::kUsage, where, std::move(message), std::move(remedy)};
}

quantize::Options quantise_options(const SimulateOptions& simulate,
                                   const QuantizeCommand& command) {
  quantize::Options out;
  out.engine = soc_compile_options(simulate.soc);
  out.engine.numerics = simulate.numerics;
  if (command.method != "auto") out.method = *quantize::range_method(command.method);
  out.percentile = command.percentile;
  out.weights.per_channel = !command.per_tensor;
  // Every ONNX runtime takes a scale for each row, TFLite's older kernels take one for a matrix.
  out.weights.matrix_per_channel =
      command.matrix_per_channel || (command.output.ends_with(".onnx") && !command.per_tensor);
  out.weights.correct_bias = !command.no_bias_correction;
  out.weights.rounding = command.rounding == "nearest" ? quantize::Rounding::kNearest
                                                       : quantize::Rounding::kCompensated;
  out.equalise = command.equalise == "on"    ? quantize::Equalise::kOn
                 : command.equalise == "off" ? quantize::Equalise::kOff
                                             : quantize::Equalise::kAuto;
  out.float_io = command.io == "float";
  out.keep_float = command.keep_float;
  return out;
}

/// Everything that changes what is measured: the samples and the prepared graph.
std::string calibration_key(const std::vector<std::uint8_t>& model, const Samples& samples,
                            const quantize::Calibration& c) {
  std::vector<Bytes> constants;
  for (const delegate::Tensor& t : c.graph().tensors) constants.push_back(t.data);
  const std::uint64_t prepared = quantize::hash_samples(quantize::hash_start(), constants);
  return fmt::format("{} {} {:016x}", api::hex(api::sha256(model)), samples.identity(), prepared);
}

/// Takes up a calibration that was interrupted, if its samples are still what they were.
base::Status resume(quantize::Calibration& c, const std::string& file, const std::string& key,
                    const Samples& samples, std::uint64_t count) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return {};
  DEPUTY_ASSIGN(const auto bytes, read_file(file));
  quantize::Calibration saved = c;
  const auto stale = [&](const char* why) {
    fmt::print(stderr, "deputy: note: {} is not used: {}\n", file, why);
    return base::Status{};
  };
  if (!saved.restore(bytes, key))
    return stale("it is of another model or other samples, or damaged");
  if (saved.samples() > count) return stale("it has more samples than were asked for");
  std::uint64_t hash = quantize::hash_start();
  for (std::uint64_t i = 0; i < saved.samples(); ++i) {
    DEPUTY_ASSIGN(const auto inputs, samples.get(i));
    hash = quantize::hash_samples(hash, inputs);
  }
  if (hash != saved.sample_hash()) return stale("the samples have changed");
  c = std::move(saved);
  return {};
}

/// Labels of one sample at a time, or the sample itself.
class Labels {
 public:
  static base::Result<Labels> open(const std::string& file, std::uint64_t samples) {
    Labels out;
    if (file == "input") return out;
    DEPUTY_ASSIGN(const auto bytes, read_file(file));
    DEPUTY_ASSIGN(const auto array, parse_npy(bytes, file));
    const std::size_t size = dtype_size(array.dtype), count = array.data.size() / size;
    if (samples == 0 || count % samples != 0)
      return base::Error{base::ErrorKind::kInput, file,
                         fmt::format("holds {} labels for {} samples", count, samples),
                         "give as many as samples, or an array for each"};
    out.per_sample_ = count / samples;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint8_t* at = &array.data[i * size];
      const auto as = [&](auto zero) {
        std::memcpy(&zero, at, sizeof zero);
        return static_cast<double>(zero);
      };
      switch (array.dtype) {
        case DType::kInt8:
          out.values_.push_back(as(std::int8_t{}));
          break;
        case DType::kUint8:
        case DType::kBool:
          out.values_.push_back(as(std::uint8_t{}));
          break;
        case DType::kInt16:
          out.values_.push_back(as(std::int16_t{}));
          break;
        case DType::kInt32:
          out.values_.push_back(as(std::int32_t{}));
          break;
        case DType::kInt64:
          out.values_.push_back(as(std::int64_t{}));
          break;
        case DType::kFloat32:
          out.values_.push_back(as(float{}));
          break;
        case DType::kFloat64:
          out.values_.push_back(as(double{}));
          break;
        default:
          return base::Error{
              base::ErrorKind::kInput, file,
              fmt::format("labels of type {} are not taken", dtype_name(array.dtype)),
              "save them as int64 or float32"};
      }
    }
    return out;
  }
  std::vector<double> of(std::uint64_t sample, const std::vector<float>& input) const {
    if (per_sample_ == 0) return {input.begin(), input.end()};
    const auto at = values_.begin() + static_cast<std::ptrdiff_t>(sample * per_sample_);
    return {at, at + static_cast<std::ptrdiff_t>(per_sample_)};
  }

 private:
  std::size_t per_sample_ = 0;  ///< 0: the input is the label
  std::vector<double> values_;
};

std::ptrdiff_t largest(const std::vector<float>& v) {
  return std::max_element(v.begin(), v.end()) - v.begin();
}

base::Result<MetricRow> evaluate(const QuantizeCommand& command, const delegate::Graph& before,
                                 const delegate::Graph& after, Numerics numerics,
                                 Progress& progress) {
  DEPUTY_ASSIGN(const auto samples,
                Samples::open(command.eval.empty() ? command.calib : command.eval, before));
  DEPUTY_ASSIGN(const auto labels, Labels::open(command.labels, samples.size()));
  const auto metric = *quantize::metric_from(command.metric);
  quantize::Meter first(metric), second(metric);
  const quantize::Executor floats(before, Numerics::kFp32), integers(after, numerics);
  std::uint64_t same = 0;
  double signal = 0, noise = 0;
  for (std::uint64_t i = 0; i < samples.size(); ++i) {
    progress.show(fmt::format("evaluating {}/{}", i + 1, samples.size()));
    DEPUTY_ASSIGN(auto inputs, samples.get(i));
    const auto input = quantize::reals(before.tensor(before.inputs[0]).desc, inputs[0]);
    const auto label = labels.of(i, input);
    DEPUTY_ASSIGN(const auto a, floats.run(inputs));
    const auto real = quantize::reals(before.tensor(before.outputs[0]).desc, a[0]);
    DEPUTY_TRY(first.add(real, input, label));
    for (std::size_t k = 0; k < inputs.size(); ++k)
      inputs[k] = quantize::integer_input(after, k, inputs[k]);
    DEPUTY_ASSIGN(const auto b, integers.run(inputs));
    const auto integer = quantize::reals(after.tensor(after.outputs[0]).desc, b[0]);
    DEPUTY_TRY(second.add(integer, input, label));
    same += largest(real) == largest(integer);
    for (std::size_t k = 0; k < std::min(real.size(), integer.size()); ++k) {
      const double r = static_cast<double>(real[k]), d = r - static_cast<double>(integer[k]);
      signal += r * r, noise += d * d;
    }
  }
  MetricRow row{command.metric, samples.size(), 0, 0, quantize::higher_is_better(metric), same, {}};
  if (signal > 0) row.sqnr_db = noise > 0 ? 10 * std::log10(signal / noise) : HUGE_VAL;
  DEPUTY_ASSIGN(row.before, first.value());
  DEPUTY_ASSIGN(row.after, second.value());
  return row;
}

base::Result<std::vector<std::uint8_t>> export_model(const delegate::Graph& graph,
                                                     const std::string& output) {
  if (output.ends_with(".onnx")) return delegate::export_onnx(graph);
  DEPUTY_ASSIGN(const auto padded, delegate::with_pad_operators(graph));
  return delegate::export_tflite(padded);
}

std::uint64_t constant_bytes(const delegate::Graph& graph) {
  std::uint64_t out = 0;
  for (const delegate::Tensor& t : graph.tensors) out += t.data.size();
  return out;
}

base::Status run(const CommonOptions& common, const QuantizeCommand& command) {
  if (!command.output.ends_with(".onnx") && !command.output.ends_with(".tflite"))
    return usage("-o", fmt::format("'{}' is neither .onnx nor .tflite", command.output),
                 "the ending says which format is written");
  quantize::Budget budget;
  for (const std::string& text : command.budget) DEPUTY_TRY(quantize::add_to_budget(text, budget));
  if (command.mixed && command.budget.empty())
    return usage("--mixed", "it needs a --budget",
                 "bytes=PERCENT, cycles=PERCENT or sqnr=DECIBELS");
  if (command.labels.empty() != command.metric.empty())
    return usage("--labels", "--labels and --metric go together");
  // The rounding follows from the format that is written.
  DEPUTY_ASSIGN(const auto simulate, simulate_options(common, command.output));
  quantize::Options options = quantise_options(simulate, command);
  DEPUTY_ASSIGN(auto model, load_model_file(command.model, simulate.bindings));
  DEPUTY_TRY(quantize::check_float(model.graph));
  if (!api::is_tflite(model.bytes)) options.sources = delegate::onnx_source_names(model.bytes);
  DEPUTY_ASSIGN(const auto samples, Samples::open(command.calib, model.graph));
  const std::uint64_t count =
      command.max_samples ? std::min(command.max_samples, samples.size()) : samples.size();
  std::vector<std::vector<Bytes>> first;
  for (std::uint64_t i = 0; i < std::min(count, kFirstSamples); ++i) {
    DEPUTY_ASSIGN(auto inputs, samples.get(i));
    first.push_back(std::move(inputs));
  }
  DEPUTY_ASSIGN(options.equalise, quantize::choose_equalise(model.graph, options, first));
  DEPUTY_ASSIGN(auto calibration, quantize::Calibration::begin(model.graph, options, first));
  const std::string key = calibration_key(model.bytes, samples, calibration);
  const std::string state =
      command.calibration.empty() ? command.output + ".calibration" : command.calibration;
  DEPUTY_TRY(resume(calibration, state, key, samples, count));
  QuantiseReport report;
  report.resumed = calibration.samples();
  {
    Progress progress;
    for (std::uint64_t i = calibration.samples(); i < count; ++i) {
      progress.show(fmt::format("calibrating {}/{}", i + 1, count));
      DEPUTY_ASSIGN(const auto inputs, samples.get(i));
      DEPUTY_TRY(calibration.add(inputs));
      if ((i + 1) % kSaveEvery == 0 || i + 1 == count)
        DEPUTY_TRY(write_file(state, calibration.save(key)));
    }
  }
  std::vector<std::vector<Bytes>> spread;  // over all of them: the first may be of one kind
  if (command.mixed || command.method == "auto")
    for (std::uint64_t i = 0; i < std::min(count, kTrialSamples); ++i) {
      DEPUTY_ASSIGN(auto inputs, samples.get(i * count / std::min(count, kTrialSamples)));
      spread.push_back(std::move(inputs));
    }
  const std::uint64_t taken = std::min(count, kMomentSamples);
  if (options.weights.rounding == quantize::Rounding::kCompensated && taken >= kLeastMoments) {
    Progress progress;
    for (std::uint64_t i = 0; i < taken; ++i) {
      progress.show(fmt::format("measuring moments {}/{}", i + 1, taken));
      DEPUTY_ASSIGN(const auto inputs, samples.get(i * count / taken));
      DEPUTY_TRY(calibration.add_moments(inputs, i % kHeldEvery == kHeldEvery - 1));
    }
  }
  if (command.method == "auto") {
    DEPUTY_ASSIGN(options.method, quantize::choose_method(calibration, options, spread));
  }
  if (command.mixed) {
    DEPUTY_ASSIGN(report.mixed, quantize::choose_mixed(calibration, options, budget, spread));
    options.wide = report.mixed->wide;
  }
  DEPUTY_ASSIGN(report.result, quantize::quantise(calibration, options));
  if (options.weights.rounding == quantize::Rounding::kCompensated && taken < kLeastMoments)
    report.result.warnings.push_back(
        fmt::format("weights are rounded to the nearest integers: compensation takes {} samples",
                    kLeastMoments));
  DEPUTY_ASSIGN(const auto bytes, export_model(report.result.graph, command.output));
  report.model = command.model, report.output = command.output,
  report.method = quantize::range_method_name(options.method);
  report.numerics = numerics_name(options.engine.numerics), report.samples = count;
  report.equalised = calibration.equalised(), report.folded = calibration.folded();
  report.file_before = std::filesystem::file_size(command.model), report.file_after = bytes.size();
  report.constants_before = constant_bytes(model.graph),
  report.constants_after = constant_bytes(report.result.graph);
  {
    Progress progress;
    quantize::LayerNoise noise(calibration, report.result, options.engine.numerics);
    for (std::uint64_t i = 0; i < std::min(count, kNoiseSamples); ++i) {
      progress.show(fmt::format("comparing {}/{}", i + 1, std::min(count, kNoiseSamples)));
      DEPUTY_ASSIGN(const auto inputs, samples.get(i));
      DEPUTY_TRY(noise.add(inputs));
    }
    for (const quantize::LayerRow& row : report.result.layers)
      report.sqnr_db.push_back(noise.sqnr_db(row.tensor));
    report.output_sqnr_db = noise.sqnr_db(calibration.graph().outputs[0]);
    if (!command.metric.empty()) {
      DEPUTY_ASSIGN(report.metric, evaluate(command, model.graph, report.result.graph,
                                            options.engine.numerics, progress));
    }
  }
  DEPUTY_TRY(write_file(command.output, bytes));
  if (!command.report.empty()) DEPUTY_TRY(write_text(command.report, quantise_json(report)));
  std::error_code error;
  if (command.calibration.empty()) std::filesystem::remove(state, error);
  fmt::print("{}", command.json ? quantise_json(report) : quantise_text(report, !command.quiet));
  return {};
}

}  // namespace

int quantize_command(const CommonOptions& common, const QuantizeCommand& command) {
  return finish(run(common, command));
}

}  // namespace deputy::tools
