// The reasons a user reads: one legal convolution, and each way to spoil it.
#include <catch2/catch.hpp>
#include <functional>

#include "delegate/compile.h"
#include "delegate/ops/constraints.h"

namespace deputy::delegate {
namespace {

using arch::OpKind;

Tensor tensor(const char* name, Shape shape, DType type = DType::kInt8) {
  Tensor t;
  t.desc.name = name, t.desc.dtype = type, t.desc.shape = std::move(shape);
  if (type == DType::kInt8) t.desc.quant = {{0.1f}, {0}, 0};
  return t;
}
void make_constant(Tensor& t) {
  t.constant = true;
  t.data.assign(static_cast<std::size_t>(t.desc.bytes()), 0);
}

// in 1x4x4x8 -> CONV_2D 3x3 SAME -> out 1x4x4x6
Graph convolution() {
  Graph g;
  g.name = "convolution";
  g.tensors = {tensor("in", {1, 4, 4, 8}), tensor("weights", {6, 3, 3, 8}),
               tensor("bias", {6}, DType::kInt32), tensor("out", {1, 4, 4, 6})};
  make_constant(g.tensors[1]), make_constant(g.tensors[2]);
  Op op{OpKind::CONV_2D, {}, {0, 1, 2}, {3}, 0};
  op.attrs.padding = 1,
  op.attrs.pad_top = op.attrs.pad_left = op.attrs.pad_bottom = op.attrs.pad_right = 1;
  g.ops = {op}, g.inputs = {0}, g.outputs = {3};
  return g;
}

std::string reason(const Graph& g, const CompileOptions& options = {}) {
  return npu_refusal(g, g.ops[0], options).value_or("");
}

}  // namespace

TEST_CASE("each broken rule gives its own reason") {
  CHECK(reason(convolution()).empty());
  struct Spoiled {
    std::function<void(Graph&)> spoil;
    const char* expected;
  };
  const Spoiled cases[] = {
      {[](Graph& g) { g.tensors[0].desc.dtype = DType::kInt16; },
       "feature maps are int8 or uint8 ('in' is int16)"},
      {[](Graph& g) { g.tensors[3].desc.dtype = DType::kUint8; },
       "all feature maps have one type ('in' is int8, 'out' is uint8)"},
      {[](Graph& g) { g.tensors[3].desc.quant = {}; },
       "feature maps are quantised per tensor, zero point within the type ('out' has 0 scales)"},
      {[](Graph& g) { g.tensors[0].desc.quant.zero_point[0] = 128; },
       "feature maps are quantised per tensor, zero point within the type ('in' has zero point "
       "128)"},
      {[](Graph& g) { g.tensors[0].desc.shape[1] = 0; }, "tensors have elements ('in')"},
      {[](Graph& g) { g.tensors[1].constant = false; },
       "weights are constant and of the feature maps' type (the weights are computed at run time)"},
      {[](Graph& g) { g.tensors[1].desc.dtype = DType::kUint8; },
       "weights are constant and of the feature maps' type (the weights are uint8)"},
      {[](Graph& g) { g.tensors[1].desc.quant.zero_point[0] = 128; },
       "weights have scales per tensor or per output channel and one zero point (zero point 128)"},
      {[](Graph& g) {
         g.tensors[1].desc.quant = {std::vector<float>(6, 0.1f), {0, 0, 0, 4, 0, 0}, 0};
       },
       "weights have scales per tensor or per output channel and one zero point (zero points 0 and "
       "4)"},
      {[](Graph& g) {
         g.tensors[1].desc.quant = {std::vector<float>(6, 0.1f), std::vector<std::int32_t>(6, 0),
                                    3};
       },
       "weights have scales per tensor or per output channel and one zero point (6 scales along "
       "axis 3)"},
      {[](Graph& g) { g.tensors[2].desc.dtype = DType::kInt64; },
       "the bias is absent or a constant int32 per output channel (the bias is int64)"},
      {[](Graph& g) { g.tensors[1].desc.shape[3] = 4; },
       "feature maps are rank 4 and of the same batch, all channels in one group (input 1x4x4x8)"},
      {[](Graph& g) { g.ops[0].attrs.stride_w = 65536; }, "strides are at most 65535 (65536)"},
      {[](Graph& g) { g.ops[0].kind = OpKind::LOG_SOFTMAX; },
       "the NPU has no instruction for this operator"},
  };
  for (const Spoiled& c : cases) {
    Graph g = convolution();
    c.spoil(g);
    CHECK(reason(g) == c.expected);
  }
}

TEST_CASE("zero points may be anything a byte holds, and uint8 networks go to the NPU too") {
  Graph g = convolution();
  g.tensors[1].desc.quant.zero_point[0] = -128;
  CHECK(reason(g).empty());
  for (Tensor& t : g.tensors)
    if (t.desc.dtype == DType::kInt8)
      t.desc.dtype = DType::kUint8, t.desc.quant.zero_point[0] = 255;
  CHECK(reason(g).empty());
  g.tensors[0].desc.quant.zero_point[0] = 256;
  CHECK(reason(g) ==
        "feature maps are quantised per tensor, zero point within the type ('in' has zero point "
        "256)");
}

TEST_CASE("a softmax is taken as its kernel allows") {
  const auto softmax = [](std::int32_t length, auto spoil) {
    Graph g;
    g.name = "softmax";
    g.tensors = {tensor("in", {2, length}), tensor("out", {2, length})};
    g.tensors[1].desc.quant = {{1.0f / 256}, {-128}, 0};
    g.ops = {{OpKind::SOFTMAX, {}, {0}, {1}, 0}};
    g.inputs = {0}, g.outputs = {1};
    spoil(g);
    CompileOptions options;
    options.npu.spm.bytes = 4096, options.engine = EnginePolicy::kNpu;
    const std::string text = reason(g, options);
    if (text.empty()) CHECK(compile(g, options).ok());
    return text;
  };
  const auto as_is = [](Graph&) {};
  CHECK(softmax(10, as_is).empty());
  CHECK(softmax(3072, as_is).empty());  // with 1024 bytes of table: the whole scratchpad
  CHECK(softmax(3073, as_is) ==
        "a row and the table of exponentials fit the scratchpad (3073 bytes)");
  const std::string form = "the output has scale 1/256 and the lowest zero point";
  CHECK(softmax(10, [](Graph& g) { g.ops[0].attrs.beta = 0; }) == "beta is positive (0)");
  CHECK(softmax(10, [](Graph& g) { g.tensors[1].desc.quant.scale[0] = 0.5f; }) ==
        form + " (output scale 0.5)");
  CHECK(softmax(10, [](Graph& g) { g.tensors[1].desc.quant.zero_point[0] = -127; }) ==
        form + " (output zero point -127)");
  CHECK(softmax(10, [](Graph& g) {
          for (Tensor& t : g.tensors) t.desc.dtype = DType::kUint8;
          g.tensors[1].desc.quant.zero_point[0] = 0;
        }).empty());
}

TEST_CASE("the largest kernel that fits the scratchpad is taken, one row more is not") {
  CompileOptions options;
  options.npu.spm.bytes = 4096;
  // One channel of an h x 1 window: h input and h weight bytes, 12 of parameters, 1 of output,
  // 16-byte aligned.
  const auto fits = [&](std::int32_t h) {
    Graph g = convolution();
    g.ops[0].attrs = {};
    g.tensors[0].desc.shape = {1, h, 1, 8}, g.tensors[1].desc.shape = {6, h, 1, 8},
    g.tensors[3].desc.shape = {1, 1, 1, 6};
    g.tensors[1].data.assign(static_cast<std::size_t>(6 * h * 8), 1);
    const bool legal = reason(g, options).empty();
    options.engine = EnginePolicy::kNpu;
    const auto executable = compile(g, options);
    CHECK(executable.ok());
    CHECK(executable->ops[0].on_npu == legal);
    return legal;
  };
  CHECK(fits(2032));  // 2032 + 2032 + 16 + 16 = 4096
  CHECK(!fits(2033));
}

TEST_CASE("what no engine takes is refused with both reasons") {
  Graph g = convolution();
  g.tensors[1].desc.dtype = DType::kFloat32;
  make_constant(g.tensors[1]);
  const auto executable = compile(g, {});
  REQUIRE(!executable.ok());
  CHECK(executable.error().kind == base::ErrorKind::kUnsupported);
  CHECK(executable.error().where == "CONV_2D #0 'out'");
  CHECK(executable.error().message.find(
            "NPU: weights are constant and of the feature maps' type") != std::string::npos);
  CHECK(executable.error().message.find(
            "CPU: the CPU kernels take integer inputs with integer weights") != std::string::npos);
}

TEST_CASE("a tiny step between CPU steps goes to the CPU when the engine is chosen by cost") {
  // LOG_SOFTMAX -> RELU -> LOG_SOFTMAX
  Graph g;
  g.name = "sandwich";
  for (const char* name : {"a", "b", "c", "d"}) {
    g.tensors.push_back(tensor(name, {1, 10}));
    g.tensors.back().desc.quant = {{1.0f / 256}, {-128}, 0};
  }
  g.ops = {{OpKind::LOG_SOFTMAX, {}, {0}, {1}, 0},
           {OpKind::RELU, {}, {1}, {2}, 1},
           {OpKind::LOG_SOFTMAX, {}, {2}, {3}, 2}};
  g.inputs = {0}, g.outputs = {3};
  CompileOptions options;
  options.engine = EnginePolicy::kAuto;
  const auto cheapest = compile(g, options);
  REQUIRE(cheapest.ok());
  CHECK(cheapest->programs.empty());
  CHECK(cheapest->ops[1].reason.find("chosen by cost") == 0);
  options.engine = EnginePolicy::kNpu;
  const auto npu = compile(g, options);
  REQUIRE(npu.ok());
  CHECK(npu->ops[1].on_npu);
  CHECK(npu->steps.size() == 3);
}

}  // namespace deputy::delegate
