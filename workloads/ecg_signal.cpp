#include "workloads/ecg_signal.h"

#include <algorithm>
#include <cmath>

#include "workloads/random.h"

namespace deputy::workloads {
namespace {

constexpr double kTwoPi = 6.283185307179586;
enum Kind : std::uint8_t { kNormal, kSupraventricular, kVentricular, kStShift };

/// Height in mV on each lead, centre in s after the R peak, width (sigma) in s.
struct Wave {
  double height[2], centre, width;
};

class Heart {
 public:
  explicit Heart(const EcgOptions& options)
      : o_(options), random_(options.seed), mv_(2 * samples(), 0.0f) {}

  EcgSignal beat() {
    EcgSignal out;
    double t = 0.6, rr = 60 / o_.beats_per_minute;
    while (t < o_.seconds - 0.1) {
      const double basic = 60 / o_.beats_per_minute *
                           (1 + 0.04 * std::sin(kTwoPi * 0.1 * t) +
                            0.03 * std::sin(kTwoPi * 0.25 * t) + 0.01 * random_.normal());
      add(out, t, shifted(t) ? kStShift : kNormal, rr);
      const double u = random_.uniform(0, 1);
      if (u < o_.ventricular) {  // early, and the sinus node's clock runs on: a compensatory pause
        add(out, t + std::max(0.45, random_.uniform(0.55f, 0.75f) * basic), kVentricular, basic);
        t += 2 * basic;
      } else if (u < o_.ventricular + o_.supraventricular) {  // early, and resets the clock
        t += std::max(0.35, random_.uniform(0.55f, 0.7f) * basic);
        add(out, t, kSupraventricular, basic);
        t += basic * random_.uniform(1.0f, 1.15f);
      } else {
        t += basic;
      }
      rr = basic;
    }
    background();
    out.samples.reserve(mv_.size());
    for (const float mv : mv_)
      out.samples.push_back(
          static_cast<std::int16_t>(std::clamp(std::lrint(mv / kEcgStepMv), -1024L, 1023L)));
    return out;
  }

 private:
  std::size_t samples() const { return static_cast<std::size_t>(o_.seconds * o_.rate); }
  // Episodes are the last part of each ten minutes (of the whole, when it is shorter).
  bool shifted(double t) const {
    const double cycle = std::min(600.0, o_.seconds);
    return std::fmod(t, cycle) >= cycle * (1 - o_.st_shift);
  }

  void add(EcgSignal& out, double t, Kind kind, double rr) {
    const auto sample = static_cast<std::int64_t>(std::lrint(t * o_.rate));
    if (sample >= static_cast<std::int64_t>(samples())) return;
    out.beats.push_back({sample, kind});
    const double gain = 1 + 0.05 * std::sin(kTwoPi * 0.22 * t),
                 late = std::sqrt(std::clamp(rr, 0.35, 1.4));
    const auto wave = [&](double first, double second, double centre, double width) {
      const double vary = gain * (1 + 0.04 * random_.normal());
      draw({{first * vary, second * vary}, t + centre, width});
    };
    if (kind == kVentricular) {  // wide, no P wave, the T wave opposite
      wave(1.5, 1.1, 0.005, 0.034);
      wave(-0.45, -0.3, 0.06, 0.03);
      wave(-0.4, -0.35, 0.16, 0.05);
      wave(-0.3, -0.2, 0.30, 0.06);
      return;
    }
    if (kind == kSupraventricular)
      wave(-0.12, -0.08, -0.12, 0.014);
    else
      wave(0.14, 0.09, -0.16, 0.02);
    wave(-0.08, -0.05, -0.027, 0.008);
    wave(1.1, 0.7, 0, 0.011);
    wave(-0.22, -0.3, 0.028, 0.010);
    wave(0.09, 0.06, 0.27 * late - 0.03, 0.055);
    wave(0.22, 0.14, 0.27 * late + 0.02, 0.045);
    if (kind == kStShift) wave(-0.28, -0.2, 0.085, 0.03), wave(-0.25, -0.18, 0.15, 0.04);
  }

  void draw(const Wave& w) {
    const auto at = [&](double s) { return static_cast<std::int64_t>(std::floor(s * o_.rate)); };
    const std::int64_t from = std::max<std::int64_t>(0, at(w.centre - 4.5 * w.width)),
                       to = std::min<std::int64_t>(static_cast<std::int64_t>(samples()) - 1,
                                                   at(w.centre + 4.5 * w.width) + 1);
    for (std::int64_t i = from; i <= to; ++i) {
      const double d = (static_cast<double>(i) / o_.rate - w.centre) / w.width,
                   shape = std::exp(-0.5 * d * d);
      for (std::size_t lead = 0; lead < 2; ++lead)
        mv_[2 * static_cast<std::size_t>(i) + lead] += static_cast<float>(w.height[lead] * shape);
    }
  }

  // Breathing, drift, mains hum and muscles.
  void background() {
    double drift = 0;
    for (std::size_t i = 0; i < samples(); ++i) {
      const double t = static_cast<double>(i) / o_.rate;
      drift +=
          0.002 *
          (o_.wander_mv * 20 * random_.normal() / std::sqrt(static_cast<double>(o_.rate)) - drift);
      const double slow = drift + o_.wander_mv * std::sin(kTwoPi * 0.23 * t),
                   hum = o_.mains_mv * std::sin(kTwoPi * 50 * t);
      for (std::size_t lead = 0; lead < 2; ++lead)
        mv_[2 * i + lead] += static_cast<float>(slow + hum + o_.noise_mv * random_.normal());
    }
  }

  EcgOptions o_;
  Random random_;
  std::vector<float> mv_;
};

}  // namespace

EcgSignal make_ecg(const EcgOptions& options) { return Heart(options).beat(); }

}  // namespace deputy::workloads
