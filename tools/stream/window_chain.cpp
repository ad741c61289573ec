#include "tools/stream/window_chain.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "workloads/random.h"

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

class WindowChain final : public FrameChain {
 public:
  explicit WindowChain(const Geometry& geometry) : g_(geometry) {}

 private:
  base::Status set_up() override {
    for (Buffer& window : window_) DEPUTY_TRY(make(window, g_.window_bytes()));
    DEPUTY_ASSIGN(entry_, p_.firmware->entry("quantise"));
    return {};
  }
  std::uint64_t input_bytes() const override { return g_.window_bytes(); }
  base::Status restart() override {
    whole_ = 0;  // the window fills again
    return {};
  }
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

constexpr Geometry kPpg = {.rate = 32, .planes = 1, .channels = 4, .window = 256, .step = 32};
constexpr Geometry kEeg = {.rate = 256, .planes = 22, .channels = 1, .window = 512, .step = 64};

// `value(channel, seconds)` in units of a full scale of 1.
template <class Value>
StreamSignal sampled(const StreamScenario& scenario, const Geometry& g, Value&& value) {
  StreamSignal out;
  const auto frames = static_cast<std::size_t>(scenario.source.seconds * g.rate) / g.step;
  for (std::size_t f = 0; f < frames; ++f) {
    std::vector<std::uint8_t> bytes;
    for (std::uint32_t plane = 0; plane < g.planes; ++plane)
      for (std::uint32_t i = 0; i < g.step; ++i)
        for (std::uint32_t channel = 0; channel < g.channels; ++channel) {
          const double t = static_cast<double>(f * g.step + i) / g.rate;
          const auto v = static_cast<std::int16_t>(
              std::clamp(std::lrint(32767 * value(plane + channel, t)), -32768L, 32767L));
          bytes.push_back(static_cast<std::uint8_t>(v)),
              bytes.push_back(static_cast<std::uint8_t>(static_cast<std::uint16_t>(v) >> 8));
        }
    out.frames.push_back(std::move(bytes));
  }
  return out;
}

constexpr double kTwoPi = 6.283185307179586;

// A pulse of 55 to 95 beats a minute with its second wave, and walking every other minute on all
// four channels.
base::Result<StreamSignal> ppg_signal(const StreamScenario& scenario) {
  workloads::Random random(static_cast<std::uint64_t>(scenario.source.seed));
  return sampled(scenario, kPpg, [&](std::uint32_t channel, double t) {
    const double beats =
        kTwoPi *
        (75.0 / 60 * t + 20.0 / 60 * 30 * (1 - std::cos(kTwoPi * t / 180)) / kTwoPi * 6 / 10);
    const bool walks = std::fmod(t, 120) > 60;
    const double steps = walks ? 0.3 * std::sin(kTwoPi * 1.8 * t + channel) : 0;
    const double pulse =
        channel == 0 ? 0.4 * std::sin(beats) + 0.15 * std::sin(2 * beats + 0.8) : 0;
    return pulse + steps + 0.02 * random.normal();
  });
}

// Background rhythm of 10 Hz, and every third minute a seizure of 20 s: waves of 3 Hz on all
// channels, growing.
base::Result<StreamSignal> eeg_signal(const StreamScenario& scenario) {
  workloads::Random random(static_cast<std::uint64_t>(scenario.source.seed));
  return sampled(scenario, kEeg, [&](std::uint32_t channel, double t) {
    const double in = std::fmod(t, 180) - 150,
                 seizure = in > 0 && in < 20
                               ? 0.6 * in / 20 * std::sin(kTwoPi * 3 * t + 0.1 * channel)
                               : 0;
    return 0.1 * std::sin(kTwoPi * 10 * t + channel) + seizure + 0.08 * random.normal();
  });
}

}  // namespace

const ChainInfo& ppg_chain() {
  static const ChainInfo info = {
      .name = "ppg",
      .doc = "PPG and three axes of motion, int16 at 32 Hz; heart rate each second from 8 s",
      .shape = kPpg.shape(),
      .classes = {},
      .kernels = {{"quantise", "quantise", {{"SHIFT", 8}}}},
      .tolerance_s = 0.5,
      .blind_s = 8,
      .signal = ppg_signal,
      .make = []() -> std::unique_ptr<Chain> { return std::make_unique<WindowChain>(kPpg); }};
  return info;
}

const ChainInfo& eeg_chain() {
  static const ChainInfo info = {
      .name = "eeg",
      .doc = "22 channels of EEG, int16 at 256 Hz; a decision four times a second from 2 s",
      .shape = kEeg.shape(),
      .classes = {},
      .kernels = {{"quantise", "quantise", {{"SHIFT", 8}}}},
      .tolerance_s = 0.125,
      .blind_s = 2,
      .signal = eeg_signal,
      .make = []() -> std::unique_ptr<Chain> { return std::make_unique<WindowChain>(kEeg); }};
  return info;
}

}  // namespace deputy::tools
