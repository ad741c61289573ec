#include "quantize/compensate.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace deputy::quantize {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;
using Index = Eigen::Index;

constexpr double kDamping = 0.01;  ///< of the mean variance, as Frantar et al. 2022
constexpr int kMostSweeps = 32;

/// Means and second moments (about the mean when `centred`) of one group.
struct Spread {
  Vector mean;
  Matrix second;
};
Spread spread(const LayerMoments& layer, const MomentSum& sum, std::size_t group, bool centred) {
  const auto d = static_cast<Index>(layer.taps);
  Spread out;
  out.mean = Eigen::Map<const Vector>(&sum.first[group * layer.taps], d) / sum.count;
  const Eigen::Map<const Matrix> second(&sum.second[group * layer.taps * layer.taps], d, d);
  out.second = second.selfadjointView<Eigen::Lower>();
  out.second /= sum.count;
  if (centred) out.second -= out.mean * out.mean.transpose();
  return out;
}

/// Rounds the rows of one group, columns by falling variance.
class Group {
 public:
  Group(const RoundingTask& task, std::size_t group)
      : task_(task), d_(static_cast<Index>(task.moments.taps)) {
    cost_ = spread(task.moments, task.moments.fit, group, task.mean_corrected).second;
    cost_.diagonal().array() += task.input_variance;
    order_.resize(task.moments.taps);
    std::iota(order_.begin(), order_.end(), Index{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](Index a, Index b) { return cost_(a, a) > cost_(b, b); });
  }

  /// False: the moments are no positive matrix.
  bool factorise() {
    Matrix damped(d_, d_);
    for (Index i = 0; i < d_; ++i)
      for (Index j = 0; j < d_; ++j) damped(i, j) = cost_(at(i), at(j));
    damped.diagonal().array() += std::max(kDamping * cost_.diagonal().mean(), 1e-30);
    const Eigen::LLT<Matrix> whole(damped);
    if (whole.info() != Eigen::Success) return false;
    const Matrix inverse = whole.solve(Matrix::Identity(d_, d_));
    const Eigen::LLT<Matrix> factor(inverse);
    if (factor.info() != Eigen::Success) return false;
    upper_ = factor.matrixU();
    return upper_.allFinite() && upper_.diagonal().minCoeff() > 0;
  }

  void round(const double* weights, double step, double* integers) const {
    Vector left(d_);
    for (Index j = 0; j < d_; ++j) left(j) = weights[at(j)];
    for (Index j = 0; j < d_; ++j) {
      const double q = bounded(std::nearbyint(left(j) / step));
      integers[at(j)] = q;
      const double error = (left(j) - q * step) / upper_(j, j);
      const Index rest = d_ - j - 1;
      left.tail(rest) -= error * upper_.row(j).tail(rest).transpose();
    }
    descend(weights, step, integers);
  }

 private:
  Index at(Index j) const { return order_[static_cast<std::size_t>(j)]; }
  double bounded(double q) const { return std::clamp(q, -task_.largest, task_.largest); }

  /// Steps of one weight that make the error smaller, until there are none.
  void descend(const double* weights, double step, double* integers) const {
    Vector error(d_);
    for (Index j = 0; j < d_; ++j) error(j) = integers[j] * step - weights[j];
    Vector slope = cost_ * error;
    for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
      bool moved = false;
      for (Index j = 0; j < d_; ++j) {
        const double by = slope(j) > 0 ? -step : step;
        const double q = integers[j] + (slope(j) > 0 ? -1 : 1);
        if (bounded(q) != q ||
            by * (by * cost_(j, j) + 2 * slope(j)) >= -1e-9 * step * step * cost_(j, j))
          continue;
        integers[j] = q, moved = true;
        slope += by * cost_.col(j);
      }
      if (!moved) return;
    }
  }

  const RoundingTask& task_;
  const Index d_;
  Matrix cost_, upper_;
  std::vector<Index> order_;
};

}  // namespace

double rounding_error(const RoundingTask& task, const MomentSum& sum,
                      std::span<const double> integers) {
  const std::size_t d = task.moments.taps, rows = task.channels / task.moments.groups;
  double total = 0;
  Vector error(static_cast<Index>(d));
  for (std::size_t g = 0; g < task.moments.groups; ++g) {
    const Spread seen = spread(task.moments, sum, g, false);
    const Vector fitted = spread(task.moments, task.moments.fit, g, false).mean;
    for (std::size_t c = g * rows; c < (g + 1) * rows; ++c) {
      for (std::size_t t = 0; t < d; ++t)
        error(static_cast<Index>(t)) =
            integers[c * d + t] * task.steps[c] - task.weights[c * d + t];
      const double shift = task.mean_corrected ? error.dot(fitted) : 0;
      total += error.dot(seen.second * error) - 2 * shift * error.dot(seen.mean) + shift * shift +
               task.input_variance * error.squaredNorm();
    }
  }
  return total / static_cast<double>(std::max<std::size_t>(task.channels, 1));
}

std::optional<Compensated> compensate(const RoundingTask& task, std::span<const double> nearest) {
  const std::size_t d = task.moments.taps, rows = task.channels / task.moments.groups;
  Compensated out;
  out.integers.resize(nearest.size());
  for (std::size_t g = 0; g < task.moments.groups; ++g) {
    Group group(task, g);
    if (!group.factorise()) return std::nullopt;
    for (std::size_t c = g * rows; c < (g + 1) * rows; ++c)
      group.round(&task.weights[c * d], task.steps[c], &out.integers[c * d]);
  }
  for (const MomentSum* sum : {&task.moments.fit, &task.moments.held}) {
    if (sum->count == 0) continue;
    const double before = rounding_error(task, *sum, nearest),
                 after = rounding_error(task, *sum, out.integers);
    if (!(after < before)) return std::nullopt;
    out.gain_db = 10 * std::log10(before / std::max(after, 1e-300));
  }
  return out;
}

}  // namespace deputy::quantize
