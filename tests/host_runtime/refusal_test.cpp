// What check_host_op refuses and what it says; what only shows at run time.
#include "tests/host_runtime/op_fixture.h"

namespace deputy::tests {
namespace {

using arch::OpKind;
using F = std::vector<float>;
using I8 = std::vector<std::int8_t>;

OpUnderTest conv(Shape out, std::vector<Quant> weights = {{1}}) {
  OpUnderTest op(OpKind::CONV_2D);
  op.input<std::int8_t>({1, 4, 4, 3}, I8(48), {{1}});
  op.input<std::int8_t>({2, 3, 3, 3}, I8(54), std::move(weights));
  op.output<std::int8_t>(out, {{1}});
  return op;
}

TEST_CASE("convolutions") {
  CHECK(conv({1, 2, 2, 2}).refusal() == "accepted");
  CHECK(conv({1, 3, 2, 2}).refusal() ==
        "output 't0' has shape 1x3x2x2, the window implies 1x2x2 x channels");
  CHECK(conv({1, 2, 2, 3}).refusal() == "output channels differ from the weights'");
  CHECK(conv({1, 2, 2, 2}, {{1}, {1}, {1}}).refusal() ==
        "weights 't1' have 3 scales on axis 0, expected 1 or 2 on axis 0");
  CHECK(conv({1, 2, 2, 2}, {}).refusal() ==
        "weights 't1' have 0 scales on axis 0, expected 1 or 2 on axis 0");
  auto stride = conv({1, 2, 2, 2});
  stride.attrs.stride_h = 0;
  CHECK(stride.refusal() == "strides must be positive");
  auto pad = conv({1, 2, 2, 2});
  pad.attrs.pad_left = -1;
  CHECK(pad.refusal() == "padding must not be negative");
  auto bias = conv({1, 2, 2, 2});
  bias.input<std::int32_t>({3}, {0, 0, 0});
  CHECK(bias.refusal() == "bias 't2' has 3 elements for 2 channels");
  auto activation = conv({1, 2, 2, 2});
  activation.attrs.activation = 9;
  CHECK(activation.refusal() == "unknown fused activation 9");
}

TEST_CASE("types, operand counts and quantisation") {
  OpUnderTest types(OpKind::ADD);
  types.input<float>({2}, {1, 2}).input<std::int32_t>({2}, {1, 2}).output<float>({2});
  CHECK(types.refusal() == "tensors 't0' (float32) and 't1' (int32) must have one type");
  OpUnderTest count(OpKind::ADD);
  count.input<float>({2}, {1, 2}).output<float>({2});
  CHECK(count.refusal() == "has 1 inputs, expected 2 to 2");
  OpUnderTest missing(OpKind::ADD);
  missing.input<float>({2}, {1, 2}).absent().output<float>({2});
  CHECK(missing.refusal() == "input 1 is missing");
  OpUnderTest scale(OpKind::RELU);
  scale.input<std::int8_t>({1}, {1}).output<std::int8_t>({1}, {{1}});
  CHECK(scale.refusal() == "tensor 't0' has 0 scales, expected one");
  OpUnderTest zero(OpKind::RELU);
  zero.input<std::int8_t>({1}, {1}, {{0}}).output<std::int8_t>({1}, {{1}});
  CHECK(zero.refusal() == "tensor 't0' has scale 0");
  OpUnderTest point(OpKind::RELU);
  point.input<std::int8_t>({1}, {1}, {{1, 300}}).output<std::int8_t>({1}, {{1}});
  CHECK(point.refusal() == "tensor 't0' has zero point 300, outside its type");
  OpUnderTest pool(OpKind::MAX_POOL_2D);
  pool.input<std::int8_t>({1, 1, 1, 1}, {1}, {{1}}).output<std::int8_t>({1, 1, 1, 1}, {{2}});
  CHECK(pool.refusal() == "input and output quantisation must be equal");
}

TEST_CASE("shapes that do not fit") {
  OpUnderTest broadcast(OpKind::MUL);
  broadcast.input<float>({2}, {1, 2}).input<float>({3}, {1, 2, 3}).output<float>({3});
  CHECK(broadcast.refusal() == "shapes 2 and 3 do not broadcast");
  OpUnderTest reshape(OpKind::RESHAPE);
  reshape.input<float>({2}, {1, 2}).output<float>({3});
  CHECK(reshape.refusal() == "input and output have different numbers of elements");
  OpUnderTest slice(OpKind::SLICE);
  slice.input<float>({4}, F(4))
      .input<std::int32_t>({1}, {2})
      .input<std::int32_t>({1}, {3})
      .output<float>({3});
  CHECK(slice.refusal() == "begin + size is outside the input");
  OpUnderTest perm(OpKind::TRANSPOSE);
  perm.input<float>({2, 2}, F(4)).input<std::int32_t>({2}, {1, 1}).output<float>({2, 2});
  CHECK(perm.refusal() == "the permutation names an axis twice");
  OpUnderTest axis(OpKind::MEAN);
  axis.input<float>({2, 2}, F(4)).input<std::int32_t>({1}, {2}).output<float>({2});
  CHECK(axis.refusal() == "axis 2 is outside a rank-2 tensor");
  OpUnderTest concat(OpKind::CONCATENATION);
  concat.input<float>({2}, F(2)).input<float>({2}, F(2)).output<float>({5});
  CHECK(concat.refusal() == "the inputs do not add up to the output");
  OpUnderTest block(OpKind::DEPTH_TO_SPACE);
  block.input<float>({1, 1, 1, 4}, F(4)).output<float>({1, 2, 2, 1});
  CHECK(block.refusal() == "the block size is not positive or too large");
  OpUnderTest stride(OpKind::STRIDED_SLICE);
  stride.input<float>({4}, F(4))
      .input<std::int32_t>({1}, {0})
      .input<std::int32_t>({1}, {4})
      .input<std::int32_t>({1}, {0});
  stride.output<float>({4});
  CHECK(stride.refusal() == "a stride is 0 or too large");
  OpUnderTest mirror(OpKind::MIRROR_PAD);
  mirror.input<float>({2}, F(2)).input<std::int32_t>({1, 2}, {2, 0}).output<float>({4});
  mirror.attrs.reflect = true;
  CHECK(mirror.refusal() == "a mirror padding is larger than what it mirrors");
  OpUnderTest large(OpKind::SHAPE);
  large.input<float>({2}, F(2)).output<std::int32_t>({65536, 65536, 0});
  CHECK(large.refusal() == "tensor 't0' is too large");
}

TEST_CASE("an index computed at run time is checked there") {
  OpUnderTest gather(OpKind::GATHER);
  gather.input<float>({3}, {1, 2, 3}).input<std::int32_t>({1}, {3}).output<float>({1});
  CHECK(gather.refusal() == "index 3 is outside a dimension of 3");  // as a constant
  const auto status = gather.run();                                  // as a computed operand
  REQUIRE(!status.ok());
  CHECK(status.error().kind == base::ErrorKind::kInput);
  CHECK(status.error().where == "GATHER");
}

}  // namespace
}  // namespace deputy::tests
