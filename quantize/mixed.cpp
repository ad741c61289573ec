#include "quantize/mixed.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "delegate/ops/constraints.h"
#include "delegate/partition/engine_cost.h"
#include "quantize/evaluate.h"
#include "quantize/prepare.h"

namespace deputy::quantize {
namespace {

using delegate::TensorId;

constexpr double kLeastCost = 1e-3;  ///< percent: what costs nothing is still divided by something

double db(double noise) { return noise > 0 ? -10 * std::log10(noise) : HUGE_VAL; }
double percent(double after, double before) {
  return before > 0 ? 100 * (after - before) / before : 0;
}

/// One network and what was seen of it.
struct Trial {
  double noise = 0;  ///< over signal, the mean of the outputs
  double bytes_percent = 0, cycles_percent = 0;
};

class Search {
 public:
  Search(const Calibration& c, const Options& options, const Budget& budget,
         std::span<const std::vector<Bytes>> samples)
      : c_(c), options_(options), budget_(budget), samples_(samples) {}

  base::Result<MixedChoice> run() {
    ranges_ = choose_ranges(c_, options_);
    DEPUTY_TRY(run_floats());
    options_.wide.clear();
    DEPUTY_ASSIGN(const auto plain, quantise(c_, options_, ranges_));
    before_ = cost(plain.graph);
    DEPUTY_ASSIGN(const double noise, noise_of(plain.graph));
    out_.int8_db = db(noise);
    DEPUTY_TRY(measure_each(plain, noise));
    DEPUTY_TRY(take(noise));
    return std::move(out_);
  }

 private:
  base::Status run_floats() {
    const Executor floats(c_.graph(), Numerics::kFp32);
    signal_.assign(c_.graph().outputs.size(), 0);
    for (const auto& sample : samples_) {
      DEPUTY_ASSIGN(const auto outputs, floats.run(sample));
      auto& values = expected_.emplace_back();
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        values.push_back(reals(c_.graph().tensor(c_.graph().outputs[i]).desc, outputs[i]));
        for (const float v : values.back())
          signal_[i] += static_cast<double>(v) * static_cast<double>(v);
      }
    }
    return {};
  }

  base::Result<double> noise_of(const delegate::Graph& graph) const {
    const Executor integers(graph, options_.engine.numerics);
    std::vector<double> noise(signal_.size(), 0);
    for (std::size_t s = 0; s < samples_.size(); ++s) {
      std::vector<Bytes> inputs(samples_[s].begin(), samples_[s].end());
      for (std::size_t i = 0; i < inputs.size(); ++i)
        inputs[i] = integer_input(graph, i, inputs[i]);
      DEPUTY_ASSIGN(const auto outputs, integers.run(inputs));
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        const auto got = reals(graph.tensor(graph.outputs[i]).desc, outputs[i]);
        for (std::size_t k = 0; k < got.size() && k < expected_[s][i].size(); ++k)
          noise[i] +=
              std::pow(static_cast<double>(got[k]) - static_cast<double>(expected_[s][i][k]), 2);
      }
    }
    double sum = 0, counted = 0;
    for (std::size_t i = 0; i < noise.size(); ++i)
      if (signal_[i] > 0) sum += noise[i] / signal_[i], counted += 1;
    return counted > 0 ? sum / counted : 0;
  }

  NetworkCost cost(const delegate::Graph& graph) {
    NetworkCost out;
    for (const delegate::Tensor& t : graph.tensors)
      out.bytes += static_cast<std::uint64_t>(t.desc.bytes());
    for (const delegate::Op& op : graph.ops) {
      auto least = delegate::cpu_cost(graph, op, options_.engine);
      if (!delegate::npu_refusal(graph, op, options_.engine))
        least = std::min(least, delegate::npu_cost(graph, op, options_.engine, tilings_));
      out.picoseconds += static_cast<double>(least);
    }
    return out;
  }

  base::Result<Trial> attempt(std::vector<TensorId> wide, std::vector<bool>* operators = nullptr) {
    options_.wide = std::move(wide);
    DEPUTY_ASSIGN(const auto made, quantise(c_, options_, ranges_));
    if (operators)
      for (const LayerRow& row : made.layers) operators->push_back(row.wide);
    Trial out;
    const NetworkCost now = cost(made.graph);
    out.bytes_percent = percent(static_cast<double>(now.bytes), static_cast<double>(before_.bytes));
    out.cycles_percent = percent(now.picoseconds, before_.picoseconds);
    DEPUTY_ASSIGN(out.noise, noise_of(made.graph));
    return out;
  }

  base::Status measure_each(const Quantised& plain, double noise) {
    std::set<std::vector<bool>> seen;
    for (const LayerRow& layer : plain.layers) {
      if (!layer.integer) continue;
      SensitivityRow row;
      row.op = layer.op;
      std::vector<bool> operators;
      const auto trial = attempt({layer.tensor}, &operators);
      if (!trial.ok()) {
        // What cannot run says why; anything else is no matter of one operator.
        if (trial.error().kind != base::ErrorKind::kUnsupported) return trial.error();
        row.verdict = trial.error().message;
      } else if (!seen.insert(operators).second) {
        continue;  // it shares the scale of one before
      } else {
        row.output_db = db(trial->noise);
        row.bytes_percent = trial->bytes_percent, row.cycles_percent = trial->cycles_percent;
        gains_.push_back({noise - trial->noise, out_.rows.size(), layer.tensor});
      }
      out_.rows.push_back(std::move(row));
    }
    return {};
  }

  double price(const SensitivityRow& row) const {
    const bool cycles = std::isfinite(budget_.cycles_percent);
    return std::max(cycles ? row.cycles_percent : row.bytes_percent, kLeastCost);
  }

  base::Status take(double noise) {
    std::stable_sort(gains_.begin(), gains_.end(), [&](const Gain& a, const Gain& b) {
      return a.noise / price(out_.rows[a.row]) > b.noise / price(out_.rows[b.row]);
    });
    out_.mixed_db = db(noise);
    for (const Gain& gain : gains_) {
      SensitivityRow& row = out_.rows[gain.row];
      if (gain.noise <= 0) {
        row.verdict = "the outputs do not gain";
        continue;
      }
      if (out_.mixed_db >= budget_.target_db) {
        row.verdict = "the target is reached without";
        continue;
      }
      auto wide = out_.wide;
      wide.push_back(gain.tensor);
      const auto trial = attempt(wide);
      if (!trial.ok()) return trial.error();
      if (trial->bytes_percent > budget_.bytes_percent ||
          trial->cycles_percent > budget_.cycles_percent) {
        row.verdict = "beyond the budget";
      } else if (trial->noise >= noise) {
        row.verdict = "no gain beside the others";
      } else {
        row.verdict = "int16", row.chosen = true;
        noise = trial->noise, out_.mixed_db = db(noise), out_.wide = std::move(wide);
        out_.bytes_percent = trial->bytes_percent, out_.cycles_percent = trial->cycles_percent;
      }
    }
    return {};
  }

  struct Gain {
    double noise = 0;
    std::size_t row = 0;
    TensorId tensor = delegate::kNoTensor;
  };

  const Calibration& c_;
  Options options_;
  const Budget budget_;
  std::span<const std::vector<Bytes>> samples_;
  std::vector<Range> ranges_;
  std::vector<std::vector<std::vector<float>>> expected_;  ///< by sample, by output
  std::vector<double> signal_;                             ///< by output
  delegate::TilingCache tilings_;
  NetworkCost before_;
  std::vector<Gain> gains_;
  MixedChoice out_;
};

}  // namespace

base::Status add_to_budget(const std::string& text, Budget& budget) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const std::string number = equals == std::string::npos ? "" : text.substr(equals + 1);
  double* const where = name == "bytes"    ? &budget.bytes_percent
                        : name == "cycles" ? &budget.cycles_percent
                        : name == "sqnr"   ? &budget.target_db
                                           : nullptr;
  double value = 0;
  const char* const end = number.data() + number.size();
  const auto [rest, error] = std::from_chars(number.data(), end, value);
  if (!where || error != std::errc() || rest != end || !std::isfinite(value) || value < 0)
    return base::Error{base::ErrorKind::kUsage, "--budget", fmt::format("'{}' is no budget", text),
                       "bytes=PERCENT, cycles=PERCENT or sqnr=DECIBELS"};
  *where = value;
  return {};
}

base::Result<MixedChoice> choose_mixed(const Calibration& calibration, const Options& options,
                                       const Budget& budget,
                                       std::span<const std::vector<Bytes>> samples) {
  if (!std::isfinite(budget.bytes_percent) && !std::isfinite(budget.cycles_percent) &&
      !std::isfinite(budget.target_db))
    return base::Error{base::ErrorKind::kUsage, "--budget", "nothing limits what becomes int16",
                       "bytes=PERCENT, cycles=PERCENT or sqnr=DECIBELS"};
  return Search(calibration, options, budget, samples).run();
}

}  // namespace deputy::quantize
