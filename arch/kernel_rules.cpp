// Kernel choice in `fp32` mode (kernel_rules.h): XNNPACK's limits as of early 2022 and the
// structure of TFLite's reduce kernel of that time.
#include "arch/kernel_rules.h"

#include <algorithm>
#include <vector>

namespace deputy::arch {

Numerics add_rule(float s_a, float s_b, float s_out, Numerics mode) {
  if (mode != Numerics::kFp32) return mode;
  const auto taken = [&](float s) { return s / s_out >= 1.0f / 1024.0f && s / s_out < 256.0f; };
  return taken(s_a) && taken(s_b) ? mode : Numerics::kTflite;
}

Numerics mul_rule(float s_a, float s_b, float s_out, Numerics mode) {
  if (mode != Numerics::kFp32) return mode;
  const float scale = s_a * s_b / s_out;
  return scale >= 1.0f / 65536.0f && scale < 256.0f ? mode : Numerics::kTflite;
}

Numerics depthwise_rule(bool has_bias, Numerics mode) {
  return mode == Numerics::kFp32 && !has_bias ? Numerics::kTflite : mode;
}

Numerics transpose_conv_rule(bool per_channel_weights, Numerics mode) {
  return mode == Numerics::kFp32 && per_channel_weights ? Numerics::kTflite : mode;
}

MeanRule mean_rule(std::size_t rank, std::span<const std::int64_t> axes, bool keep_dims,
                   bool equal_quantisation, Numerics mode) {
  if (mode != Numerics::kFp32) return MeanRule::kMeanRequant;
  std::vector<std::int64_t> written(axes.begin(), axes.end());
  std::sort(written.begin(), written.end());
  const std::vector<std::int64_t> height_width = {1, 2}, width = {2};
  if (rank == 4 && (written == height_width || written == width))
    return MeanRule::kMeanRequant;  // global pooling
  std::vector<std::int64_t> resolved;
  for (auto a : written) resolved.push_back(a < 0 ? a + static_cast<std::int64_t>(rank) : a);
  std::sort(resolved.begin(), resolved.end());
  if (rank == 4 && keep_dims && resolved == height_width) return MeanRule::kSplitBias;
  return equal_quantisation ? MeanRule::kTruncated : MeanRule::kFloat;
}

}  // namespace deputy::arch
