// SAME and VALID against values worked out by hand from TensorFlow's published rule.
#include "delegate/ir/padding.h"

#include <catch2/catch.hpp>

using deputy::arch::Padding;
using deputy::delegate::window_extent;
using deputy::delegate::window_output;

namespace {
struct Case {
  Padding padding;
  int in, kernel, stride, dilation;
  int out, before, after;
};
}  // namespace

TEST_CASE("SAME and VALID give the documented sizes and pads") {
  const Case cases[] = {
      {Padding::kSame, 49, 10, 2, 1, 25, 4, 5},   // DS-CNN's first layer, height
      {Padding::kSame, 10, 4, 2, 1, 5, 1, 1},     // and width
      {Padding::kSame, 224, 3, 2, 1, 112, 0, 1},  // the odd pad goes after
      {Padding::kSame, 512, 128, 1, 1, 512, 63, 64},
      {Padding::kSame, 256, 3, 1, 8, 256, 8, 8},  // dilation widens the kernel to 17
      {Padding::kSame, 9, 1, 4, 1, 3, 0, 0},      // stride over kernel: nothing to pad
      {Padding::kSame, 0, 3, 1, 1, 0, 0, 1},      // an empty image stays empty
      {Padding::kValid, 32, 5, 4, 1, 7, 0, 0},
      {Padding::kValid, 2, 3, 1, 1, 0, 0, 0},  // the kernel does not fit
      {Padding::kValid, 10, 3, 1, 2, 6, 0, 0},
  };
  for (const Case& c : cases) {
    const auto extent = window_extent(c.padding, c.in, c.kernel, c.stride, c.dilation);
    INFO("in " << c.in << " kernel " << c.kernel << " stride " << c.stride << " dilation "
               << c.dilation);
    CHECK(extent.out == c.out);
    if (c.in == 0) continue;
    CHECK(extent.pad_before == c.before);
    CHECK(extent.pad_after == c.after);
    CHECK(window_output(c.in, c.before + c.after, c.kernel, c.stride, c.dilation) == c.out);
  }
}
