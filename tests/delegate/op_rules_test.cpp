// Operators whose operands contradict them, family by family, and what is said; MACs worked out by
// hand.
#include "delegate/ir/op_rules.h"

#include <catch2/catch.hpp>
#include <cstring>

using namespace deputy;
using namespace deputy::delegate;
using arch::OpAttrs;
using arch::OpKind;

namespace {

/// A graph of one operator. Inputs and outputs are int8 with scale 1 unless said otherwise.
class OneOp {
 public:
  explicit OneOp(OpKind kind) { op_.kind = kind, op_.source_index = 0; }
  OneOp& in(const Shape& shape, DType type = DType::kInt8) {
    return operand(shape, type, op_.inputs);
  }
  OneOp& out(const Shape& shape, DType type = DType::kInt8) {
    return operand(shape, type, op_.outputs);
  }
  /// A constant int32 operand.
  OneOp& ints(const std::vector<std::int32_t>& values, Shape shape = {}) {
    if (shape.empty()) shape = {static_cast<std::int32_t>(values.size())};
    operand(shape, DType::kInt32, op_.inputs);
    Tensor& tensor = graph_.tensors.back();
    tensor.constant = true;
    tensor.data.resize(values.size() * sizeof(std::int32_t));
    if (!values.empty()) std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
    return *this;
  }
  OpAttrs& attrs() { return op_.attrs; }
  Op& op() { return op_; }
  const Graph& graph() const { return graph_; }
  /// The rules' answer without the operator's label; empty when they accept.
  std::string answer() {
    auto status = normalise_op(graph_, op_);
    if (status.ok()) status = check_op(graph_, op_);
    return status.ok() ? "" : status.error().message;
  }

 private:
  OneOp& operand(const Shape& shape, DType type, std::vector<TensorId>& list) {
    Tensor tensor;
    tensor.desc.name = "t" + std::to_string(graph_.tensors.size());
    tensor.desc.dtype = type;
    tensor.desc.shape = shape;
    if (type == DType::kInt8) tensor.desc.quant = {{1.0f}, {0}, 0};
    list.push_back(static_cast<TensorId>(graph_.tensors.size()));
    graph_.tensors.push_back(std::move(tensor));
    return *this;
  }
  Graph graph_;
  Op op_;
};

}  // namespace

TEST_CASE("convolution rules") {
  const auto conv = [](const Shape& weights, const Shape& out) {
    OneOp one(OpKind::CONV_2D);
    one.in({1, 8, 8, 6}).in(weights).out(out);
    return one.answer();
  };
  CHECK(conv({4, 3, 3, 6}, {1, 6, 6, 4}) == "");
  CHECK(conv({4, 3, 3, 3}, {1, 6, 6, 4}) == "");  // two groups of three channels
  CHECK(conv({4, 3, 3, 4}, {1, 6, 6, 4}) == "weights 4x3x3x4 do not fit 6 input channels");
  CHECK(conv({3, 3, 3, 3}, {1, 6, 6, 3}) == "weights 3x3x3x3 do not fit 6 input channels");
  CHECK(conv({4, 9, 3, 6}, {1, 6, 6, 4}) == "a 9x3 kernel does not fit the 1x8x8x6 input");
  CHECK(conv({4, 3, 3, 6}, {1, 8, 8, 4}) ==
        "output 0 is declared as 1x8x8x4 but its operands make 1x6x6x4");
  OneOp bias(OpKind::CONV_2D);
  bias.in({1, 8, 8, 6}).in({4, 1, 1, 6}).ints({1, 2, 3}).out({1, 8, 8, 4});
  CHECK(bias.answer() == "the bias has 3 values for 4 output channels");
  OneOp types(OpKind::CONV_2D);
  types.in({1, 8, 8, 6}).in({4, 1, 1, 6}, DType::kFloat32).out({1, 8, 8, 4});
  CHECK(types.answer() == "float32 weights with int8 activations are not supported");
  OneOp depthwise(OpKind::DEPTHWISE_CONV_2D);
  depthwise.in({1, 8, 8, 6}).in({1, 3, 3, 8}).out({1, 6, 6, 8});
  CHECK(depthwise.answer() == "8 filters cannot be shared out among 6 input channels");
}

TEST_CASE("transposed convolution rules and MACs") {
  OneOp good(OpKind::TRANSPOSE_CONV);
  good.ints({1, 8, 6, 4}).in({4, 3, 3, 2}).in({1, 4, 3, 2}).out({1, 8, 6, 4});
  good.attrs().padding = static_cast<std::uint8_t>(arch::Padding::kSame);
  good.attrs().stride_h = good.attrs().stride_w = 2;
  CHECK(good.answer() == "");
  CHECK(good.attrs().pad_top == 0);  // (4 - 1) * 2 + 3 - 8 = 1, the odd one goes after
  CHECK(good.attrs().pad_bottom == 1);
  CHECK(op_macs(good.graph(), good.op()) == 1u * 4 * 3 * 2 * 3 * 3 * 4);
  OneOp bad(OpKind::TRANSPOSE_CONV);
  bad.ints({1, 8, 6, 4}).in({4, 3, 3, 2}).in({1, 4, 4, 2}).out({1, 8, 6, 4});
  bad.attrs() = good.attrs();
  CHECK(bad.answer() == "output 1x8x6x4 with strides 2x2 needs a 4x3 input, not 1x4x4x2");
}

TEST_CASE("matrix rules and MACs") {
  OneOp fc(OpKind::FULLY_CONNECTED);
  fc.in({2, 12}).in({5, 6}).out({4, 5});
  CHECK(fc.answer() == "");
  CHECK(op_macs(fc.graph(), fc.op()) == 4u * 5 * 6);
  OneOp short_row(OpKind::FULLY_CONNECTED);
  short_row.in({2, 13}).in({5, 6}).out({4, 5});
  CHECK(short_row.answer() == "weights 5x6 do not fit input 2x13");
  OneOp matmul(OpKind::BATCH_MATMUL);
  matmul.in({3, 4, 5}).in({3, 5, 6}).out({3, 4, 6});
  CHECK(matmul.answer() == "");
  CHECK(op_macs(matmul.graph(), matmul.op()) == 3u * 4 * 5 * 6);
  OneOp turned(OpKind::BATCH_MATMUL);
  turned.in({3, 4, 5}).in({3, 5, 6}).out({3, 5, 5});
  turned.attrs().adj_x = true;
  CHECK(turned.answer() == "inner sizes 4 and 5 differ");
}

TEST_CASE("slice rules") {
  const auto strided = [](std::int32_t begin, std::int32_t end, std::int32_t step,
                          std::int32_t out) {
    OneOp one(OpKind::STRIDED_SLICE);
    one.in({10}).ints({begin}).ints({end}).ints({step}).out({out});
    return one.answer();
  };
  CHECK(strided(2, 8, 1, 6) == "");
  CHECK(strided(2, 8, 4, 2) == "");
  CHECK(strided(-3, 100, 1, 3) == "");   // Python: range(10)[-3:100] has 3 elements
  CHECK(strided(8, 2, -1, 6) == "");     // range(10)[8:2:-1]
  CHECK(strided(8, -100, -3, 3) == "");  // range(10)[8:-100:-3] is 8, 5, 2
  CHECK(strided(2, 8, 0, 6) == "the step of dimension 0 is 0");
  CHECK(strided(2, 8, 1, 7) == "output 0 is declared as 7 but its operands make 6");
  OneOp shrink(OpKind::STRIDED_SLICE);
  shrink.in({10}).ints({10}).ints({11}).ints({1}).out({});
  shrink.attrs().shrink_axis_mask = 1;
  CHECK(shrink.answer() == "takes element 10 of dimension 0 of input 10");
  OneOp slice(OpKind::SLICE);
  slice.in({4, 4}).ints({1, 3}).ints({-1, 2}).out({3, 2});
  CHECK(slice.answer() == "begin 3 and size 2 do not fit dimension 1 of 4x4");
  OneOp gather(OpKind::GATHER);
  gather.in({4, 3}).ints({0, 4}).out({2, 3});
  CHECK(gather.answer() == "index 4 is outside axis 0 of input 4x3");
  OneOp split(OpKind::SPLIT);
  split.ints({1}).in({4, 3}).out({4, 1}).out({4, 1});
  split.attrs().num = 2;
  CHECK(split.answer() == "2 outputs of a split into 2 along 3 elements");
  OneOp sizes(OpKind::SPLIT_V);
  sizes.in({6}).ints({4, 3}).ints({0}).out({4}).out({3});
  CHECK(sizes.answer() == "its sizes add up to 7, not 6");
  OneOp concat(OpKind::CONCATENATION);
  concat.in({2, 3}).in({2, 4}).out({4, 3});
  CHECK(concat.answer() == "inputs 2x3 and 2x4 differ outside axis 0");
}

TEST_CASE("rearrangement, reduction and space rules") {
  OneOp transpose(OpKind::TRANSPOSE);
  transpose.in({2, 3, 4}).ints({0, 2, 2}).out({2, 4, 4});
  CHECK(transpose.answer() == "its order names dimension 2 twice");
  OneOp reshape(OpKind::RESHAPE);
  reshape.in({2, 3}).ints({-1, 4}).out({2, 4});
  CHECK(reshape.answer() == "6 elements cannot become shape 2x4");
  OneOp squeeze(OpKind::SQUEEZE);
  squeeze.in({1, 3, 1, 2}).out({2, 3});
  CHECK(squeeze.answer() == "cannot squeeze 1x3x1x2 to 2x3");
  OneOp mean(OpKind::MEAN);
  mean.in({1, 4, 4, 8}).ints({1, 4}).out({1, 4, 8});
  CHECK(mean.answer() == "axis 4 is outside the 4 dimensions");
  OneOp empty(OpKind::MEAN);
  empty.in({1, 0, 4, 8}).ints({1, 2}).out({1, 8});
  CHECK(empty.answer() == "reduces a dimension of size 0 of input 1x0x4x8");
  OneOp run_time(OpKind::MEAN);
  run_time.in({1, 4}).in({1}, DType::kInt32).out({1});
  CHECK(run_time.answer() == "input 1 't1' is computed at run time, only a constant is taken");
  OneOp mirror(OpKind::MIRROR_PAD);
  mirror.in({3}).ints({3, 0}, {1, 2}).out({6});
  mirror.attrs().reflect = true;
  CHECK(mirror.answer() == "mirrors 3 and 0 elements of dimension 0, which has 3");
  OneOp depth(OpKind::DEPTH_TO_SPACE);
  depth.in({1, 2, 2, 6}).out({1, 4, 4, 1});
  depth.attrs().block_size = 2;
  CHECK(depth.answer() == "6 channels do not divide into blocks of 2x2");
  OneOp resize(OpKind::RESIZE_BILINEAR);
  resize.in({1, 2, 2, 3}).ints({4, 5}).out({1, 4, 4, 3});
  CHECK(resize.answer() == "output 0 is declared as 1x4x4x3 but its operands make 1x4x5x3");
  OneOp add(OpKind::ADD);
  add.in({2, 3}).in({2, 2}).out({2, 3});
  CHECK(add.answer() == "shapes 2x3 and 2x2 do not broadcast");
}
