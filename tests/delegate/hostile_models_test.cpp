// Files that are wrong in one named way, and what the importer says about each. The files are made
// by taking a good one apart into its tables, spoiling one field and writing it again.
#include <catch2/catch.hpp>
#include <functional>
#include <limits>

#include "delegate/import/tflite.h"
#include "delegate/import/tflite_export.h"
#include "tests/delegate/small_network.h"
#include "tflite_generated.h"

using namespace deputy;
using namespace deputy::delegate;

namespace {

std::vector<std::uint8_t> good_file() {
  auto bytes = export_tflite(testing::small_network());
  REQUIRE(bytes.ok());
  return std::move(bytes).value();
}

using Spoil = std::function<void(tflite::ModelT&)>;

std::vector<std::uint8_t> spoiled(const Spoil& spoil) {
  const auto bytes = good_file();
  const std::unique_ptr<tflite::ModelT> model(tflite::GetModel(bytes.data())->UnPack());
  spoil(*model);
  flatbuffers::FlatBufferBuilder builder;
  tflite::FinishModelBuffer(builder, tflite::Model::Pack(builder, model.get()));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

/// The importer's answer; empty when it accepted the file.
std::string answer(const std::vector<std::uint8_t>& bytes,
                   base::ErrorKind kind = base::ErrorKind::kModel) {
  const auto graph = import_tflite(bytes, "m");
  if (graph.ok()) return "";
  CHECK(graph.error().kind == kind);
  return graph.error().text();
}

// Tensors and operators of small_network(), by position.
tflite::SubGraphT& subgraph(tflite::ModelT& m) { return *m.subgraphs[0]; }
tflite::TensorT& tensor(tflite::ModelT& m, std::size_t i) { return *subgraph(m).tensors[i]; }
tflite::OperatorT& op(tflite::ModelT& m, std::size_t i) { return *subgraph(m).operators[i]; }

}  // namespace

TEST_CASE("the small network itself imports, also after being taken apart") {
  CHECK(answer(good_file()).empty());
  CHECK(answer(spoiled([](tflite::ModelT&) {})).empty());
}

TEST_CASE("files that are no flatbuffer are refused") {
  CHECK(answer({}) ==
        "m: not a TFLite file: the identifier TFL3 is missing (give a .tflite model)");
  const std::string text = "this is not a model at all";
  CHECK(answer({text.begin(), text.end()}) ==
        "m: not a TFLite file: the identifier TFL3 is missing (give a .tflite model)");
  auto bytes = good_file();
  bytes.resize(bytes.size() / 2);
  CHECK(answer(bytes) ==
        "m: the flatbuffer is damaged: a table or vector points outside the file or is misaligned "
        "(the file may be "
        "truncated; fetch it again)");
}

TEST_CASE("wrong indices are refused") {
  CHECK(answer(spoiled([](auto& m) { op(m, 0).inputs[1] = 99; })) ==
        "m: CONV_2D #0: tensor index 99 is out of range: the graph has 18 tensors");
  CHECK(answer(spoiled([](auto& m) { op(m, 0).inputs[1] = -7; })) ==
        "m: CONV_2D #0: tensor index -7 is out of range: the graph has 18 tensors");
  CHECK(answer(spoiled([](auto& m) { op(m, 0).outputs[0] = -1; })) ==
        "m: CONV_2D #0: tensor index -1 is out of range: the graph has 18 tensors");
  CHECK(answer(spoiled([](auto& m) { subgraph(m).outputs[0] = 1000; })) ==
        "m: graph outputs: tensor index 1000 is out of range: the graph has 18 tensors");
  CHECK(answer(spoiled([](auto& m) { tensor(m, 1).buffer = 77; })) ==
        "m: tensor #1 'conv/weights': buffer index 77 is out of range: the file has 9 buffers");
  CHECK(answer(spoiled([](auto& m) { op(m, 2).opcode_index = 50; })) ==
        "m: operator #2: operator code index 50 is out of range: the file has 9");
}

TEST_CASE("impossible tensors are refused") {
  CHECK(answer(spoiled([](auto& m) {
          tensor(m, 0).shape = {65536, 65536, 65536, 65536};
        })) == "m: tensor #0 'input' has shape 65536x65536x65536x65536: larger than 2^31 bytes");
  CHECK(
      answer(spoiled([](auto& m) {
        tensor(m, 0).shape = {0, 2147483647, 2147483647, 2147483647};
      })) ==
      "m: tensor #0 'input' has shape 0x2147483647x2147483647x2147483647: larger than 2^31 bytes");
  CHECK(answer(spoiled([](auto& m) { tensor(m, 0).shape[1] = -9; })) ==
        "m: tensor #0 'input' has a negative dimension -9");
  CHECK(answer(spoiled([](auto& m) { tensor(m, 0).shape.assign(9, 1); })) ==
        "m: tensor #0 'input' has 9 dimensions, the most is 8");
  CHECK(answer(spoiled([](auto& m) { m.buffers[1]->data.pop_back(); })) ==
        "m: constant tensor #1 'conv/weights' has 143 bytes of data, its shape 8x3x2x3 of int8 "
        "needs 144");
  CHECK(answer(spoiled([](auto& m) { tensor(m, 0).type = static_cast<tflite::TensorType>(42); }),
               base::ErrorKind::kUnsupported) ==
        "m: tensor #0 'input': element type 42 is not supported (supported: float32, float16, "
        "int8, uint8, int16, "
        "int32, int64, bool)");
}

TEST_CASE("impossible quantisation is refused") {
  const auto quant = [](auto& m, std::size_t i) -> auto& { return *tensor(m, i).quantization; };
  CHECK(answer(spoiled([&](auto& m) {
          quant(m, 0).scale[0] = std::numeric_limits<float>::quiet_NaN();
        })) == "m: tensor #0 'input': scale nan of channel 0 is not a positive number");
  CHECK(answer(spoiled([&](auto& m) { quant(m, 1).scale[3] = 0; })) ==
        "m: tensor #1 'conv/weights': scale 0 of channel 3 is not a positive number");
  CHECK(answer(spoiled([&](auto& m) { quant(m, 0).zero_point[0] = 128; })) ==
        "m: tensor #0 'input': zero point 128 does not fit int8");
  CHECK(answer(spoiled([&](auto& m) { quant(m, 1).zero_point.resize(3); })) ==
        "m: tensor #1 'conv/weights': has 8 scales but 3 zero points");
  CHECK(answer(spoiled([&](auto& m) { quant(m, 1).quantized_dimension = 1; })) ==
        "m: tensor #1 'conv/weights' has 8 scales along axis 1, but its shape is 8x3x2x3");
  CHECK(answer(spoiled([&](auto& m) { tensor(m, 0).quantization.reset(); })) ==
        "m: CONV_2D #0 'conv': tensor 'input' is int8 but has no scale");
}

TEST_CASE("operators out of order are refused") {
  CHECK(answer(spoiled([](auto& m) {
          std::swap(subgraph(m).operators[0], subgraph(m).operators[1]);
        })) == "m: DEPTHWISE_CONV_2D #0 reads tensor #3 'conv' before anything wrote it");
  CHECK(answer(spoiled([](auto& m) { op(m, 1).inputs[0] = op(m, 1).outputs[0]; })) ==
        "m: DEPTHWISE_CONV_2D #1 reads tensor #6 'dw' before anything wrote it");
  CHECK(answer(spoiled([](auto& m) { op(m, 1).outputs[0] = op(m, 0).outputs[0]; })) ==
        "m: DEPTHWISE_CONV_2D #1 writes tensor #3 'conv', which is an input, a constant or already "
        "written");
}

TEST_CASE("operators we do not know are refused with their number") {
  const auto as_code = [](std::int32_t code) {
    return spoiled([=](auto& m) {
      m.operator_codes[0]->code = code;
      m.operator_codes[0]->byte_code = static_cast<std::int8_t>(std::min(code, 127));
      m.operator_codes[0]->custom_code = code == 32 ? "MyOp" : "";
    });
  };
  CHECK(answer(as_code(200), base::ErrorKind::kUnsupported) ==
        "m: operator #0: builtin operator number 200 is not supported");
  CHECK(answer(as_code(32), base::ErrorKind::kUnsupported) ==
        "m: operator #0: custom operator 'MyOp' is not supported");
}

TEST_CASE("options that contradict the operands are refused") {
  const auto conv = [](auto& m) { return op(m, 0).options.AsConv2DOptions(); };
  CHECK(answer(spoiled([&](auto& m) { conv(m)->stride_h = 0; })) ==
        "m: CONV_2D #0 'conv': the stride 0 is not positive");
  CHECK(answer(spoiled([&](auto& m) { conv(m)->dilation_w = -1; })) ==
        "m: CONV_2D #0 'conv': the dilation -1 is not positive");
  CHECK(answer(spoiled([&](auto& m) { conv(m)->padding = static_cast<tflite::Padding>(9); })) ==
        "m: CONV_2D #0: padding 9 does not exist");
  CHECK(answer(spoiled([&](auto& m) {
          conv(m)->activation = static_cast<tflite::FusedActivation>(17);
        })) == "m: CONV_2D #0: fused activation 17 does not exist");
  CHECK(answer(spoiled([&](auto& m) { conv(m)->activation = tflite::FusedActivation::TANH; }),
               base::ErrorKind::kUnsupported) ==
        "m: CONV_2D #0: fused activation TANH is not supported (use a separate operator)");
  CHECK(answer(spoiled([&](auto& m) { conv(m)->stride_h = 1; })) ==
        "m: CONV_2D #0 'conv': output 0 is declared as 1x5x7x8 but its operands make 1x9x7x8");
  CHECK(answer(spoiled([&](auto& m) { op(m, 0).options.Reset(); })) ==
        "m: CONV_2D #0: has no options table");
  CHECK(answer(spoiled([&](auto& m) { std::swap(op(m, 0).options, op(m, 2).options); })) ==
        "m: CONV_2D #0: options table 11 belongs to another operator");
  CHECK(answer(spoiled([&](auto& m) { op(m, 0).inputs.resize(1); })) ==
        "m: CONV_2D #0 'conv': has 1 inputs; it takes 2 to 3");
  CHECK(answer(spoiled([&](auto& m) { tensor(m, 3).shape[3] = 9; })) ==
        "m: CONV_2D #0 'conv': output 0 is declared as 1x5x7x9 but its operands make 1x5x7x8");
}

TEST_CASE("features outside the format's plain part are refused by name") {
  const auto unsupported = base::ErrorKind::kUnsupported;
  CHECK(
      answer(spoiled([](auto& m) { m.version = 4; }), unsupported) ==
      "m: schema version 4 is not supported (convert the model to version 3 of the TFLite format)");
  CHECK(
      answer(spoiled([](auto& m) { m.subgraphs.push_back(std::make_unique<tflite::SubGraphT>()); }),
             unsupported) ==
      "m: the file has 2 subgraphs; only a single one is supported (remove control flow and extra "
      "signatures when "
      "converting)");
  CHECK(answer(spoiled([](auto& m) { m.subgraphs.clear(); })) == "m: the file has no subgraph");
  CHECK(answer(spoiled([](auto& m) { tensor(m, 0).is_variable = true; }), unsupported) ==
        "m: tensor #0 'input': variable tensors (kept between runs) are not supported");
  CHECK(answer(spoiled([](auto& m) {
                 tensor(m, 1).sparsity = std::make_unique<tflite::SparsityParametersT>();
               }),
               unsupported) ==
        "m: tensor #1 'conv/weights': sparse tensors are not supported (densify the model)");
  CHECK(answer(spoiled([](auto& m) { m.buffers[1]->offset = 4096; }), unsupported) ==
        "m: tensor #1 'conv/weights': data outside the flatbuffer (files over 2 GB) is not "
        "supported");
}

TEST_CASE("control characters in names do not reach the terminal") {
  CHECK(answer(spoiled([](auto& m) {
          tensor(m, 0).name = std::string("a\x1b[2J\0b", 7);
          tensor(m, 0).shape[1] = -9;
        })) == "m: tensor #0 'a?[2J?b' has a negative dimension -9");
}

TEST_CASE("a small file cannot unfold into a huge graph") {
  CHECK(answer(spoiled([](auto& m) {
          m.buffers[1]->data.assign(100000, 1);
          tensor(m, 1).shape = {100000};
          for (int i = 0; i < 1000; ++i)
            subgraph(m).tensors.push_back(std::make_unique<tflite::TensorT>(tensor(m, 1)));
        })) == "m: the file's tables refer to the same data too often: refused as hostile");
}
