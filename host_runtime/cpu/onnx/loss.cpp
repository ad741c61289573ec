// Losses of classifiers, as exported training graphs evaluate them.
#include <cmath>

#include "host_runtime/cpu/onnx/call.h"

namespace deputy::host_runtime::onnx {
namespace {

using base::Status;

/// scores [N, C, ...], targets [N, ...], weights [C]. `logits`: the scores are not yet logarithms
/// of probabilities.
Status loss(const Call& c, bool logits) {
  if (c.rank() < 2) return c.fail("scores of shape {}", shape_text(c.shape()));
  Shape each = c.shape();
  each.erase(each.begin() + 1);
  if (c.shape(1) != each || (c.dtype(1) != DType::kInt64 && c.dtype(1) != DType::kInt32))
    return c.fail("targets of {} {}", dtype_name(c.dtype(1)), shape_text(c.shape(1)));
  const std::int64_t classes = c.shape()[1], inner = product(c.shape(), 2, c.rank());
  if (c.has(2) && (c.count(2) != classes || c.dtype(2) != c.dtype()))
    return c.fail("weights of {} {}", dtype_name(c.dtype(2)), shape_text(c.shape(2)));
  const std::string reduction = c.node.text("reduction", "mean");
  if (reduction != "none" && reduction != "mean" && reduction != "sum")
    return c.fail("reduction {}", reduction);
  DEPUTY_TRY(c.declare(0, c.dtype(), reduction == "none" ? each : Shape{}));
  if (logits) DEPUTY_TRY(c.declare(1, c.dtype(), c.shape()));
  return with_type(c, c.dtype(), Floats{}, [&](auto zero) -> Status {
    using T = decltype(zero);
    if (c.infer_only()) return {};
    DEPUTY_ASSIGN(const Ints targets, c.values(1));
    const bool ignores = c.node.has("ignore_index");
    const std::int64_t ignored = c.node.integer("ignore_index", 0);
    double sum = 0, weights = 0;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(targets.size()); ++i) {
      const std::int64_t from = i / inner * classes * inner + i % inner;
      const auto score = [&](std::int64_t k) {
        return static_cast<double>(static_cast<Wide<T>>(c.in<T>()[from + k * inner]));
      };
      double top = -HUGE_VAL, exps = 0;
      for (std::int64_t k = 0; logits && k < classes; ++k) top = std::fmax(top, score(k));
      for (std::int64_t k = 0; logits && k < classes; ++k) exps += std::exp(score(k) - top);
      const auto log_probability = [&](std::int64_t k) {
        return logits ? score(k) - top - std::log(exps) : score(k);
      };
      for (std::int64_t k = 0; logits && k < classes; ++k)
        c.out<T>(1)[from + k * inner] = static_cast<Wide<T>>(log_probability(k));
      const std::int64_t target = targets[static_cast<std::size_t>(i)];
      double value = 0;
      if (!(ignores && target == ignored)) {
        if (target < 0 || target >= classes) {
          base::Error error = c.fail("target {} is none of {} classes", target, classes);
          error.kind = base::ErrorKind::kInput;
          return error;
        }
        const double weight =
            c.has(2) ? static_cast<double>(static_cast<Wide<T>>(c.in<T>(2)[target])) : 1;
        value = -log_probability(target) * weight;
        weights += weight;
      }
      sum += value;
      if (reduction == "none") c.out<T>()[i] = static_cast<Wide<T>>(value);
    }
    if (reduction == "sum") *c.out<T>() = static_cast<Wide<T>>(sum);
    if (reduction == "mean") *c.out<T>() = static_cast<Wide<T>>(sum / weights);
    return {};
  });
}
Status negative_log_likelihood(const Call& c) { return loss(c, false); }
Status softmax_cross_entropy(const Call& c) { return loss(c, true); }

constexpr Kernel kKernels[] = {{"NegativeLogLikelihoodLoss", 2, 3, 1, negative_log_likelihood},
                               {"SoftmaxCrossEntropyLoss", 2, 3, 2, softmax_cross_entropy}};

}  // namespace

std::span<const Kernel> loss_kernels() { return kKernels; }

}  // namespace deputy::host_runtime::onnx
