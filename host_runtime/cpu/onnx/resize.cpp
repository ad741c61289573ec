// Resize (nearest, linear, cubic in any number of dimensions), Upsample, GridSample.
#include <algorithm>
#include <cmath>

#include "host_runtime/cpu/onnx/call.h"

namespace deputy::host_runtime::onnx {
namespace {

using base::Status;

/// One dimension's mapping: for each result position the operand positions and weights that make
/// it.
struct Taps {
  std::vector<std::int64_t> at;
  std::vector<double> weight;
  bool outside = false;  ///< extrapolation_value instead
};
struct Rule {
  std::string mode, transform, nearest;
  double cubic = -0.75;
  bool exclude_outside = false;
};

double position(const Rule& r, double i, double scale, std::int64_t in, std::int64_t out,
                double start, double end) {
  const double last = static_cast<double>(in - 1);
  // The specification's reference divides by the size before it is rounded down.
  const double exact = scale * static_cast<double>(in);
  if (r.transform == "align_corners") return out == 1 ? 0 : i * last / (exact - 1);
  if (r.transform == "asymmetric") return i / scale;
  if (r.transform == "pytorch_half_pixel") return out > 1 ? (i + 0.5) / scale - 0.5 : 0;
  if (r.transform == "tf_half_pixel_for_nn") return (i + 0.5) / scale;
  if (r.transform == "tf_crop_and_resize")
    return out > 1 ? start * last + i * (end - start) * last / static_cast<double>(out - 1)
                   : 0.5 * (start + end) * last;
  return (i + 0.5) / scale - 0.5;
}

double nearest(const Rule& r, double x) {
  if (r.nearest == "floor") return std::floor(x);
  if (r.nearest == "ceil") return std::ceil(x);
  return r.nearest == "round_prefer_ceil" ? std::floor(x + 0.5) : std::ceil(x - 0.5);
}

Taps taps_of(const Rule& r, std::int64_t i, double scale, std::int64_t in, std::int64_t out,
             double start, double end) {
  const double x = position(r, static_cast<double>(i), scale, in, out, start, end);
  Taps t;
  t.outside = r.transform == "tf_crop_and_resize" && (x < 0 || x > static_cast<double>(in - 1));
  const auto inside = [&](double v) {
    return static_cast<std::int64_t>(std::clamp(v, 0.0, static_cast<double>(in - 1)));
  };
  if (r.mode == "nearest") {
    t.at = {inside(nearest(r, x))}, t.weight = {1};
    return t;
  }
  const double base = std::floor(x), f = x - base;
  if (r.mode == "linear") {
    t.at = {inside(base), inside(base + 1)}, t.weight = {1 - f, f};
    return t;
  }
  const double a = r.cubic;
  const auto near = [a](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  const auto far = [a](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  t.weight = {far(1 + f), near(f), near(1 - f), far(2 - f)};
  double sum = 0;
  for (int k = 0; k < 4; ++k) {
    const double at = base - 1 + k;
    if (r.exclude_outside && (at < 0 || at > static_cast<double>(in - 1)))
      t.weight[static_cast<std::size_t>(k)] = 0;
    t.at.push_back(inside(at));
    sum += t.weight[static_cast<std::size_t>(k)];
  }
  if (r.exclude_outside)
    for (double& w : t.weight) w /= sum;
  return t;
}

Status interpolate(const Call& c, const Rule& rule, const std::vector<double>& scales,
                   const Shape& shape, const std::vector<double>& roi) {
  DEPUTY_TRY(c.declare(0, c.dtype(), shape));
  if (c.count() == 0 && element_count(shape) != 0)
    return c.fail("nothing to interpolate in shape {}", shape_text(c.shape()));
  return with_type(c, c.dtype(), Numbers{}, [&](auto zero) -> Status {
    using T = decltype(zero);
    if (c.infer_only()) return {};
    // Dimension by dimension, the last one first; dimensions that do not change are skipped.
    std::vector<double> data(static_cast<std::size_t>(c.count()));
    for (std::size_t i = 0; i < data.size(); ++i)
      data[i] = static_cast<double>(static_cast<Wide<T>>(c.in<T>()[i]));
    Shape now = c.shape();
    std::vector<bool> outside(static_cast<std::size_t>(element_count(shape)));
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] == now[d] && scales[d] == 1 && rule.transform != "tf_crop_and_resize") continue;
      const std::int64_t inner = product(now, d + 1, now.size()), outer = product(now, 0, d),
                         in = now[d], out = shape[d];
      std::vector<double> next(static_cast<std::size_t>(outer * out * inner));
      const Ints to = strides(shape);
      for (std::int64_t i = 0; i < out; ++i) {
        const Taps t = taps_of(rule, i, scales[d], in, out, roi.empty() ? 0 : roi[d],
                               roi.empty() ? 1 : roi[d + shape.size()]);
        if (t.outside)
          for (std::size_t k = 0; k < outside.size(); ++k)
            if (static_cast<std::int64_t>(k) / to[d] % out == i) outside[k] = true;
        for (std::int64_t o = 0; o < outer; ++o)
          for (std::int64_t k = 0; k < inner; ++k) {
            double sum = 0;
            for (std::size_t tap = 0; tap < t.at.size(); ++tap)
              sum +=
                  t.weight[tap] * data[static_cast<std::size_t>((o * in + t.at[tap]) * inner + k)];
            next[static_cast<std::size_t>((o * out + i) * inner + k)] = sum;
          }
      }
      data = std::move(next);
      now[d] = shape[d];
    }
    const float extrapolation = c.node.real("extrapolation_value", 0);
    for (std::size_t i = 0; i < data.size(); ++i)
      c.out<T>()[i] = static_cast<Wide<T>>(outside[i] ? extrapolation : data[i]);
    return {};
  });
}

/// The operands of operator set 11 and later are X, roi, scales, sizes; of 10 X, scales.
Status resize(const Call& c) {
  Rule rule{c.node.text("mode", "nearest"),
            c.node.text("coordinate_transformation_mode",
                        c.node.opset < 11 ? "asymmetric" : "half_pixel"),
            c.node.text("nearest_mode", c.node.opset < 11 ? "floor" : "round_prefer_floor"),
            c.node.real("cubic_coeff_a", -0.75f), c.node.integer("exclude_outside", 0) != 0};
  const bool upsample = c.node.op == "Upsample";
  if (rule.mode == "bilinear") rule.mode = "linear";
  if (rule.mode != "nearest" && rule.mode != "linear" && rule.mode != "cubic")
    return c.fail("mode {}", rule.mode);
  constexpr const char* kTransforms[] = {"half_pixel",           "pytorch_half_pixel",
                                         "align_corners",        "asymmetric",
                                         "tf_half_pixel_for_nn", "tf_crop_and_resize"};
  if (std::none_of(std::begin(kTransforms), std::end(kTransforms),
                   [&](const char* t) { return rule.transform == t; }))
    return c.fail("coordinate_transformation_mode {}", rule.transform);
  if (c.node.has("axes") || c.node.has("antialias"))
    return c.fail("axes and antialias are of operator set 18");
  if (c.rank() == 0) return c.fail("a scalar");
  const std::size_t at = c.node.opset < 11 || upsample ? 1 : 2;
  std::vector<double> scales;
  Shape shape;
  if (const auto* list = c.node.find("scales"))
    scales.assign(list->floats.begin(), list->floats.end());
  if (c.has(at) && c.count(at) > 0) {
    if (c.dtype(at) != DType::kFloat32) return c.fail("scales of type {}", dtype_name(c.dtype(at)));
    if (!c.known(at)) return c.unknown(at);
    scales.assign(c.in<float>(at), c.in<float>(at) + c.count(at));
  }
  if (scales.empty() && at == 2 && c.has(3)) {
    DEPUTY_ASSIGN(const Ints sizes, c.values(3));
    if (sizes.size() != c.rank()) return c.fail("{} sizes", sizes.size());
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      if (sizes[d] < 1 || sizes[d] > 1 << 24) return c.fail("a size of {}", sizes[d]);
      shape.push_back(static_cast<std::int32_t>(sizes[d]));
      scales.push_back(static_cast<double>(sizes[d]) / std::max(1, c.shape()[d]));
    }
  }
  if (scales.size() != c.rank())
    return c.fail("{} scales for {} dimensions", scales.size(), c.rank());
  std::vector<double> roi;
  if (rule.transform == "tf_crop_and_resize") {
    if (!c.has(1) || c.count(1) != static_cast<std::int64_t>(2 * c.rank()) ||
        c.dtype(1) != DType::kFloat32)
      return c.fail("tf_crop_and_resize needs a roi of float32");
    roi.assign(2 * c.rank(), 0);
    if (!c.infer_only()) roi.assign(c.in<float>(1), c.in<float>(1) + c.count(1));
  }
  if (shape.empty())
    for (std::size_t d = 0; d < scales.size(); ++d) {
      const double size = std::floor(c.shape()[d] * scales[d]);
      if (!(scales[d] > 0) || !(size >= 0 && size < 1 << 24))
        return c.fail("a scale of {}", scales[d]);
      shape.push_back(static_cast<std::int32_t>(size));
    }
  return interpolate(c, rule, scales, shape, roi);
}

/// Where between the pixels a coordinate in [-1, 1] lies.
double unnormalised(double x, std::int64_t size, bool corners) {
  return corners ? (x + 1) / 2 * static_cast<double>(size - 1)
                 : ((x + 1) * static_cast<double>(size) - 1) / 2;
}
double mirrored(double x, double lo, double hi) {
  const double span = hi - lo;
  if (span <= 0) return lo;
  double d = std::fmod(std::fabs(x - lo), 2 * span);
  if (d > span) d = 2 * span - d;
  return lo + d;
}
Status grid_sample(const Call& c) {
  const std::string mode = c.node.text("mode", "bilinear"),
                    pads = c.node.text("padding_mode", "zeros");
  if (mode != "bilinear" && mode != "nearest" && mode != "bicubic") return c.fail("mode {}", mode);
  if (pads != "zeros" && pads != "border" && pads != "reflection")
    return c.fail("padding_mode {}", pads);
  const bool corners = c.node.integer("align_corners", 0) != 0;
  if (c.rank(0) != 4 || c.rank(1) != 4 || c.shape(1)[3] != 2 || c.shape(0)[0] != c.shape(1)[0] ||
      c.dtype(1) != c.dtype())
    return c.fail("X of shape {} with a grid of {}", shape_text(c.shape(0)),
                  shape_text(c.shape(1)));
  const std::int64_t ch = c.shape()[1], h = c.shape()[2], w = c.shape()[3], oh = c.shape(1)[1],
                     ow = c.shape(1)[2];
  if (h < 1 || w < 1) return c.fail("an image without elements");
  DEPUTY_TRY(c.declare(0, c.dtype(), {c.shape()[0], c.shape()[1], c.shape(1)[1], c.shape(1)[2]}));
  return with_type(c, c.dtype(), Floats{}, [&](auto zero) -> Status {
    using T = decltype(zero);
    if (c.infer_only()) return {};
    const auto settled = [&](double v, std::int64_t size) {
      if (pads == "border") return std::clamp(v, 0.0, static_cast<double>(size - 1));
      if (pads == "reflection")
        return mirrored(v, corners ? 0 : -0.5, static_cast<double>(size) - (corners ? 1 : 0.5));
      return v;
    };
    for (std::int64_t i = 0; i < c.out_count(); ++i) {
      const std::int64_t pixel = i % (oh * ow), n = i / (oh * ow * ch);
      const T* plane = c.in<T>() + i / (oh * ow) * h * w;
      const T* g = c.in<T>(1) + (n * oh * ow + pixel) * 2;
      double x = unnormalised(static_cast<double>(static_cast<Wide<T>>(g[0])), w, corners),
             y = unnormalised(static_cast<double>(static_cast<Wide<T>>(g[1])), h, corners);
      if (!(std::fabs(x) < 1e9 && std::fabs(y) < 1e9)) x = y = -1e6;
      if (mode != "bicubic") x = settled(x, w), y = settled(y, h);
      const auto value = [&](double px, double py) -> double {
        if (pads != "zeros") {
          px = std::clamp(mode == "bicubic" ? std::nearbyint(settled(px, w)) : px, 0.0,
                          static_cast<double>(w - 1));
          py = std::clamp(mode == "bicubic" ? std::nearbyint(settled(py, h)) : py, 0.0,
                          static_cast<double>(h - 1));
        }
        if (px < 0 || py < 0 || px > static_cast<double>(w - 1) || py > static_cast<double>(h - 1))
          return 0;
        return static_cast<double>(static_cast<Wide<T>>(
            plane[static_cast<std::int64_t>(py) * w + static_cast<std::int64_t>(px)]));
      };
      double out = 0;
      if (mode == "nearest") {
        out = value(std::nearbyint(x), std::nearbyint(y));
      } else {
        const double bx = std::floor(x), by = std::floor(y), fx = x - bx, fy = y - by;
        const int first = mode == "bilinear" ? 0 : -1, count = mode == "bilinear" ? 2 : 4;
        const auto weight = [&](int k, double f) {
          if (mode == "bilinear") return k == 0 ? 1 - f : f;
          const double a = -0.75, d = std::fabs(f - k);
          return d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1
                        : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
        };
        for (int ky = first; ky < first + count; ++ky)
          for (int kx = first; kx < first + count; ++kx)
            out += weight(ky, fy) * weight(kx, fx) * value(bx + kx, by + ky);
      }
      c.out<T>()[i] = static_cast<Wide<T>>(out);
    }
    return {};
  });
}

constexpr Kernel kKernels[] = {{"GridSample", 2, 2, 1, grid_sample, "images of two dimensions"},
                               {"Resize", 1, 4, 1, resize, "no antialias, no axes"},
                               {"Upsample", 1, 2, 1, resize}};

}  // namespace

std::span<const Kernel> resize_kernels() { return kKernels; }

}  // namespace deputy::host_runtime::onnx
