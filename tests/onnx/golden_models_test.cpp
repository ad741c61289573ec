// The shared ONNX models against ONNX Runtime's outputs, on the CPU's kernels.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "api/import_model.h"
#include "tests/support/golden.h"
#include "tests/support/interpreter.h"

namespace deputy::tests {
namespace {

using Json = nlohmann::json;

/// The outputs when the average pool rounds ties to even, as ONNX Runtime's does, instead of away
/// from zero.
std::vector<std::uint8_t> with_even_ties(const delegate::Graph& graph, const GraphValues& values) {
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const delegate::Op& op = graph.ops[i];
    if (op.kind != arch::OpKind::AVERAGE_POOL_2D) continue;
    const auto& x = graph.tensor(op.inputs[0]).desc;
    const auto& y = graph.tensor(op.outputs[0]).desc;
    REQUIRE((y.shape[1] == 1 && y.shape[2] == 1 && y.shape[0] == 1));  // over the whole image
    const auto& in = values.tensors[static_cast<std::size_t>(op.inputs[0])];
    const auto channels = static_cast<std::size_t>(x.shape[3]), pixels = in.size() / channels;
    std::vector<std::uint8_t> mean(channels);
    for (std::size_t c = 0; c < channels; ++c) {
      double sum = 0;
      for (std::size_t p = 0; p < pixels; ++p)
        sum += static_cast<std::int8_t>(in[p * channels + c]) - x.quant.zero_point[0];
      mean[c] = static_cast<std::uint8_t>(std::nearbyint(sum / static_cast<double>(pixels)) +
                                          x.quant.zero_point[0]);
    }
    delegate::Graph rest = graph;
    rest.ops.assign(graph.ops.begin() + static_cast<std::ptrdiff_t>(i) + 1, graph.ops.end());
    rest.inputs = {op.outputs[0]};
    const auto after =
        run_graph(rest, std::vector<std::vector<std::uint8_t>>{mean}, Numerics::kFp32);
    REQUIRE(after.ok());
    return after->tensors[static_cast<std::size_t>(graph.outputs[0])];
  }
  return {};
}

struct Totals {
  std::int64_t elements = 0, unequal = 0;
  double largest = 0;
  int transposes = 0, onnx = 0;
  std::int64_t unequal_even = 0;  ///< with the average pool's ties to even
};

std::map<std::string, Totals> run_models(const std::string& data) {
  std::ifstream in(data + "/manifest.json");
  const Json manifest = Json::parse(in);
  std::map<std::string, Totals> out;
  for (const auto& model : manifest.at("models")) {
    const std::string file = model.at("file");
    if (!file.ends_with(".onnx")) continue;
    const bool twin = model.contains("vectors_of");
    const std::string runtime = twin ? model.at("expect").get<std::string>() : "ort";
    Json source = model;
    for (const auto& other : manifest.at("models"))
      if (twin && other.at("name") == model.at("vectors_of")) source = other;
    const auto graph = api::import_model(read_bytes(data + "/" + file), file, "");
    INFO(file << ": " << (graph.ok() ? std::string() : graph.error().text()));
    REQUIRE(graph.ok());
    Totals& t = out[model.at("name")];
    for (const auto& op : graph->ops)
      t.transposes += op.kind == arch::OpKind::TRANSPOSE, t.onnx += op.kind == arch::OpKind::ONNX;
    for (const auto& row : source.at("cases")) {
      if (!row.at("outputs").contains(runtime)) continue;
      std::vector<std::vector<std::uint8_t>> inputs;
      for (const auto& input : row.at("inputs"))
        inputs.push_back(read_bytes(
            data + "/" + (input.is_object() ? input.at("file") : input).get<std::string>()));
      const auto values = run_graph(*graph, inputs, Numerics::kFp32);
      INFO((values.ok() ? std::string() : values.error().text()));
      REQUIRE(values.ok());
      const auto& got = values->tensors[static_cast<std::size_t>(graph->outputs[0])];
      const auto want = read_bytes(
          data + "/" + row.at("outputs").at(runtime).at(0).at("file").get<std::string>());
      REQUIRE(got.size() == want.size());
      if (twin) {
        const auto even = with_even_ties(*graph, *values);
        for (std::size_t i = 0; i < got.size(); ++i) {
          t.unequal_even += !even.empty() && even[i] != want[i];
          ++t.elements, t.unequal += got[i] != want[i];
          t.largest =
              std::max(t.largest, std::fabs(static_cast<double>(static_cast<std::int8_t>(got[i])) -
                                            static_cast<std::int8_t>(want[i])));
        }
        continue;
      }
      for (std::size_t i = 0; i < got.size(); i += 4) {
        float a, b;
        std::memcpy(&a, &got[i], 4), std::memcpy(&b, &want[i], 4);
        const double off = std::fabs(static_cast<double>(a) - b) /
                           std::max(1.0, std::fabs(static_cast<double>(b)));
        ++t.elements, t.unequal += !(off <= 1e-4);
        t.largest = std::max(t.largest, off);
      }
    }
    if (std::getenv("DEPUTY_VERBOSE"))
      fmt::print("{}: {} of {} differ, by up to {:.3g}; {} transposes, {} ONNX operators of {}\n",
                 model.at("name").get<std::string>(), t.unequal, t.elements, t.largest,
                 t.transposes, t.onnx, graph->ops.size());
  }
  return out;
}

TEST_CASE("ONNX models of others against ONNX Runtime") {
  const auto data = shared_data_dir();
  if (!data) {
    WARN("skipped: no shared data");
    return;
  }
  for (const auto& [name, t] : run_models(*data)) {
    INFO(name << ": " << t.unequal << " of " << t.elements << " differ, by up to " << t.largest);
    CHECK(t.elements > 0);
    CHECK(t.transposes <= 1);
    // ResNet's pool meets ties: its only difference from ONNX Runtime is the rule for them
    // (docs/onnx.md).
    const bool ties = name == "pretrainedResnet_quant_qdq_onnx";
    CHECK(t.unequal == (ties ? 4 : 0));
    CHECK(t.unequal_even == 0);
  }
}

}  // namespace
}  // namespace deputy::tests
