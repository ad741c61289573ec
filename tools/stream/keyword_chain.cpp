#include "tools/stream/keyword_chain.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "dsp_kernels/tables.h"
#include "tools/stream/low_pass.h"
#include "workloads/random.h"

namespace deputy::tools {
namespace {

using host_runtime::Buffer;
using host_runtime::DspTask;

constexpr double kRate = 16000;
constexpr std::uint32_t kFrame = 1024, kHop = 128, kHops = kFrame / 2 / kHop, kPoints = 256,
                        kBins = kPoints / 2;
constexpr std::uint32_t kRows = 49, kColumns = 10, kWindowBytes = kRows * kColumns;
constexpr int kTaps = 32;
constexpr std::uint32_t kPastBytes = 2 * 128;  // 128 samples, of both rates

// The data memory. The samples of both rates follow their past; behind the raw ones decimate reads
// two vectors more, behind the powers mfcc one.
constexpr std::uint32_t kRaw = 0x0000, kLow = 0x0A00, kComplex = 0x0F00, kSpectrum = 0x1300,
                        kPowers = 0x1700, kLogs = 0x1980, kCepstrum = 0x1A00, kBytes = 0x1A80,
                        kKept = 0x1C80;
// Constants, in memory as they lie here.
constexpr std::uint32_t kConstants = 0x1F00, kFilter = 0x1F00, kHann = 0x2000, kFactors = 0x2200,
                        kCosines = 0x3000, kMel = 0x4000, kConstantsEnd = 0x8000;
static_assert(kRaw + kPastBytes + 2 * kFrame + 256 <= kLow &&
              kLow + kPastBytes + kFrame <= kComplex && kBytes + kHops * 128 <= kKept &&
              kKept + kWindowBytes <= kConstants);

template <class T>
void put(std::vector<std::uint8_t>& to, std::uint32_t address, const std::vector<T>& values) {
  std::memcpy(to.data() + address - kConstants, values.data(), values.size() * sizeof(T));
}

// A low-pass at 3.6 kHz: even coefficients, then from lane 32 the odd ones.
std::vector<std::int16_t> half_band() {
  const auto h = low_pass(3600.0 / kRate, kTaps, 32767);
  std::vector<std::int16_t> out(64);
  for (std::size_t i = 0; i < h.size(); ++i)
    out[i / 2 + (i % 2 ? 32 : 0)] = static_cast<std::int16_t>(std::lrint(h[i]));
  return out;
}

std::vector<std::uint8_t> constants() {
  std::vector<std::uint8_t> out(kConstantsEnd - kConstants);
  put(out, kFilter, half_band());
  put(out, kHann, dsp_kernels::hann(kPoints));
  put(out, kFactors, dsp_kernels::fft_factors(kPoints));
  put(out, kCosines, dsp_kernels::mel_cosines());
  put(out, kMel, dsp_kernels::mel_weights(kBins, kRate / 4));
  return out;
}

class KeywordChain final : public FrameChain {
  base::Status set_up() override {
    const auto fixed = constants();
    DEPUTY_TRY(make(constants_, fixed.size(), MemoryKind::kDram));
    DEPUTY_TRY(constants_.write(fixed));
    for (Buffer& state : state_) DEPUTY_TRY(make(state, 2 * kPastBytes));
    for (Buffer& window : window_) DEPUTY_TRY(make(window, kWindowBytes));
    for (const char* name : {"decimate", "window", "fft", "mfcc", "narrow"}) {
      DEPUTY_ASSIGN(entry_.emplace_back(), p_.firmware->entry(name));
    }
    return {};
  }
  std::uint64_t input_bytes() const override { return kWindowBytes; }
  base::Status restart() override {
    rows_ = 0;
    return state_[turn_].write(std::vector<std::uint8_t>(2 * kPastBytes));
  }
  const Buffer* take() override {
    turn_ = !turn_;
    rows_ = std::min(rows_ + kHops, kRows);
    return rows_ < kRows ? nullptr : &window_[turn_];
  }

  DspTask task(const Buffer& raw) override {
    using Kind = arch::DspCommandKind;
    enum { kDecimate, kWindow, kTransform, kMfcc, kNarrow };
    DspTask t;
    t.firmware = p_.firmware;
    t.regions = {{raw, true, false},
                 {constants_, true, false},
                 {state_[turn_], true, false},
                 {state_[!turn_], false, true},
                 {window_[turn_], true, false},
                 {window_[!turn_], false, true}};
    const auto run = [&](int kernel, std::initializer_list<std::uint32_t> arguments) {
      t.run(entry_[static_cast<std::size_t>(kernel)], {arguments.begin(), arguments.size()});
    };
    t.load(1, 0, kRaw + kPastBytes, 2 * kFrame);
    t.load(2, 0, kConstants, kConstantsEnd - kConstants);
    t.commands.push_back(
        transfer_rows(Kind::kLoad, 3, {0, kPastBytes}, {kRaw, kLow - kRaw}, kPastBytes, 2));
    run(kDecimate, {kRaw, kFilter, kLow + kPastBytes, kFrame / 128});
    for (std::uint32_t hop = 0; hop < kHops; ++hop) {
      run(kWindow, {kLow + 2 * kHop * hop, kHann, kComplex, kPoints / 64});
      run(kTransform, {kComplex, kFactors, kSpectrum, kPowers});
      run(kMfcc, {kSpectrum, kMel, kCosines, kCepstrum, kPowers, kLogs});
      run(kNarrow, {kCepstrum, kBytes + 128 * hop, 0});
    }
    // The last 128 samples of both rates are the next frame's past.
    t.commands.push_back(transfer_rows(Kind::kStore, 4, {0, kPastBytes},
                                       {kRaw + 2 * kFrame, kLow + kFrame - (kRaw + 2 * kFrame)},
                                       kPastBytes, 2));
    const std::uint32_t kept = (kRows - kHops) * kColumns;
    t.load(5, kHops * kColumns, kKept, kept);
    t.store(6, 0, kKept, kept);
    t.commands.push_back(
        transfer_rows(Kind::kStore, 6, {kept, kColumns}, {kBytes, 128}, kColumns, kHops));
    return t;
  }

  Buffer constants_, state_[2], window_[2];
  std::vector<std::uint32_t> entry_;
  std::uint32_t rows_ = 0;
  std::size_t turn_ = 0;
};

// Noise, and every two seconds half a second of a voice: harmonics of a falling pitch with two
// formants that move.
base::Result<StreamSignal> signal(const StreamScenario& scenario) {
  workloads::Random random(static_cast<std::uint64_t>(scenario.source.seed));
  StreamSignal out;
  const auto frames = static_cast<std::size_t>(scenario.source.seconds * kRate) / kFrame;
  double phase = 0;
  for (std::size_t f = 0; f < frames; ++f) {
    std::vector<std::uint8_t> bytes;
    for (std::uint32_t i = 0; i < kFrame; ++i) {
      const double t = static_cast<double>(f * kFrame + i) / kRate, in = std::fmod(t, 2.0);
      double v = 0.01 * random.normal();
      if (in < 0.5) {
        const double pitch = 160 - 60 * in, envelope = std::sin(2 * std::numbers::pi * in);
        phase += 2 * std::numbers::pi * pitch / kRate;
        for (int k = 1; k <= 20; ++k) {
          const auto near = [&](double formant) {
            const double away = (k * pitch - formant) / 120;
            return 1 / (1 + away * away);
          };
          v += 0.25 * envelope * (near(500 + 400 * in) + 0.6 * near(1800 - 900 * in)) *
               std::sin(k * phase);
        }
      }
      const auto sample =
          static_cast<std::uint16_t>(std::clamp(std::lrint(32767 * v), -32768L, 32767L));
      bytes.push_back(static_cast<std::uint8_t>(sample));
      bytes.push_back(static_cast<std::uint8_t>(sample >> 8));
    }
    out.frames.push_back(std::move(bytes));
  }
  return out;
}

}  // namespace

const ChainInfo& keyword_chain() {
  static const ChainInfo info = {
      .name = "keyword",
      .doc =
          "a microphone, int16 at 16 kHz; mel-frequency cepstra on the DSP, a decision every 64 "
          "ms from 0.8 s",
      .shape = {2 * kFrame, kFrame, kRate},
      .classes = {},
      .kernels = {{"decimate", "decimate", {{"TAPS", kTaps}}},
                  {"window", "window_complex", {}},
                  {"fft", "fft_registers", {{"N", kPoints}}},
                  {"mfcc", "mfcc", {{"BINS", kBins}}},
                  {"narrow", "narrow", {{"SHIFT", 10}}}},
      .tolerance_s = 0.032,
      .blind_s = 0.8,
      .signal = signal,
      .make = []() -> std::unique_ptr<Chain> { return std::make_unique<KeywordChain>(); }};
  return info;
}

}  // namespace deputy::tools
