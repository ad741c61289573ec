#include "workloads/float_reference.h"

#include <algorithm>

namespace deputy::workloads {
namespace {

std::size_t at(const Shape& s, int n, int h, int w) {
  return (static_cast<std::size_t>(n) * static_cast<std::size_t>(s[1]) +
          static_cast<std::size_t>(h)) *
             static_cast<std::size_t>(s[2]) * static_cast<std::size_t>(s[3]) +
         static_cast<std::size_t>(w) * static_cast<std::size_t>(s[3]);
}

/// Calls f(output position, input position, tap h, tap w) for every tap inside the image.
template <class F>
void for_each_tap(const Shape& in, const Shape& out, const arch::OpAttrs& a, int kernel_h,
                  int kernel_w, F f) {
  for (int n = 0; n < out[0]; ++n)
    for (int oh = 0; oh < out[1]; ++oh)
      for (int ow = 0; ow < out[2]; ++ow)
        for (int kh = 0; kh < kernel_h; ++kh) {
          const int ih = oh * a.stride_h - a.pad_top + kh * a.dilation_h;
          if (ih < 0 || ih >= in[1]) continue;
          for (int kw = 0; kw < kernel_w; ++kw) {
            const int iw = ow * a.stride_w - a.pad_left + kw * a.dilation_w;
            if (iw < 0 || iw >= in[2]) continue;
            f(at(out, n, oh, ow), at(in, n, ih, iw), kh, kw);
          }
        }
}

std::size_t size_of(const Shape& shape) { return static_cast<std::size_t>(element_count(shape)); }

}  // namespace

Sample conv_sample(const Sample& x, const Shape& x_shape, const Sample& w, const Shape& w_shape,
                   const arch::OpAttrs& attrs, const Shape& out_shape) {
  const auto oc = static_cast<std::size_t>(w_shape[0]), ic = static_cast<std::size_t>(w_shape[3]);
  const auto kernel_w = static_cast<std::size_t>(w_shape[2]);
  const std::size_t taps = static_cast<std::size_t>(w_shape[1]) * kernel_w;
  // Output channels innermost: the inner loop then runs over contiguous memory on both sides.
  Sample turned(w.size());
  for (std::size_t o = 0; o < oc; ++o)
    for (std::size_t t = 0; t < taps * ic; ++t) turned[t * oc + o] = w[o * taps * ic + t];
  Sample out(size_of(out_shape));
  for_each_tap(x_shape, out_shape, attrs, w_shape[1], w_shape[2],
               [&](std::size_t o, std::size_t i, int kh, int kw) {
                 const std::size_t tap =
                     static_cast<std::size_t>(kh) * kernel_w + static_cast<std::size_t>(kw);
                 float* __restrict dst = out.data() + o;
                 for (std::size_t c = 0; c < ic; ++c) {
                   const float value = x[i + c];
                   const float* __restrict row = turned.data() + (tap * ic + c) * oc;
                   for (std::size_t k = 0; k < oc; ++k) dst[k] += value * row[k];
                 }
               });
  return out;
}

Sample depthwise_sample(const Sample& x, const Shape& x_shape, const Sample& w,
                        const Shape& w_shape, const arch::OpAttrs& attrs, const Shape& out_shape) {
  const auto ic = static_cast<std::size_t>(x_shape[3]), oc = static_cast<std::size_t>(w_shape[3]);
  const std::size_t multiplier = oc / ic;
  Sample out(size_of(out_shape));
  for_each_tap(x_shape, out_shape, attrs, w_shape[1], w_shape[2],
               [&](std::size_t o, std::size_t i, int kh, int kw) {
                 const float* row = w.data() + (static_cast<std::size_t>(kh) *
                                                    static_cast<std::size_t>(w_shape[2]) +
                                                static_cast<std::size_t>(kw)) *
                                                   oc;
                 for (std::size_t c = 0; c < ic; ++c)
                   for (std::size_t m = 0; m < multiplier; ++m)
                     out[o + c * multiplier + m] += x[i + c] * row[c * multiplier + m];
               });
  return out;
}

Sample fully_connected_sample(const Sample& x, const Sample& w, const Shape& w_shape) {
  const auto n = static_cast<std::size_t>(w_shape[0]), k = static_cast<std::size_t>(w_shape[1]);
  Sample out(x.size() / k * n);
  for (std::size_t row = 0; row < x.size() / k; ++row)
    for (std::size_t o = 0; o < n; ++o) {
      float sum = 0;
      for (std::size_t i = 0; i < k; ++i) sum += x[row * k + i] * w[o * k + i];
      out[row * n + o] = sum;
    }
  return out;
}

Sample pool_sample(const Sample& x, const Shape& x_shape, const arch::OpAttrs& attrs,
                   const Shape& out_shape, bool maximum) {
  const auto channels = static_cast<std::size_t>(x_shape[3]);
  Sample out(size_of(out_shape));
  std::vector<int> taps(out.size() / std::max<std::size_t>(channels, 1));
  for_each_tap(x_shape, out_shape, attrs, attrs.filter_h, attrs.filter_w,
               [&](std::size_t o, std::size_t i, int, int) {
                 const bool first = taps[o / channels]++ == 0;
                 for (std::size_t c = 0; c < channels; ++c)
                   out[o + c] = maximum ? (first ? x[i + c] : std::max(out[o + c], x[i + c]))
                                        : out[o + c] + x[i + c];
               });
  for (std::size_t i = 0; !maximum && i < out.size(); ++i)
    out[i] /= static_cast<float>(taps[i / channels]);
  return out;
}

Sample pad_sample(const Sample& x, const Shape& x_shape, const Shape& out_shape, int top,
                  int left) {
  Sample out(size_of(out_shape));
  const auto row = static_cast<std::ptrdiff_t>(x_shape[2]) * x_shape[3];
  for (int n = 0; n < x_shape[0]; ++n)
    for (int h = 0; h < x_shape[1]; ++h)
      std::copy_n(x.begin() + static_cast<std::ptrdiff_t>(at(x_shape, n, h, 0)), row,
                  out.begin() + static_cast<std::ptrdiff_t>(at(out_shape, n, h + top, left)));
  return out;
}

void apply_activation(Sample& x, arch::Activation activation) {
  for (float& v : x) switch (activation) {
      case arch::Activation::kNone:
        break;
      case arch::Activation::kRelu:
        v = std::max(v, 0.0f);
        break;
      case arch::Activation::kReluN1To1:
        v = std::clamp(v, -1.0f, 1.0f);
        break;
      case arch::Activation::kRelu6:
        v = std::clamp(v, 0.0f, 6.0f);
        break;
    }
}

}  // namespace deputy::workloads
