#include "workloads/eeg_signal.h"

#include <algorithm>
#include <cmath>

#include "workloads/random.h"

namespace deputy::workloads {
namespace {

constexpr double kTwoPi = 6.283185307179586, kStep = 1.0 / kEegRate;
constexpr int kSources = 8, kOctaves = 4;

/// Noise with a memory of `tau` seconds and variance 1 (Ornstein and Uhlenbeck's process).
struct Wander {
  double keep = 0, add = 0, value = 0;
  explicit Wander(double tau = 1) : keep(std::exp(-kStep / tau)), add(std::sqrt(1 - keep * keep)) {}
  double next(Random& random) { return value = keep * value + add * random.normal(); }
};

/// Equal power in each of four steps of two octaves: about 1/f from 0.4 to 40 Hz.
struct Pink {
  Wander parts[kOctaves] = {Wander(0.4), Wander(0.1), Wander(0.025), Wander(0.006)};
  double next(Random& random) {
    double sum = 0;
    for (Wander& part : parts) sum += part.next(random);
    return sum / 2;
  }
};

enum Kind { kSeizure, kDischarge, kSlowWaves, kRhythm, kMuscle, kBlinks, kPop, kKinds };
// Of each kind an hour (seizures by options), and how long they last.
constexpr struct {
  double per_hour, shortest, longest;
} kEvents[kKinds] = {{0, 20, 50},  {24, 0.6, 1.6}, {8, 15, 40}, {14, 3, 10},
                     {40, 0.5, 4}, {40, 0.4, 4},   {20, 2, 2}};

struct Event {
  double begin = 0, length = 0, strength = 0, pace = 0, phase = 0;
  double focus = 0, reach = 0;  ///< place on the circle of channels, and how far it is seen
  bool active(double t) const { return t >= begin && t < begin + length; }
};

double at_channel(int channel) { return static_cast<double>(channel) / kEegChannels; }
/// Distance on a circle of length 1.
double apart(double a, double b) {
  const double d = a - b;
  return std::abs(d - std::round(d));
}

class Head {
 public:
  explicit Head(const EegOptions& options)
      : o_(options),
        random_(options.seed),
        level_(between(9, 18)),
        alpha_(between(4, 14)),
        alpha_hz_(between(8.5, 11.5)),
        focus_(between(0, 1)) {
    for (int c = 0; c < kEegChannels; ++c) {
      double sum = 0;
      for (int s = 0; s < kSources; ++s) {
        const double d = apart(at_channel(c), static_cast<double>(s) / kSources);
        mix_[c][s] = std::exp(-18 * d * d);
        sum += mix_[c][s] * mix_[c][s];
      }
      for (double& weight : mix_[c]) weight *= 0.8 / std::sqrt(sum);
    }
  }

  EegSignal record() {
    EegSignal out;
    plan();
    for (const Event& e : events_[kSeizure])
      out.seizures.push_back(
          {std::lrint(e.begin * kEegRate), std::lrint((e.begin + e.length) * kEegRate)});
    const auto samples = static_cast<std::int64_t>(o_.seconds * kEegRate);
    out.samples.reserve(static_cast<std::size_t>(samples) * kEegChannels);
    for (std::int64_t i = 0; i < samples; ++i) step(out, static_cast<double>(i) * kStep);
    return out;
  }

 private:
  double between(double lo, double hi) {
    return random_.uniform(static_cast<float>(lo), static_cast<float>(hi));
  }

  // When what happens: of each kind one after the other, with waits that are exponential.
  void plan() {
    for (int kind = 0; kind < kKinds; ++kind) {
      const double hourly = kind == kSeizure ? o_.seizures_per_hour : kEvents[kind].per_hour;
      if (hourly <= 0) continue;
      const double rest = kind == kSeizure ? 30 : 1;  // between two of a kind
      double t = kind == kSeizure ? 20 : 2;
      while (true) {
        t += -std::log(1 - between(0, 1)) * std::max(1.0, 3600 / hourly - rest);
        Event e;
        e.begin = t, e.length = between(kEvents[kind].shortest, kEvents[kind].longest);
        e.strength = between(0.6, 1.6), e.pace = between(0.9, 1.1), e.phase = between(0, 1);
        e.focus = kind <= kDischarge ? focus_ : between(0, 1), e.reach = between(0.08, 0.2);
        if (e.begin + e.length > o_.seconds - 3) break;
        events_[kind].push_back(e);
        t += e.length + rest;
      }
    }
  }

  // The event of this kind that is on at `t`, if any; t only grows.
  const Event* now(int kind, double t) {
    auto& next = next_[kind];
    while (next < events_[kind].size() &&
           t >= events_[kind][next].begin + events_[kind][next].length)
      ++next;
    return next < events_[kind].size() && events_[kind][next].active(t) ? &events_[kind][next]
                                                                        : nullptr;
  }

  // A spike and the wave behind it.
  static double spike_wave(double phase) {
    phase -= std::floor(phase);
    const auto bell = [&](double centre, double width) {
      const double d = (phase - centre) / width;
      return std::exp(-0.5 * d * d);
    };
    return bell(0.15, 0.03) - 0.9 * bell(0.55, 0.15) + 0.25;
  }

  // Seconds since a seizure reached the channel, and what it shows there.
  double seizing(const Event& e, double t, int channel) const {
    const double far = apart(at_channel(channel), e.focus), since = t - e.begin - 12 * far,
                 left = e.begin + e.length - t, size = 2.2 * level_ * e.strength;
    if (since < 0) return 0;
    const double fade = std::min(1.0, left / 1.5) * std::exp(-1.2 * far);
    const auto ramp = [](double x) { return std::clamp(x, 0.0, 1.0); };
    if (since < 3)  // low and fast, slowing down
      return fade * size * 0.35 * ramp(since) * std::sin(kTwoPi * (20 - 2 * since) * since);
    const double rhythm = ramp((6 - since) / 1.5) * ramp((since - 3) / 0.7);
    const double part = ramp(since / e.length);
    const double turns = e.pace * (3.6 * since - 0.6 * since * part) + e.phase;
    return fade * size *
           (0.8 * rhythm * std::sin(kTwoPi * 7 * e.pace * since) +
            (1.2 + 1.2 * part) * ramp((since - 4.5) / 2) * spike_wave(turns - 0.4 * far));
  }

  void step(EegSignal& out, double t) {
    double sources[kSources], rhythm[2];
    for (int s = 0; s < kSources; ++s) sources[s] = pink_[s].next(random_);
    for (int h = 0; h < 2; ++h)
      rhythm[h] = alpha_ * std::max(0.0, waxing_[h].next(random_)) *
                  std::sin(kTwoPi * (alpha_hz_ * t + 0.2 * jitter_[h].next(random_)));
    const Event* on[kKinds];
    for (int kind = 0; kind < kKinds; ++kind) on[kind] = now(kind, t);
    const bool tense = on[kMuscle] != nullptr;
    for (int c = 0; c < kEegChannels; ++c) {
      double uv = 0;
      for (int s = 0; s < kSources; ++s) uv += mix_[c][s] * sources[s];
      uv = level_ * (uv + 0.6 * own_[c].next(random_));
      const double place = at_channel(c);
      // Alpha is largest at the back of the head: at half of the circle.
      uv += rhythm[place < 0.5 ? 0 : 1] * std::exp(-12 * (place - 0.5) * (place - 0.5));
      if (on[kSeizure]) uv += seizing(*on[kSeizure], t, c);
      uv += 1.2 * random_.normal();
      const auto seen = [&](const Event& e) {
        const double d = apart(place, e.focus) / e.reach;
        return e.strength * std::exp(-0.5 * d * d);
      };
      // In and out within a fifth of a second.
      const auto fade = [&](const Event& e) {
        return std::clamp(std::min(t - e.begin, e.begin + e.length - t) / 0.2, 0.0, 1.0);
      };
      if (const Event* e = on[kDischarge])
        uv += 2.6 * level_ * e->strength * fade(*e) * std::exp(-apart(place, e->focus)) *
              spike_wave(3.1 * e->pace * (t - e->begin));
      if (const Event* e = on[kSlowWaves])
        uv += 2.4 * level_ * e->strength * fade(*e) * slow_.value *
              std::sin(kTwoPi * (1.3 * e->pace * t + 0.2 * place + 0.3 * jitter_[0].value));
      if (const Event* e = on[kRhythm])
        uv += 60 * fade(*e) * seen(*e) *
              (std::sin(kTwoPi * 3 * e->pace * (t - e->begin)) +
               0.3 * std::sin(kTwoPi * 6 * e->pace * (t - e->begin) + e->phase));
      if (tense) uv += 25 * fade(*on[kMuscle]) * seen(*on[kMuscle]) * random_.normal();
      if (const Event* e = on[kBlinks]) {  // the front: the beginning of the circle
        const double blink = std::fmod(t - e->begin, 0.7) - 0.2, front = apart(place, 0);
        uv += 110 * e->strength * std::exp(-0.5 * blink * blink / 0.006 - 40 * front * front);
      }
      if (const Event* e = on[kPop])
        if (c == static_cast<int>(e->focus * kEegChannels))
          uv += 250 * e->strength * std::exp(-(t - e->begin) / 0.4);
      out.samples.push_back(
          static_cast<std::int16_t>(std::clamp(std::lrint(64 * uv), -32768L, 32767L)));
    }
    slow_.next(random_);
  }

  EegOptions o_;
  Random random_;
  double level_, alpha_, alpha_hz_, focus_;
  double mix_[kEegChannels][kSources];
  Pink pink_[kSources], own_[kEegChannels];
  Wander waxing_[2]{Wander(1.5), Wander(1.5)}, jitter_[2]{Wander(0.5), Wander(0.5)}, slow_{0.5};
  std::vector<Event> events_[kKinds];
  std::size_t next_[kKinds] = {};
};

}  // namespace

EegSignal make_eeg(const EegOptions& options) { return Head(options).record(); }

}  // namespace deputy::workloads
