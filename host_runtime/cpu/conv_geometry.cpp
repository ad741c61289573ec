// Window checks (conv_geometry.h).
#include "host_runtime/cpu/conv_geometry.h"

#include <fmt/format.h>

namespace deputy::host_runtime {

Window make_window(const OpCall& c, std::int64_t kh, std::int64_t kw) {
  const auto& x = c.x().shape;
  const auto& y = c.y().shape;
  const auto& a = c.attrs;
  return {x[0], x[1],       x[2],       x[3],         y[1],         y[2],      y[3],      kh,
          kw,   a.stride_h, a.stride_w, a.dilation_h, a.dilation_w, a.pad_top, a.pad_left};
}

base::Status expect_window(const OpCall& c, std::int64_t kh, std::int64_t kw) {
  const auto& a = c.attrs;
  const auto& x = c.x().shape;
  const auto& y = c.y().shape;
  DEPUTY_TRY(expect(c, x.size() == 4 && y.size() == 4, "input and output must have rank 4"));
  DEPUTY_TRY(expect(c, a.stride_h > 0 && a.stride_w > 0, "strides must be positive"));
  DEPUTY_TRY(expect(c, a.dilation_h > 0 && a.dilation_w > 0, "dilations must be positive"));
  DEPUTY_TRY(expect(c, kh > 0 && kw > 0, "the window must not be empty"));
  DEPUTY_TRY(expect(c, a.pad_top >= 0 && a.pad_bottom >= 0 && a.pad_left >= 0 && a.pad_right >= 0,
                    "padding must not be negative"));
  const auto out_size = [](std::int64_t in, std::int64_t before, std::int64_t after, std::int64_t k,
                           std::int64_t d, std::int64_t s) {
    const std::int64_t room = in + before + after - ((k - 1) * d + 1);
    return room < 0 ? 0 : room / s + 1;
  };
  const std::int64_t oh = out_size(x[1], a.pad_top, a.pad_bottom, kh, a.dilation_h, a.stride_h);
  const std::int64_t ow = out_size(x[2], a.pad_left, a.pad_right, kw, a.dilation_w, a.stride_w);
  if (y[0] != x[0] || y[1] != oh || y[2] != ow)
    return op_error(c,
                    fmt::format("output '{}' has shape {}, the window implies {}x{}x{} x channels",
                                c.y().name, shape_text(y), x[0], oh, ow));
  return {};
}

}  // namespace deputy::host_runtime
