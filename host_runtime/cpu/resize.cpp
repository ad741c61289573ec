// RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR (operands: input, new size). Quantised bilinear:
// TFLite's 10-bit integer form in `tflite` and `single`, XNNPACK's 11-bit form in `fp32`.
#include "arch/resize.h"

#include <algorithm>
#include <cmath>

#include "host_runtime/cpu/op_call.h"

namespace deputy::host_runtime {
namespace {
using arch::Neighbours;
using arch::OpKind;

base::Status sizes_agree(const OpCall& c, const IndexList& size) {
  return expect(c,
                size.values.size() == 2 && size.values[0] == c.y().shape[1] &&
                    size.values[1] == c.y().shape[2],
                "the output's shape differs from the size operand");
}

base::Status check(const OpCall& c) {
  DEPUTY_TRY(expect_operands(c, 2, 2, 1));
  DEPUTY_TRY(expect_same_dtype(c, c.x(), c.y()));
  DEPUTY_TRY(expect_dtype(c, c.x(1), {DType::kInt32}));
  const Shape &x = c.x().shape, &y = c.y().shape;
  DEPUTY_TRY(expect(c, x.size() == 4 && y.size() == 4 && x[0] == y[0] && x[3] == y[3],
                    "input and output must have rank 4, one batch size and one depth"));
  DEPUTY_TRY(expect(c, x[1] > 0 && x[2] > 0, "the input is empty"));
  DEPUTY_TRY(expect(c, std::max({x[1], x[2], y[1], y[2]}) < (1 << 20), "a dimension is too large"));
  DEPUTY_TRY(expect(c, !(c.attrs.align_corners && c.attrs.half_pixel_centers),
                    "align_corners and half_pixel_centers exclude each other"));
  const IndexList size = read_indices(c.inputs[1]);
  if (size.known) DEPUTY_TRY(sizes_agree(c, size));
  return {};
}
base::Status check_bilinear(const OpCall& c) {
  DEPUTY_TRY(check(c));
  return expect_dtype(c, c.x(), {DType::kInt8, DType::kUint8, DType::kInt16, DType::kFloat32});
}

base::Status run_nearest(const OpCall& c, Numerics) {
  DEPUTY_TRY(sizes_agree(c, read_indices(c.inputs[1])));
  const Shape &x = c.x().shape, &y = c.y().shape;
  with_element_size(c.y().dtype, [&](auto zero) {
    using T = decltype(zero);
    T* out = c.out<T>();
    for (std::int64_t b = 0; b < y[0]; ++b)
      for (std::int64_t oy = 0; oy < y[1]; ++oy) {
        const std::int64_t iy = arch::nearest_index(oy, x[1], y[1], c.attrs);
        for (std::int64_t ox = 0; ox < y[2]; ++ox, out += y[3]) {
          const std::int64_t ix = arch::nearest_index(ox, x[2], y[2], c.attrs);
          std::copy_n(c.in<T>() + ((b * x[1] + iy) * x[2] + ix) * x[3], x[3], out);
        }
      }
  });
  return {};
}

/// XNNPACK's and the float kernels' form.
Neighbours<float> float_neighbours(std::int64_t i, std::int64_t in, std::int64_t out,
                                   const arch::OpAttrs& a) {
  const float scale = arch::resize_step(in, out, a.align_corners);
  float position = a.half_pixel_centers ? (static_cast<float>(i) + 0.5f) * scale - 0.5f
                                        : static_cast<float>(i) * scale;
  position = std::min(std::max(position, 0.0f), static_cast<float>(in - 1));
  const auto low = static_cast<std::int64_t>(position);
  return {low, std::min<std::int64_t>(low + 1, in - 1), position - static_cast<float>(low)};
}

/// Calls mix(out element, top-left, top-right, bottom-left, bottom-right, x neighbours, y
/// neighbours).
template <class T, class N, class Mix>
void bilinear(const OpCall& c,
              N (*neighbours)(std::int64_t, std::int64_t, std::int64_t, const arch::OpAttrs&),
              Mix&& mix) {
  const Shape &x = c.x().shape, &y = c.y().shape;
  T* out = c.out<T>();
  for (std::int64_t b = 0; b < y[0]; ++b)
    for (std::int64_t oy = 0; oy < y[1]; ++oy) {
      const N v = neighbours(oy, x[1], y[1], c.attrs);
      for (std::int64_t ox = 0; ox < y[2]; ++ox, out += y[3]) {
        const N h = neighbours(ox, x[2], y[2], c.attrs);
        const auto pixel = [&](std::int64_t iy, std::int64_t ix) {
          return c.in<T>() + ((b * x[1] + iy) * x[2] + ix) * x[3];
        };
        const T *tl = pixel(v.low, h.low), *tr = pixel(v.low, h.high), *bl = pixel(v.high, h.low),
                *br = pixel(v.high, h.high);
        for (std::int64_t k = 0; k < y[3]; ++k)
          out[k] = mix(tl[k], tr[k], bl[k], br[k], h.weight, v.weight);
      }
    }
}

template <class T>
void bilinear_integer(const OpCall& c, Numerics mode) {
  bilinear<T>(c, arch::integer_neighbours,
              [&](std::int64_t tl, std::int64_t tr, std::int64_t bl, std::int64_t br,
                  std::int64_t wx, std::int64_t wy) {
                const std::int64_t sum =
                    (tl * (1024 - wx) + tr * wx) * (1024 - wy) + (bl * (1024 - wx) + br * wx) * wy;
                if (mode == Numerics::kSingle) return static_cast<T>((sum + (1 << 19)) >> 20);
                return static_cast<T>((sum + (sum > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20));
              });
}

template <class T>
void bilinear_xnnpack(const OpCall& c) {
  bilinear<T>(
      c, float_neighbours,
      [](std::int64_t tl, std::int64_t tr, std::int64_t bl, std::int64_t br, float wx, float wy) {
        const std::int64_t h = std::lrint(wx * 2048.0f), v = std::lrint(wy * 2048.0f);
        const std::int64_t top = tl * 2048 + h * (tr - tl), bottom = bl * 2048 + h * (br - bl);
        return static_cast<T>((top * 2048 + v * (bottom - top) + (1 << 21)) >> 22);
      });
}

base::Status run_bilinear(const OpCall& c, Numerics mode) {
  DEPUTY_TRY(sizes_agree(c, read_indices(c.inputs[1])));
  const bool xnnpack = mode == Numerics::kFp32;
  switch (c.x().dtype) {
    case DType::kFloat32:
      bilinear<float>(c, float_neighbours,
                      [](float tl, float tr, float bl, float br, float wx, float wy) {
                        return tl * (1 - wy) * (1 - wx) + bl * wy * (1 - wx) + tr * (1 - wy) * wx +
                               br * wy * wx;
                      });
      break;
    case DType::kInt16:
      bilinear_integer<std::int16_t>(c, mode);
      break;
    case DType::kUint8:
      xnnpack ? bilinear_xnnpack<std::uint8_t>(c) : bilinear_integer<std::uint8_t>(c, mode);
      break;
    default:
      xnnpack ? bilinear_xnnpack<std::int8_t>(c) : bilinear_integer<std::int8_t>(c, mode);
  }
  return {};
}

constexpr HostOp kOps[] = {{OpKind::RESIZE_BILINEAR, check_bilinear, run_bilinear},
                           {OpKind::RESIZE_NEAREST_NEIGHBOR, check, run_nearest}};
}  // namespace

std::span<const HostOp> resize_ops() { return kOps; }

}  // namespace deputy::host_runtime
