#include "workloads/ppg_signal.h"

#include <algorithm>
#include <cmath>

#include "workloads/random.h"

namespace deputy::workloads {
namespace {

constexpr double kTwoPi = 6.283185307179586, kStep = 1.0 / kPpgRate;

/// Noise with a memory of `tau` seconds and variance 1 (Ornstein and Uhlenbeck's process).
class Wander {
 public:
  explicit Wander(double tau) : keep_(std::exp(-kStep / tau)), add_(std::sqrt(1 - keep_ * keep_)) {}
  double next(Random& random) { return value_ = keep_ * value_ + add_ * random.normal(); }

 private:
  double keep_, add_, value_ = 0;
};

class Wrist {
 public:
  explicit Wrist(std::uint64_t seed)
      : random_(seed),
        resting_(between(50, 80)),
        pulse_(between(10, 34)),
        second_(between(0.2, 0.45)),
        infrared_(between(0.45, 0.8)),
        breath_(between(0.2, 0.32)),
        rate_(resting_) {
    for (double& lag : lags_) lag = between(0, kTwoPi);
    for (double& gain : gains_) gain = between(0.6, 1.2);
  }

  PpgSignal wear(double seconds) {
    PpgSignal out;
    const auto samples = static_cast<std::size_t>(seconds * kPpgRate);
    for (std::size_t i = 0; i < samples; ++i) {
      if (left_-- == 0) choose();
      step(out, static_cast<double>(i) * kStep);
    }
    return out;
  }

 private:
  enum Activity { kRest, kGestures, kWalk, kRun };
  double between(double lo, double hi) {
    return random_.uniform(static_cast<float>(lo), static_cast<float>(hi));
  }

  // What the arm does for the next 40 to 100 s, and where the heart goes with it.
  void choose() {
    left_ = static_cast<std::int64_t>(between(40, 100) * kPpgRate);
    const double u = between(0, 1);
    activity_ = u < 0.3 ? kRest : u < 0.5 ? kGestures : u < 0.77 ? kWalk : kRun;
    if (activity_ == kRest || activity_ == kGestures) {
      target_ = resting_ + (activity_ == kGestures ? between(3, 20) : between(0, 6));
      return;
    }
    const bool runs = activity_ == kRun;
    cadence_ = runs ? between(2.35, 2.9) : between(1.55, 2.05);
    swing_ = runs ? between(0.8, 1.5) : between(0.25, 0.7);
    artefact_ = runs ? between(0.6, 1.8) : between(0.4, 1.3);
    target_ = between(0, 1) < 0.5 ? 60 * cadence_ * between(0.93, 1.07)
                                  : resting_ + (runs ? between(50, 100) : between(15, 45));
    target_ = std::min(target_, 185.0);
  }

  void step(PpgSignal& out, double t) {
    rate_ += (target_ - rate_) * kStep / 15;
    const double breath = std::sin(kTwoPi * breath_ * t);
    const double now = rate_ * (1 + 0.02 * breath) + 1.5 * unrest_.next(random_);
    beats_ += std::clamp(now, 40.0, 195.0) / 60 * kStep;
    const bool moves = activity_ == kWalk || activity_ == kRun;
    // Movements begin and end within a second or two.
    strength_ += ((moves ? 1.0 : 0.0) - strength_) * kStep / 0.7;
    fidget_ += ((activity_ == kGestures && gesture_.next(random_) > 0.3 ? 1.0 : 0.0) - fidget_) *
               kStep / 0.4;
    steps_ += kTwoPi * cadence_ * kStep * (1 + 0.03 * limp_.next(random_));
    const double along = arm_[0].next(random_), across = arm_[1].next(random_);
    const double motion[] = {
        strength_ * swing_ *
                (std::sin(steps_) + 0.4 * std::sin(2 * steps_ + lags_[0]) +
                 0.5 * std::sin(steps_ / 2 + lags_[1])) +
            0.5 * fidget_ * along,
        strength_ * swing_ *
                (0.5 * std::sin(steps_ + lags_[2]) + 0.4 * std::sin(steps_ / 2 + lags_[3])) +
            0.5 * fidget_ * across};
    const double drift = 4 * baseline_.next(random_) + 3 * breath;
    for (int light = 0; light < 2; ++light) {
      const double* lag = lags_ + 4 + 3 * light;
      const double shift = 0.4 * slip_.next(random_);  // the strap sits a little otherwise
      const double artefact =
          strength_ * artefact_ *
              (0.8 * std::sin(steps_ + lag[0] + shift) + 0.45 * std::sin(2 * steps_ + lag[1]) +
               0.35 * std::sin(steps_ / 2 + lag[2])) +
          fidget_ * (0.9 * along - 0.6 * across);
      const double height = pulse_ * (light ? infrared_ : 1.0);
      put(out,
          256 * (height * (1 + 0.1 * breath) * pulse(beats_) + pulse_ * gains_[light] * artefact +
                 drift * (light ? 0.8 : 1.0) + random_.normal()));
    }
    for (const double g : motion) put(out, 8192 * (g + 0.02 * random_.normal()));
    out.beats.push_back(beats_);
    out.moving.push_back(moves);
  }

  // Blood in the vessel against the beat's phase: a wave and, behind it, the reflected one.
  double pulse(double beats) const {
    const double phase = beats - std::floor(beats);
    const auto bell = [&](double centre, double width) {
      double d = phase - centre;
      d -= std::round(d);
      return std::exp(-0.5 * d * d / (width * width));
    };
    const double mean = 2.5066 * (0.11 + 0.13 * second_);
    return bell(0.25, 0.11) + second_ * bell(0.62, 0.13) - mean;
  }

  static void put(PpgSignal& out, double v) {
    out.samples.push_back(static_cast<std::int16_t>(std::clamp(std::lrint(v), -32768L, 32767L)));
  }

  Random random_;
  double resting_, pulse_, second_, infrared_, breath_, rate_;
  double lags_[10], gains_[2];
  Activity activity_ = kRest;
  std::int64_t left_ = 0;
  double target_ = 0, cadence_ = 1.8, swing_ = 0.5, artefact_ = 1;
  double beats_ = 0, steps_ = 0, strength_ = 0, fidget_ = 0;
  Wander unrest_{8}, gesture_{1.5}, limp_{2}, baseline_{1.5}, slip_{5},
      arm_[2]{Wander{0.12}, Wander{0.12}};
};

}  // namespace

PpgSignal make_ppg(std::uint64_t seed, double seconds) { return Wrist(seed).wear(seconds); }

}  // namespace deputy::workloads
