#include "tools/stream/window_chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "workloads/eeg_signal.h"
#include "workloads/ppg_signal.h"

namespace deputy::tools {
namespace {

using host_runtime::Buffer;
using host_runtime::DspTask;

/// A frame is `planes` rows of `step` samples; a sample of a plane is `channels` values. The window
/// is as many rows of `window` samples.
struct Geometry {
  double rate = 0;
  std::uint32_t planes = 1, channels = 1, window = 0, step = 0;
  std::uint32_t values() const { return planes * channels * step; }
  std::uint32_t window_bytes() const { return planes * channels * window; }
  FrameShape shape() const { return {2 * values(), step, rate}; }
};

// workloads/streams/train.py: UNIT. Another scale would read the same bytes as another signal.
constexpr float kInputScale = 1.0f / 32;

class WindowChain : public FrameChain {
 public:
  explicit WindowChain(const Geometry& geometry) : g_(geometry) {}

 protected:
  /// The network's only output has `values` of int8.
  base::Result<arch::TensorDesc> output(std::int64_t values) const {
    const arch::Executable& e = p_.session->executable();
    const arch::TensorDesc& desc = e.tensors[e.outputs[0]].desc;
    if (e.outputs.size() != 1 || desc.dtype != DType::kInt8 || desc.elements() != values)
      return base::Error{base::ErrorKind::kConfig, p_.scenario->model,
                         fmt::format("chain '{}' wants one output of int8 with {} numbers",
                                     p_.scenario->chain, values),
                         "use another model or chain"};
    return desc;
  }
  base::Status set_up() override {
    const arch::Executable& e = p_.session->executable();
    const Quantisation& in = e.tensors[e.inputs[0]].desc.quant;
    if (in.scale != std::vector{kInputScale} || in.zero_point != std::vector<std::int32_t>{0})
      return base::Error{base::ErrorKind::kConfig, p_.scenario->model,
                         fmt::format("chain '{}' hands over int8 in steps of {} and zero point 0, "
                                     "and its input is quantised otherwise",
                                     p_.scenario->chain, kInputScale),
                         "calibrate it as workloads/streams/train.py does"};
    for (Buffer& window : window_) DEPUTY_TRY(make(window, g_.window_bytes()));
    DEPUTY_ASSIGN(entry_, p_.firmware->entry("quantise"));
    return {};
  }
  base::Status restart() override {
    whole_ = 0;  // the window fills again
    return {};
  }

 private:
  std::uint64_t input_bytes() const override { return g_.window_bytes(); }
  const Buffer* take() override {
    turn_ = !turn_;
    whole_ = std::min(whole_ + g_.step, g_.window);
    return whole_ < g_.window ? nullptr : &window_[turn_];
  }

  // The old window without its first samples, and the new samples, go to the other buffer.
  DspTask task(const Buffer& raw) override {
    using Kind = arch::DspCommandKind;
    const std::uint32_t kept = (g_.window - g_.step) * g_.channels, fresh = g_.step * g_.channels,
                        row = g_.window * g_.channels;
    const std::uint32_t blocks = (g_.values() + 127) / 128, quantised = blocks * 256,
                        old = quantised + blocks * 128;
    DspTask t;
    t.firmware = p_.firmware;
    t.regions = {{raw, true, false}, {window_[turn_], true, false}, {window_[!turn_], false, true}};
    t.load(1, 0, 0, 2 * g_.values());
    const std::uint32_t arguments[] = {0, quantised, blocks};
    t.run(entry_, arguments);
    t.commands.push_back(transfer_rows(Kind::kLoad, 2, {fresh, row}, {old, kept}, kept, g_.planes));
    t.commands.push_back(transfer_rows(Kind::kStore, 3, {0, row}, {old, kept}, kept, g_.planes));
    t.commands.push_back(
        transfer_rows(Kind::kStore, 3, {kept, row}, {quantised, fresh}, fresh, g_.planes));
    return t;
  }

  Geometry g_;
  Buffer window_[2];
  std::uint32_t entry_ = 0, whole_ = 0;
  std::size_t turn_ = 0;
};

constexpr Geometry kPpg = {.rate = workloads::kPpgRate,
                           .planes = 1,
                           .channels = workloads::kPpgChannels,
                           .window = 256,
                           .step = 32};
constexpr Geometry kEeg = {.rate = workloads::kEegRate,
                           .planes = workloads::kEegChannels,
                           .channels = 1,
                           .window = 512,
                           .step = 64};

constexpr double kRateOffset = 110;  ///< workloads/streams/train.py: beats a minute of a score of 0

class HeartRateChain final : public WindowChain {
 public:
  HeartRateChain() : WindowChain(kPpg) {}

 private:
  base::Status set_up() override {
    DEPUTY_TRY(WindowChain::set_up());
    DEPUTY_ASSIGN(const arch::TensorDesc rate, output(1));
    scale_ = rate.quant.scale.at(0), zero_ = rate.quant.zero_point.at(0);
    return {};
  }
  void conclude(StreamDecision& d) override {
    d.value = kRateOffset + scale_ * static_cast<double>(d.scores[0] - zero_);
  }
  double scale_ = 0;
  std::int64_t zero_ = 0;
};

class SeizureChain final : public WindowChain {
 public:
  SeizureChain() : WindowChain(kEeg) {}

 private:
  static constexpr std::uint32_t kWindows = 8, kBegins = 6, kEnds = 2;
  base::Status set_up() override {
    DEPUTY_TRY(WindowChain::set_up());
    DEPUTY_TRY(output(2));
    return {};
  }
  base::Status restart() override {
    seen_ = 0, alarm_ = false;
    return WindowChain::restart();
  }
  void conclude(StreamDecision& d) override {
    seen_ = ((seen_ << 1) | static_cast<std::uint32_t>(d.kind)) & ((1u << kWindows) - 1);
    const auto seizures = static_cast<std::uint32_t>(std::popcount(seen_));
    alarm_ = alarm_ ? seizures > kEnds : seizures >= kBegins;
    d.kind = alarm_;
  }
  std::uint32_t seen_ = 0;  ///< a bit for each of the last windows
  bool alarm_ = false;
};

/// Frames of int16, plane by plane, of samples that lie channel by channel.
std::vector<std::vector<std::uint8_t>> frames_of(const std::vector<std::int16_t>& samples,
                                                 const Geometry& g) {
  std::vector<std::vector<std::uint8_t>> out(samples.size() / g.values());
  const std::uint32_t sample = g.planes * g.channels;
  for (std::size_t f = 0; f < out.size(); ++f)
    for (std::uint32_t plane = 0; plane < g.planes; ++plane)
      for (std::uint32_t i = 0; i < g.step; ++i)
        for (std::uint32_t channel = 0; channel < g.channels; ++channel) {
          const auto v = static_cast<std::uint16_t>(
              samples[(f * g.step + i) * sample + plane * g.channels + channel]);
          out[f].push_back(static_cast<std::uint8_t>(v));
          out[f].push_back(static_cast<std::uint8_t>(v >> 8));
        }
  return out;
}

// A label at the last sample of each window that is whole: the mean rate in it.
base::Result<StreamSignal> ppg_signal(const StreamScenario& scenario) {
  const auto made = workloads::make_ppg(static_cast<std::uint64_t>(scenario.source.seed),
                                        scenario.source.seconds);
  StreamSignal out;
  out.frames = frames_of(made.samples, kPpg);
  for (std::size_t last = kPpg.window - 1; last < out.frames.size() * kPpg.step; last += kPpg.step)
    out.labels.push_back(
        {static_cast<std::int64_t>(last), made.moving[last] ? 1 : 0, made.rate(last, kPpg.window)});
  return out;
}

base::Result<StreamSignal> eeg_signal(const StreamScenario& scenario) {
  const auto made = workloads::make_eeg({.seed = static_cast<std::uint64_t>(scenario.source.seed),
                                         .seconds = scenario.source.seconds});
  StreamSignal out;
  out.frames = frames_of(made.samples, kEeg);
  for (const workloads::Seizure& s : made.seizures) {
    out.labels.push_back({s.begin, 1});
    out.labels.push_back({s.end, 0});
  }
  return out;
}

}  // namespace

const ChainInfo& ppg_chain() {
  static const ChainInfo info = {
      .name = "ppg",
      .doc =
          "green and infrared light, motion along and across the arm, int16 at 32 Hz; heart "
          "rate each second from 8 s",
      .shape = kPpg.shape(),
      .classes = {"still", "moving"},
      .kernels = {{"quantise", "quantise", {{"SHIFT", 8}}}},
      .tolerance_s = 0.5,
      .blind_s = 0,
      .signal = ppg_signal,
      .make = []() -> std::unique_ptr<Chain> { return std::make_unique<HeartRateChain>(); },
      .judge = Judge::kValue,
      .unit = "bpm"};
  return info;
}

const ChainInfo& eeg_chain() {
  static const ChainInfo info = {
      .name = "eeg",
      .doc = "22 channels of EEG, int16 at 256 Hz; seizure or not four times a second from 2 s",
      .shape = kEeg.shape(),
      .classes = {"background", "seizure"},
      .kernels = {{"quantise", "quantise", {{"SHIFT", 8}}}},
      .tolerance_s = 2,  // what a window still sees
      .blind_s = 0,
      .signal = eeg_signal,
      .make = []() -> std::unique_ptr<Chain> { return std::make_unique<SeizureChain>(); },
      .judge = Judge::kEpisodes};
  return info;
}

}  // namespace deputy::tools
