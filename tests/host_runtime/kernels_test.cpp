// CPU kernels on values worked out by hand: the types and operators that the golden data does not
// reach.
#include <cmath>

#include "tests/host_runtime/op_fixture.h"

namespace deputy::tests {
namespace {

using arch::OpKind;
using F = std::vector<float>;
using I8 = std::vector<std::int8_t>;
using U8 = std::vector<std::uint8_t>;
using I16 = std::vector<std::int16_t>;
using I32 = std::vector<std::int32_t>;
using I64 = std::vector<std::int64_t>;

TEST_CASE("float convolution skips taps outside the image and adds the bias last") {
  OpUnderTest op(OpKind::CONV_2D);
  op.input<float>({1, 2, 2, 1}, {1, 2, 3, 4});
  op.input<float>({2, 2, 2, 1}, {1, 10, 100, 1000, 1, 1, 1, 1});
  op.input<float>({2}, {0.5f, -100});
  op.output<float>({1, 2, 2, 2});
  op.attrs.pad_bottom = op.attrs.pad_right = 1;  // SAME
  CHECK(op.result<float>() == F{4321.5f, -90, 402.5f, -94, 43.5f, -93, 4.5f, -96});
  op.attrs.activation = 1;
  CHECK(op.result<float>() == F{4321.5f, 0, 402.5f, 0, 43.5f, 0, 4.5f, 0});
}

TEST_CASE("grouped convolution gives each group its own channels") {
  OpUnderTest op(OpKind::CONV_2D);
  op.input<std::int8_t>({1, 1, 1, 4}, {1, 2, 3, 4}, {{1}});
  op.input<std::int8_t>({2, 1, 1, 2}, {1, 10, 1, 10}, {{1}});
  op.output<std::int8_t>({1, 1, 1, 2}, {{1}});
  CHECK(op.result<std::int8_t>() == I8{21, 43});
}

TEST_CASE("int16 convolution sums in 64 bits, or in 32 with an int32 bias") {
  OpUnderTest op(OpKind::CONV_2D);
  op.input<std::int16_t>({1, 1, 1, 2}, {30000, 1000}, {{1}});
  op.input<std::int8_t>({1, 1, 1, 2}, {100, -100}, {{0.001f}});
  op.input<std::int64_t>({1}, {100000});
  op.output<std::int16_t>({1, 1, 1, 1}, {{1}});
  CHECK(op.result<std::int16_t>() == I16{3000});  // (2 900 000 + 100 000) * 0.001
  OpUnderTest narrow(OpKind::CONV_2D);
  narrow.input<std::int16_t>({1, 1, 1, 1}, {7}, {{0.5f}});
  narrow.input<std::int8_t>({1, 1, 1, 1}, {3}, {{1}});
  narrow.input<std::int32_t>({1}, {1});
  narrow.output<std::int16_t>({1, 1, 1, 1}, {{1}});
  CHECK(narrow.result<std::int16_t>() == I16{11});
}

TEST_CASE("uint8 convolution subtracts both zero points") {
  OpUnderTest op(OpKind::CONV_2D);
  op.input<std::uint8_t>({1, 1, 1, 2}, {130, 120}, {{0.5f, 128}});
  op.input<std::uint8_t>({1, 1, 1, 2}, {110, 90}, {{0.5f, 100}});
  op.output<std::uint8_t>({1, 1, 1, 1}, {{1, 10}});
  CHECK(op.result<std::uint8_t>() == U8{35});  // (2 * 10 + -8 * -10) / 4 + 10
}

TEST_CASE("depthwise with a multiplier repeats input channels") {
  OpUnderTest op(OpKind::DEPTHWISE_CONV_2D);
  op.input<float>({1, 1, 1, 2}, {3, 5});
  op.input<float>({1, 1, 1, 4}, {1, 10, 100, 1000});
  op.output<float>({1, 1, 1, 4});
  op.attrs.depth_multiplier = 2;
  CHECK(op.result<float>() == F{3, 30, 500, 5000});
}

TEST_CASE("transposed convolution scatters") {
  OpUnderTest op(OpKind::TRANSPOSE_CONV);
  op.input<std::int32_t>({4}, {1, 1, 5, 1});
  op.input<float>({1, 1, 3, 1}, {1, 10, 100});
  op.input<float>({1, 1, 2, 1}, {1, 2});
  op.output<float>({1, 1, 5, 1});
  op.attrs.stride_w = 2;
  CHECK(op.result<float>() == F{1, 10, 102, 20, 200});
}

TEST_CASE("matrix products transpose and broadcast") {
  OpUnderTest op(OpKind::BATCH_MATMUL);
  op.input<float>({2, 1, 2}, {1, 2, 3, 4});
  op.input<float>({2, 2}, {1, 10, 100, 1000});
  op.output<float>({2, 1, 2});
  CHECK(op.result<float>() == F{201, 2010, 403, 4030});
  op.attrs.adj_y = true;
  CHECK(op.result<float>() == F{21, 2100, 43, 4300});
  OpUnderTest q(OpKind::BATCH_MATMUL);
  q.input<std::int8_t>({1, 2}, {5, 7}, {{0.5f, 1}});
  q.input<std::int8_t>({2, 1}, {4, 8}, {{0.5f, 0}});
  q.output<std::int8_t>({1, 1}, {{1, -3}});
  CHECK(q.result<std::int8_t>() == I8{13});  // (4 * 4 + 6 * 8) / 4 - 3
}

TEST_CASE("integers wrap, divide with truncation, and refuse division by zero at run time") {
  OpUnderTest op(OpKind::ADD);
  op.input<std::int32_t>({2}, {2147483647, -5})
      .input<std::int32_t>({1}, {1})
      .output<std::int32_t>({2});
  CHECK(op.result<std::int32_t>() == I32{-2147483647 - 1, -4});
  OpUnderTest wide(OpKind::MUL);
  wide.input<std::int64_t>({2}, {1LL << 40, -3})
      .input<std::int64_t>({2}, {2, 3})
      .output<std::int64_t>({2});
  CHECK(wide.result<std::int64_t>() == I64{1LL << 41, -9});
  OpUnderTest div(OpKind::DIV);
  div.input<std::int32_t>({2}, {7, -7}).input<std::int32_t>({1}, {2}).output<std::int32_t>({2});
  CHECK(div.result<std::int32_t>() == I32{3, -3});
  OpUnderTest zero(OpKind::DIV);
  zero.input<std::int32_t>({1}, {7}).input<std::int32_t>({1}, {0}).output<std::int32_t>({1});
  REQUIRE(zero.check().ok());
  const auto status = zero.run();
  REQUIRE(!status.ok());
  CHECK(status.error().kind == base::ErrorKind::kInput);
  CHECK(status.error().message == "an integer divisor is zero");
}

TEST_CASE("int16 additions and products") {
  OpUnderTest add(OpKind::ADD);
  add.input<std::int16_t>({2}, {1000, 30000}, {{0.5f}})
      .input<std::int16_t>({2}, {10, 30000}, {{0.25f}});
  add.output<std::int16_t>({2}, {{0.5f}});
  CHECK(add.result<std::int16_t>() == I16{1005, 32767});
  OpUnderTest mul(OpKind::MUL);
  mul.input<std::int16_t>({1}, {300}, {{0.5f}}).input<std::int16_t>({1}, {-200}, {{0.5f}});
  mul.output<std::int16_t>({1}, {{2}});
  CHECK(mul.result<std::int16_t>() == I16{-7500});
}

TEST_CASE("int16 logistic, tanh and softmax are near the real functions") {
  const std::vector<std::int16_t> values = {-32768, -9000, -4096, -1,   0,
                                            1,      2048,  4096,  9000, 32767};
  const float scale = 1.0f / 4096;
  for (OpKind kind : {OpKind::LOGISTIC, OpKind::TANH}) {
    OpUnderTest op(kind);
    op.input<std::int16_t>({10}, values, {{scale}}).output<std::int16_t>({10}, {{1.0f / 32768}});
    const auto got = op.result<std::int16_t>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double x = static_cast<double>(scale) * values[i];
      const double expected =
          32768 * (kind == OpKind::TANH ? std::tanh(x) : 1 / (1 + std::exp(-x)));
      CHECK(std::fabs(got[i] - expected) < 20);
    }
  }
  OpUnderTest softmax(OpKind::SOFTMAX);
  softmax.input<std::int16_t>({1, 3}, {4096, 0, 8192}, {{scale}})
      .output<std::int16_t>({1, 3}, {{1.0f / 32768}});
  const auto got = softmax.result<std::int16_t>();
  const double sum = std::exp(1.0) + 1 + std::exp(2.0);
  CHECK(std::fabs(got[0] - 32768 * std::exp(1.0) / sum) < 20);
  CHECK(std::fabs(got[1] - 32768 / sum) < 20);
  CHECK(std::fabs(got[2] - 32768 * std::exp(2.0) / sum) < 20);
}

TEST_CASE("int16 logistic hits the published table at its nodes") {
  // 1/12288 units: input 512 k at scale 1/12288 reads entry k, halved with rounding to Q0.15.
  OpUnderTest op(OpKind::LOGISTIC);
  op.input<std::int16_t>({5}, {0, 512, 2048, 17920, -512}, {{1.0f / 12288}});
  op.output<std::int16_t>({5}, {{1.0f / 32768}});
  // Entries 32768, 33451, 35493 and (35) 53169.
  CHECK(op.result<std::int16_t>() == I16{16384, 16726, 17747, 26585, 16042});
}

TEST_CASE("uint8 activations use the int8 tables moved by 128") {
  OpUnderTest op(OpKind::RELU6);
  op.input<std::uint8_t>({4}, {0, 100, 130, 255}, {{0.1f, 100}})
      .output<std::uint8_t>({4}, {{0.1f, 100}});
  CHECK(op.result<std::uint8_t>() == U8{100, 100, 130, 160});
}

TEST_CASE("float activations") {
  const auto apply = [](OpKind kind, F in, void (*set)(arch::OpAttrs&) = nullptr) {
    OpUnderTest op(kind);
    const auto n = static_cast<std::int32_t>(in.size());
    op.input<float>({n}, in).output<float>({n});
    if (set) set(op.attrs);
    return op.result<float>();
  };
  CHECK(apply(OpKind::RELU_N1_TO_1, {-2, 0.5f, 2}) == F{-1, 0.5f, 1});
  CHECK(apply(OpKind::HARD_SWISH, {-4, -3, 0, 3, 4}) == F{0, 0, 0, 3, 4});
  CHECK(apply(OpKind::LEAKY_RELU, {-2, 2}, [](arch::OpAttrs& a) { a.alpha = 0.5f; }) == F{-1, 2});
  CHECK(apply(OpKind::ROUND, {0.5f, 1.5f, -2.5f}) == F{0, 2, -2});  // half to even
  CHECK(apply(OpKind::FLOOR, {-0.5f, 1.5f}) == F{-1, 1});
  CHECK(apply(OpKind::CEIL, {-0.5f, 1.5f}) == F{0, 2});
  CHECK(apply(OpKind::SQRT, {9, 2.25f}) == F{3, 1.5f});
  CHECK(apply(OpKind::RSQRT, {4}) == F{0.5f});
  CHECK(apply(OpKind::NEG, {4}) == F{-4});
  CHECK(apply(OpKind::COS, {0}) == F{1});
  CHECK(apply(OpKind::GELU, {0}) == F{0});
}

TEST_CASE("float pooling, reduction, softmax and normalisation") {
  OpUnderTest pool(OpKind::AVERAGE_POOL_2D);
  pool.input<float>({1, 1, 3, 1}, {1, 2, 6}).output<float>({1, 1, 2, 1});
  pool.attrs.filter_w = 2, pool.attrs.stride_w = 2, pool.attrs.pad_right = 1;
  CHECK(pool.result<float>() == F{1.5f, 6});  // the padding does not count
  OpUnderTest sum(OpKind::SUM);
  sum.input<float>({2, 3}, {1, 2, 3, 10, 20, 30}).input<std::int32_t>({1}, {-1}).output<float>({2});
  CHECK(sum.result<float>() == F{6, 60});
  OpUnderTest softmax(OpKind::SOFTMAX);
  softmax.input<float>({1, 2}, {1000, 1000}).output<float>({1, 2});
  CHECK(softmax.result<float>() == F{0.5f, 0.5f});
  OpUnderTest l2(OpKind::L2_NORMALIZATION);
  l2.input<float>({1, 2}, {3, 4}).output<float>({1, 2});
  CHECK(l2.result<float>() == F{0.6f, 0.8f});
}

TEST_CASE("float bilinear resizing") {
  OpUnderTest op(OpKind::RESIZE_BILINEAR);
  op.input<float>({1, 1, 2, 1}, {0, 10})
      .input<std::int32_t>({2}, {1, 4})
      .output<float>({1, 1, 4, 1});
  CHECK(op.result<float>() == F{0, 5, 10, 10});
  op.attrs.half_pixel_centers = true;
  CHECK(op.result<float>() == F{0, 2.5f, 7.5f, 10});
  op.attrs.half_pixel_centers = false, op.attrs.align_corners = true;
  const auto aligned = op.result<float>();
  CHECK(aligned[1] == Approx(10.0 / 3));
  CHECK(aligned[3] == 10);
}

TEST_CASE("casts truncate and saturate") {
  OpUnderTest op(OpKind::CAST);
  op.input<float>({5}, {1.9f, -1.9f, 300, -300, NAN}).output<std::int8_t>({5});
  CHECK(op.result<std::int8_t>() == I8{1, -1, 127, -128, 0});
  OpUnderTest wide(OpKind::CAST);
  wide.input<std::int32_t>({2}, {257, -1}).output<std::uint8_t>({2});
  CHECK(wide.result<std::uint8_t>() == U8{1, 255});
}

TEST_CASE("index operators") {
  OpUnderTest shape(OpKind::SHAPE);
  shape.input<float>({2, 3}, F(6)).output<std::int32_t>({2});
  CHECK(shape.result<std::int32_t>() == I32{2, 3});
  OpUnderTest fill(OpKind::FILL);
  fill.input<std::int32_t>({2}, {1, 3}).input<float>({}, {7}).output<float>({1, 3});
  CHECK(fill.result<float>() == F{7, 7, 7});
  OpUnderTest tile(OpKind::TILE);
  tile.input<std::int8_t>({1, 2}, {1, 2})
      .input<std::int32_t>({2}, {2, 2})
      .output<std::int8_t>({2, 4});
  CHECK(tile.result<std::int8_t>() == I8{1, 2, 1, 2, 1, 2, 1, 2});
  OpUnderTest mirror(OpKind::MIRROR_PAD);
  mirror.input<std::int32_t>({3}, {1, 2, 3})
      .input<std::int32_t>({1, 2}, {2, 1})
      .output<std::int32_t>({6});
  mirror.attrs.reflect = true;
  CHECK(mirror.result<std::int32_t>() == I32{3, 2, 1, 2, 3, 2});
  OpUnderTest gather(OpKind::GATHER);
  gather.input<float>({2, 2}, {1, 2, 3, 4})
      .input<std::int32_t>({2, 1}, {1, 0})
      .output<float>({2, 1});
  gather.attrs.axis = 1, gather.attrs.batch_dims = 1;
  CHECK(gather.result<float>() == F{2, 3});
  OpUnderTest argmax(OpKind::ARG_MAX);
  argmax.input<float>({2, 3}, {1, 5, 5, -1, -2, -1})
      .input<std::int32_t>({1}, {1})
      .output<std::int64_t>({2});
  CHECK(argmax.result<std::int64_t>() == I64{1, 0});  // the first of equals
}

TEST_CASE("quantise and dequantise") {
  OpUnderTest q(OpKind::QUANTIZE);
  q.input<float>({4}, {0.25f, -0.25f, 1e9f, NAN}).output<std::int8_t>({4}, {{0.5f, 1}});
  CHECK(q.result<std::int8_t>() == I8{2, 0, 127, -128});                 // half away from zero
  CHECK(q.result<std::int8_t>(Numerics::kFp32) == I8{1, 1, 127, -128});  // half to even
  OpUnderTest per_channel(OpKind::DEQUANTIZE);
  per_channel.input<std::int8_t>({2, 2}, {1, 2, 3, 4}, {{0.5f}, {10}}, 0).output<float>({2, 2});
  CHECK(per_channel.result<float>() == F{0.5f, 1, 30, 40});
}

TEST_CASE("work is counted from shapes") {
  OpUnderTest conv(OpKind::CONV_2D);
  conv.input<std::int8_t>({1, 4, 4, 3}, I8(48), {{1}})
      .input<std::int8_t>({5, 1, 1, 3}, I8(15), {{1}});
  conv.output<std::int8_t>({1, 4, 4, 5}, {{1}});
  const auto work = conv.work();
  REQUIRE(work.size() == 3);
  CHECK((work[0].kernel == CpuKernel::kControl && work[0].amount == 1));
  CHECK((work[1].kernel == CpuKernel::kMacInt8 && work[1].amount == 16 * 5 * 3));
  OpUnderTest copy(OpKind::RESHAPE);
  copy.input<float>({6}, F(6)).output<float>({2, 3});
  CHECK((copy.work()[1].kernel == CpuKernel::kCopy && copy.work()[1].amount == 24));
}

}  // namespace
}  // namespace deputy::tests
