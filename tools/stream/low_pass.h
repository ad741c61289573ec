// The low-pass that chains filter with.
#pragma once

#include <vector>

namespace deputy::tools {

/// `taps` coefficients of a sinc with a Hamming window, linear phase; their sum is `gain`. `cutoff`
/// is a share of the sample rate.
std::vector<double> low_pass(double cutoff, int taps, double gain);

}  // namespace deputy::tools
