#include "tools/stream/ecg_chain.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>

#include "tools/stream/low_pass.h"
#include "workloads/ecg_signal.h"

namespace deputy::tools {
namespace {

using host_runtime::Buffer;
using host_runtime::DspTask;
using host_runtime::Fence;

constexpr double kRate = 360, kNetworkRate = 125;
constexpr std::uint32_t kBlock = 64, kBlockBytes = kBlock * 2;
// Filters of odd length delay by half of it.
constexpr int kLowTaps = 33, kBandTaps = 63, kWindow = 54;
constexpr int kLowDelay = kLowTaps / 2, kFeatureDelay = kBandTaps / 2 + 2 + kWindow / 2;
// The window: workloads/ecg/frontend.py has the R peak at 150 of 256 samples of 125 Hz.
constexpr int kBefore = 432, kLength = 736, kBoxLog = 9, kBox = 1 << kBoxLog, kReach = 36;
constexpr int kHistory = 4096;  ///< samples that are kept
constexpr int kBack = kReach + kBefore + kBox, kAhead = kReach - kBefore + kLength + kBox + 1;
constexpr std::uint32_t kWindowSamples = kBack + kAhead;
// The state that a frame leaves to the next: the last block of leads and bands (and one of no use),
// then the detector's words.
constexpr std::uint32_t kStateRows = 5, kDetector = kStateRows * kBlockBytes,
                        kStateBytes = kDetector + kBlockBytes;
constexpr std::int32_t kFirstSignalLevel = 200;

void put_q15(const std::vector<double>& h, std::uint8_t* to) {
  for (std::size_t i = 0; i < h.size(); ++i) {
    const auto q = static_cast<std::int16_t>(std::lrint(h[i] * 32768));
    std::memcpy(to + 2 * i, &q, 2);
  }
}
// Low-pass 40 Hz; band 5 to 20 Hz with a gain of 8; byte offsets and fractions of the 256 places in
// a window.
std::vector<std::uint8_t> constants() {
  std::vector<std::uint8_t> out(2 * kBlockBytes + 1024);
  put_q15(low_pass(40 / kRate, kLowTaps, 1), out.data());
  auto band = low_pass(20 / kRate, kBandTaps, 8);
  const auto lower = low_pass(5 / kRate, kBandTaps, 8);
  for (std::size_t i = 0; i < band.size(); ++i) band[i] -= lower[i];
  put_q15(band, out.data() + kBlockBytes);
  for (std::uint32_t k = 0; k < 256; ++k) {
    const std::uint32_t at =
        static_cast<std::uint32_t>(std::lrint(k * kRate / kNetworkRate * 32768));
    const auto offset = static_cast<std::uint16_t>(2 * (at >> 15)),
               fraction = static_cast<std::uint16_t>(at & 0x7FFF);
    std::memcpy(out.data() + 2 * kBlockBytes + 2 * k, &offset, 2);
    std::memcpy(out.data() + 2 * kBlockBytes + 512 + 2 * k, &fraction, 2);
  }
  return out;
}

arch::DspCommand state_rows(arch::DspCommandKind kind, std::uint8_t region, std::uint32_t tcm) {
  return transfer_rows(kind, region, {0, kBlockBytes}, {tcm, 2 * kBlockBytes}, kBlockBytes,
                       kStateRows);
}

class EcgChain final : public Chain {
 public:
  base::Status prepare(const ChainParts& parts) override {
    p_ = parts;
    const auto fixed = constants();
    DEPUTY_TRY(make(constants_, fixed.size()));
    DEPUTY_TRY(constants_.write(fixed));
    for (Buffer& state : state_) DEPUTY_TRY(make(state, kStateBytes));
    DEPUTY_TRY(make(history_, kHistory * 2));
    DEPUTY_TRY(make(beats_, 64));
    DEPUTY_TRY(make(peak_, 64));
    DEPUTY_TRY(make(window_, 256));
    DEPUTY_TRY(make(copied_, 2 * kBlockBytes));
    for (const char* name : {"split", "low", "band", "qrs", "detect", "window"}) {
      DEPUTY_ASSIGN(entry_.emplace_back(), p_.firmware->entry(name));
    }
    if (p_.scenario->zero_copy) DEPUTY_TRY(p_.session->frame(0).bind_input(0, window_));
    return gap(0);
  }

  base::Status gap(std::int64_t sample) override {
    given_up_ += pending_.size();
    pending_.clear();
    from_ = next_ = sample;
    std::vector<std::uint8_t> state(kStateBytes);
    const std::int32_t detector[] = {0,
                                     0,
                                     static_cast<std::int32_t>(sample - 1),
                                     static_cast<std::int32_t>(sample),
                                     kFirstSignalLevel,
                                     0};
    std::memcpy(state.data() + kDetector, detector, sizeof detector);
    return state_[turn_].write(state);
  }

  base::Status frame(const Buffer& raw, std::int64_t sample, std::uint64_t ready_ps) override {
    const Buffer* in = &raw;
    if (!p_.scenario->zero_copy) {
      DEPUTY_TRY(copied_.copy_from(raw));
      in = &copied_;
    }
    DEPUTY_ASSIGN(const Fence filtered,
                  p_.device->run_dsp(p_.context, filter_task(*in, sample), {}));
    if (const base::Status done = settle(*p_.device, filtered); !done.ok()) return done;
    turn_ = !turn_;
    next_ = sample + kBlock;
    DEPUTY_TRY(take_beats());
    while (!pending_.empty() && pending_.front() + kAhead <= next_) {
      const std::int64_t centre = pending_.front();
      pending_.pop_front();
      if (centre - kBack < from_) continue;  // its window begins before the signal does
      if (const base::Status named = name_beat(centre, ready_ps); !named.ok())
        return ++given_up_, named;
    }
    return {};
  }

 private:
  enum Kernel { kSplit, kLow, kBand, kQrs, kDetect, kCut };

  // The data memory while a frame is filtered: each lead with its past before it, likewise the
  // bands.
  DspTask filter_task(const Buffer& raw, std::int64_t sample) {
    constexpr std::uint32_t kRaw = 0, kLead = 0x100, kFiltered = 0x300, kBands = 0x400,
                            kFeatures = 0x600, kCoefficients = 0x700, kWords = 0x800,
                            kBeats = 0x880;
    DspTask t;
    t.firmware = p_.firmware;
    t.budget_ps = 1'000'000'000'000;
    t.regions = {{raw, true, false},        {state_[turn_], true, false},
                 {constants_, true, false}, {state_[!turn_], false, true},
                 {history_, false, true},   {beats_, false, true}};
    t.load(1, 0, kRaw, 2 * kBlockBytes);
    t.commands.push_back(state_rows(arch::DspCommandKind::kLoad, 2, kLead));
    t.load(2, kDetector, kWords, 24);
    t.load(3, 0, kCoefficients, 2 * kBlockBytes);
    const auto run = [&](Kernel kernel, std::initializer_list<std::uint32_t> arguments) {
      t.run(entry_[kernel], {arguments.begin(), arguments.size()});
    };
    run(kSplit, {kRaw, kLead + kBlockBytes, kLead + 3 * kBlockBytes, 1});
    run(kLow, {kLead, kCoefficients, kFiltered, 1});
    for (std::uint32_t lead = 0; lead < 2; ++lead) {
      run(kBand, {kLead + 2 * lead * kBlockBytes, kCoefficients + kBlockBytes,
                  kBands + (2 * lead + 1) * kBlockBytes, 1});
      run(kQrs, {kBands + 2 * lead * kBlockBytes, kFeatures + lead * kBlockBytes, 1});
    }
    run(kDetect, {kFeatures, kFeatures + kBlockBytes, kBlock, kWords, kBeats});
    t.commands.push_back(state_rows(arch::DspCommandKind::kStore, 4, kLead + kBlockBytes));
    t.store(4, kDetector, kWords, 24);
    t.store(5, static_cast<std::uint32_t>(sample % kHistory) * 2, kFiltered, kBlockBytes);
    t.store(6, 0, kBeats, 16);
    return t;
  }

  base::Status take_beats() {
    DEPUTY_ASSIGN(const auto bytes, beats_.read());
    std::int32_t words[4];
    std::memcpy(words, bytes.data(), sizeof words);
    for (std::int32_t i = 0; i < std::clamp(words[0], 0, 3); ++i)
      pending_.push_back(words[1 + i] - kFeatureDelay + kLowDelay);
    return {};
  }

  DspTask window_task(std::int64_t centre, const Buffer& to) {
    constexpr std::uint32_t kSamples = 0x1000, kOnce = 0x2000, kTwice = 0x3000, kPlaces = 0x4000,
                            kOut = 0x4400, kPeak = 0x4500;
    DspTask t;
    t.firmware = p_.firmware;
    t.budget_ps = 1'000'000'000'000;
    t.regions = {{history_, true, false},
                 {constants_, true, false},
                 {to, false, true},
                 {peak_, false, true}};
    const auto first = static_cast<std::uint32_t>((centre - kBack) % kHistory),
               whole = std::min<std::uint32_t>(kWindowSamples, kHistory - first);
    t.load(1, 2 * first, kSamples, 2 * whole);
    if (whole < kWindowSamples) t.load(1, 0, kSamples + 2 * whole, 2 * (kWindowSamples - whole));
    t.load(2, 2 * kBlockBytes, kPlaces, 1024);
    const std::uint32_t arguments[] = {kSamples, kBack - kReach, 2 * kReach + 1, kOnce, kTwice,
                                       kPlaces,  kPlaces + 512,  kOut,           kPeak};
    t.run(entry_[kCut], arguments);
    t.store(3, 0, kOut, 256);
    t.store(4, 0, kPeak, 4);
    return t;
  }

  base::Status name_beat(std::int64_t centre, std::uint64_t ready_ps) {
    auto& frame = p_.session->frame(0);
    DEPUTY_ASSIGN(const Fence cut,
                  p_.device->run_dsp(p_.context, window_task(centre, window_), {}));
    host_runtime::SubmitOptions submit;
    if (p_.scenario->chained && p_.scenario->zero_copy)
      submit.waits = {cut};
    else
      DEPUTY_TRY(settle(*p_.device, cut));
    if (!p_.scenario->zero_copy) DEPUTY_TRY(frame.input(0).copy_from(window_));
    DEPUTY_ASSIGN(const Fence named, frame.submit(submit));
    DEPUTY_TRY(settle(*p_.device, named));
    if (submit.waits.size() == 1)
      DEPUTY_TRY(settle(*p_.device, cut));  // it is over, but the runtime may not have looked yet
    DEPUTY_ASSIGN(const auto peak, peak_.read());
    std::uint32_t index = 0;
    std::memcpy(&index, peak.data(), 4);
    return decide(centre - kBack + index - kLowDelay, ready_ps);
  }

  Buffer constants_, state_[2], history_, beats_, peak_, window_, copied_;
  std::vector<std::uint32_t> entry_;
  std::size_t turn_ = 0;
  std::int64_t from_ = 0, next_ = 0;  ///< samples of this piece of signal, in the history
  std::deque<std::int64_t>
      pending_;  ///< beats whose window is not complete: where they are in the history
};

base::Result<StreamSignal> signal(const StreamScenario& scenario) {
  StreamSignal out;
  auto made = workloads::make_ecg({.seed = static_cast<std::uint64_t>(scenario.source.seed),
                                   .seconds = scenario.source.seconds});
  std::vector<std::int16_t> samples = std::move(made.samples);
  for (const auto& beat : made.beats) out.labels.push_back({beat.sample, beat.kind});
  samples.resize(samples.size() / (2 * kBlock) * (2 * kBlock));
  for (std::size_t at = 0; at < samples.size(); at += 2 * kBlock) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(samples.data() + at);
    out.frames.emplace_back(bytes, bytes + 2 * kBlockBytes);
  }
  return out;
}

}  // namespace

const ChainInfo& ecg_chain() {
  static const ChainInfo info = {
      .name = "ecg",
      .doc =
          "two leads of int16 at 360 Hz; the DSP filters and finds beats, the network names each",
      .shape = {2 * kBlockBytes, kBlock, kRate},
      .classes = {"normal", "supraventricular", "ventricular", "st-shift", "artefact"},
      .kernels = {{"split", "split", {{"SHIFT", 4}}},
                  {"low", "fir", {{"TAPS", kLowTaps}}},
                  {"band", "fir", {{"TAPS", kBandTaps}}},
                  {"qrs", "qrs", {{"WINDOW", kWindow}}},
                  {"detect", "qrs_stream", {}},
                  {"window",
                   "beat_window",
                   {{"BEFORE", kBefore}, {"LENGTH", kLength}, {"BOX", kBoxLog}, {"SHIFT", 6}}}},
      .tolerance_s = 0.15,  // AAMI EC57
      .blind_s = static_cast<double>(kBack + kLowDelay) / kRate,
      .signal = signal,
      .make = []() -> std::unique_ptr<Chain> { return std::make_unique<EcgChain>(); }};
  return info;
}

}  // namespace deputy::tools
