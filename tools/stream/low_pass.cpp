#include "tools/stream/low_pass.h"

#include <cmath>
#include <numbers>

namespace deputy::tools {

std::vector<double> low_pass(double cutoff, int taps, double gain) {
  std::vector<double> h;
  double sum = 0;
  for (int i = 0; i < taps; ++i) {
    const double x = 2 * std::numbers::pi * cutoff * (i - (taps - 1) / 2.0);
    h.push_back((x == 0 ? 1 : std::sin(x) / x) *
                (0.54 - 0.46 * std::cos(2 * std::numbers::pi * i / (taps - 1))));
    sum += h.back();
  }
  for (double& v : h) v *= gain / sum;
  return h;
}

}  // namespace deputy::tools
