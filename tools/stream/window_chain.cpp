#include "tools/stream/window_chain.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "workloads/random.h"

namespace deputy::tools {
namespace {

using host_runtime::Buffer;
using host_runtime::DspTask;
using host_runtime::Fence;

/// A frame is `planes` rows of `step` samples; a sample of a plane is `channels` values. The window
/// is as many rows of `window` samples.
struct Geometry {
  double rate = 0;
  std::uint32_t planes = 1, channels = 1, window = 0, step = 0;
  std::uint32_t values() const { return planes * channels * step; }
  std::uint32_t window_bytes() const { return planes * channels * window; }
};

arch::DspCommand rows(arch::DspCommandKind kind, std::uint8_t region, std::uint32_t offset,
                      std::uint32_t memory_stride, std::uint32_t tcm, std::uint32_t tcm_stride,
                      std::uint32_t row_bytes, std::uint32_t count) {
  arch::DspCommand c;
  c.kind = static_cast<std::uint8_t>(kind), c.region = region, c.offset = offset,
  c.memory_stride = memory_stride;
  c.tcm = tcm, c.tcm_stride = tcm_stride, c.row_bytes = row_bytes, c.rows = count;
  return c;
}

class WindowChain final : public Chain {
 public:
  explicit WindowChain(const Geometry& geometry) : g_(geometry) {}

  base::Status prepare(const ChainParts& parts) override {
    p_ = parts;
    for (Buffer& window : window_) {
      DEPUTY_ASSIGN(window, Buffer::make(p_.device->space(), MemoryKind::kSram, g_.window_bytes(),
                                         host_runtime::kCacheLine));
    }
    DEPUTY_ASSIGN(copied_, Buffer::make(p_.device->space(), MemoryKind::kSram, 2 * g_.values(),
                                        host_runtime::kCacheLine));
    DEPUTY_ASSIGN(entry_, p_.firmware->entry("quantise"));
    if (p_.session->frame(0).input(0).bytes() != g_.window_bytes())
      return base::Error{base::ErrorKind::kConfig, p_.scenario->model,
                         "its input is no window of this chain", "use another model or chain"};
    return {};
  }

  base::Status gap(std::int64_t) override {
    whole_ = 0;  // the window fills again
    return {};
  }

  base::Status frame(const Buffer& raw, std::int64_t sample, std::uint64_t ready_ps) override {
    const bool in_place = p_.scenario->zero_copy;
    const Buffer* in = &raw;
    if (!in_place) {
      DEPUTY_TRY(copied_.copy_from(raw));
      in = &copied_;
    }
    DEPUTY_ASSIGN(const Fence moved, p_.device->run_dsp(p_.context, task(*in), {}));
    turn_ = !turn_;
    whole_ = std::min(whole_ + g_.step, g_.window);
    auto& frame = p_.session->frame(0);
    if (whole_ < g_.window || !in_place || !p_.scenario->chained)
      DEPUTY_TRY(settle(*p_.device, moved));
    if (whole_ < g_.window) return {};
    host_runtime::SubmitOptions submit;
    if (in_place) {
      DEPUTY_TRY(frame.bind_input(0, window_[turn_]));
      submit.waits = {moved};
    } else {
      DEPUTY_TRY(frame.input(0).copy_from(window_[turn_]));
    }
    DEPUTY_ASSIGN(const Fence named, frame.submit(submit));
    if (const base::Status done = settle(*p_.device, named); !done.ok()) return ++given_up_, done;
    DEPUTY_ASSIGN(const auto scores, frame.output(0).read());
    p_.device->port().charge(CpuKernel::kElementwise, scores.size(), {});
    StreamDecision d;
    d.sample = sample + g_.step - 1;
    d.scores.assign(reinterpret_cast<const std::int8_t*>(scores.data()),
                    reinterpret_cast<const std::int8_t*>(scores.data()) + scores.size());
    d.kind =
        static_cast<int>(std::max_element(d.scores.begin(), d.scores.end()) - d.scores.begin());
    d.needed_ps = ready_ps, d.decided_ps = p_.device->port().now_ps();
    decisions_.push_back(std::move(d));
    return {};
  }

 private:
  // The old window without its first samples, and the new samples, go to the other buffer.
  DspTask task(const Buffer& raw) {
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
    t.commands.push_back(rows(Kind::kLoad, 2, fresh, row, old, kept, kept, g_.planes));
    t.commands.push_back(rows(Kind::kStore, 3, 0, row, old, kept, kept, g_.planes));
    t.commands.push_back(rows(Kind::kStore, 3, kept, row, quantised, fresh, fresh, g_.planes));
    return t;
  }

  Geometry g_;
  ChainParts p_;
  Buffer window_[2], copied_;
  std::uint32_t entry_ = 0, whole_ = 0;
  std::size_t turn_ = 0;
};

constexpr Geometry kPpg = {.rate = 32, .planes = 1, .channels = 4, .window = 256, .step = 32};
constexpr Geometry kEeg = {.rate = 256, .planes = 22, .channels = 1, .window = 512, .step = 64};

// `value(channel, seconds)` in units of a full scale of 1.
template <class Value>
StreamSignal sampled(const StreamScenario& scenario, const Geometry& g, Value&& value) {
  StreamSignal out{
      .frame_bytes = 2 * g.values(), .samples_per_frame = g.step, .samples_per_second = g.rate};
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
      .classes = {},
      .kernels = {{"quantise", "quantise", {{"SHIFT", 8}}}},
      .signal = ppg_signal,
      .make = []() -> std::unique_ptr<Chain> { return std::make_unique<WindowChain>(kPpg); }};
  return info;
}

const ChainInfo& eeg_chain() {
  static const ChainInfo info = {
      .name = "eeg",
      .doc = "22 channels of EEG, int16 at 256 Hz; a decision four times a second from 2 s",
      .classes = {},
      .kernels = {{"quantise", "quantise", {{"SHIFT", 8}}}},
      .signal = eeg_signal,
      .make = []() -> std::unique_ptr<Chain> { return std::make_unique<WindowChain>(kEeg); }};
  return info;
}

}  // namespace deputy::tools
