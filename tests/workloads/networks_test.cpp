// The project's own networks are the published ones: multiply-accumulates and parameters per
// inference are compared with the tables of the papers and benchmark suites (values written here by
// hand).
#include "workloads/networks.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "delegate/import/tflite.h"
#include "delegate/import/tflite_export.h"
#include "delegate/ir/op_rules.h"
#include "workloads/random.h"

using namespace deputy;
using workloads::build_network;

namespace {

struct Published {
  const char* name;
  std::uint64_t macs;
  std::int64_t parameters;  ///< weights and biases; 0 where the table leaves folded biases out
};
const Published kPublished[] = {
    {"autoencoder", 264192, 0},     {"ecg_tcn", 979440, 14725},
    {"ds_cnn", 2656768, 22604},     {"mobilenet_v1_025_96", 7489664, 0},
    {"eegnet", 11780608, 0},        {"resnet8", 12501632, 0},
    {"temponet", 13320320, 424577}, {"mobilenet_v2_224", 299503232, 2215783},
};

delegate::Graph built(const std::string& name) {
  auto graph = build_network(name);
  REQUIRE(graph.ok());
  return std::move(graph).value();
}

/// Parameters are constants that a weighted operator reads (shapes and axes are not parameters).
std::int64_t parameters(const delegate::Graph& graph) {
  std::int64_t count = 0;
  for (const auto& op : graph.ops)
    for (std::size_t i = 1; i < op.inputs.size() && delegate::op_macs(graph, op) > 0; ++i)
      count += graph.tensor(op.inputs[i]).desc.elements();
  return count;
}

}  // namespace

TEST_CASE("networks have the published MACs and parameters") {
  REQUIRE(workloads::networks().size() == std::size(kPublished));
  for (const Published& p : kPublished) {
    INFO(p.name);
    const auto graph = built(p.name);
    std::uint64_t macs = 0;
    for (const auto& op : graph.ops) macs += delegate::op_macs(graph, op);
    CHECK(macs == p.macs);
    if (p.parameters != 0) CHECK(parameters(graph) == p.parameters);
    for (const auto& info : workloads::networks())
      if (info.name == p.name) {
        CHECK(info.macs == p.macs);
        CHECK(graph.tensor(graph.inputs[0]).desc.shape == info.input_shape);
      }
  }
}

TEST_CASE(
    "networks obey the graph's and the operators' rules, and are int8 as the specification says") {
  for (const auto& info : workloads::networks()) {
    INFO(info.name);
    const auto graph = built(info.name);
    const auto status = delegate::validate(graph);
    INFO((status.ok() ? "" : status.error().text()));
    CHECK(status.ok());
    for (const auto& op : graph.ops) {
      const auto rule = delegate::check_op(graph, op);
      INFO((rule.ok() ? "" : rule.error().text()));
      CHECK(rule.ok());
      if (delegate::op_macs(graph, op) == 0) continue;
      const auto& weights = graph.tensor(op.inputs[1]);
      int lowest = 0, zeros = 0;
      for (const auto byte : weights.data)
        lowest = std::min<int>(lowest, static_cast<std::int8_t>(byte));
      for (const auto zero : weights.desc.quant.zero_point) zeros += zero == 0;
      CHECK(lowest >= -127);
      CHECK(zeros == static_cast<int>(weights.desc.quant.zero_point.size()));
      CHECK(weights.desc.quant.per_channel() == (op.kind != arch::OpKind::FULLY_CONNECTED));
    }
  }
}

TEST_CASE("a network is written as .tflite, the same bytes each time, and reads back") {
  const auto first = delegate::export_tflite(built("ecg_tcn"));
  const auto second = delegate::export_tflite(built("ecg_tcn"));
  REQUIRE(first.ok());
  REQUIRE(second.ok());
  CHECK(*first == *second);
  for (const auto& info : workloads::networks()) {
    const auto bytes = delegate::export_tflite(built(info.name));
    REQUIRE(bytes.ok());
    const auto graph = delegate::import_tflite(*bytes, info.name);
    INFO((graph.ok() ? "" : graph.error().text()));
    CHECK(graph.ok());
  }
}

TEST_CASE("an unknown network is refused with the known names") {
  const auto graph = build_network("resnet9");
  REQUIRE(!graph.ok());
  CHECK(graph.error().text() ==
        "network 'resnet9': there is no such network (use one of: autoencoder, ecg_tcn, ds_cnn, "
        "mobilenet_v1_025_96, eegnet, resnet8, temponet, mobilenet_v2_224)");
}

TEST_CASE("seeded numbers are those of the published generator") {
  // First outputs of SplitMix64 for seed 1234567, from its authors' reference.
  workloads::Random random(1234567);
  CHECK(random.bits() == 6457827717110365317u);
  CHECK(random.bits() == 3203168211198807973u);
  CHECK(random.bits() == 9817491932198370423u);
  workloads::Random spread(7);
  double sum = 0, squares = 0;
  for (int i = 0; i < 100000; ++i) {
    const double v = spread.normal();
    sum += v;
    squares += v * v;
  }
  CHECK(sum / 100000 == Approx(0).margin(0.01));
  CHECK(squares / 100000 == Approx(1).margin(0.01));
}

TEST_CASE("ResNet-50 of the validation table has the published layers", "[.slow]") {
  const delegate::Graph graph = workloads::build_validation_resnet50();
  REQUIRE(delegate::validate(graph).ok());
  std::uint64_t macs = 0;
  int convolutions = 0;
  for (const auto& op : graph.ops) {
    macs += delegate::op_macs(graph, op);
    convolutions += op.kind == arch::OpKind::CONV_2D;
  }
  CHECK(convolutions == 53);
  // The sheet's layers, P x Q x K x C x R x S summed: 3.858 G with the classifier.
  CHECK(macs == 3857973248);
}
