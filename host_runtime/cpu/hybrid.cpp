// Dynamic-range convolution's quantisation (hybrid.h).
#include "host_runtime/cpu/hybrid.h"

#include <algorithm>
#include <cmath>

namespace deputy::host_runtime {

bool is_hybrid(const OpCall& c) {
  return c.has(1) && c.x(0).dtype == DType::kFloat32 && c.x(1).dtype == DType::kInt8;
}

base::Status expect_hybrid_weights(const OpCall& c) {
  DEPUTY_TRY(expect(c, c.kind == arch::OpKind::CONV_2D,
                    "float activations with int8 weights are taken by CONV_2D only"));
  DEPUTY_TRY(expect(c, c.x(1).quant.scale.size() == 1 && c.x(1).quant.zero_point[0] == 0,
                    "int8 weights of a float convolution must have one scale and zero point 0"));
  if (!c.has(2)) return {};
  DEPUTY_TRY(expect_dtype(c, c.x(2), {DType::kFloat32}));
  return expect(c, c.x(2).elements() == c.x(1).shape[0],
                "the bias's length differs from the output channels");
}

HybridImage quantise_image(const float* image, std::int64_t count) {
  HybridImage q;
  q.values.assign(static_cast<std::size_t>(count), 0);
  q.scale = 1;
  float range = 0;
  for (std::int64_t i = 0; i < count; ++i) range = std::max(range, std::fabs(image[i]));
  if (range == 0 || !std::isfinite(range)) return q;
  q.scale = range / 127.0f;
  const float inverse = 127.0f / range;
  for (std::int64_t i = 0; i < count; ++i)
    q.values[static_cast<std::size_t>(i)] =
        static_cast<std::int16_t>(std::clamp(std::round(image[i] * inverse), -127.0f, 127.0f));
  return q;
}

}  // namespace deputy::host_runtime
