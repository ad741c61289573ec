// Random graphs agree byte for byte with the kernels run one operator at a time, on either engine
// and under every setting of the compiler. The kernels themselves are held to outside results
// elsewhere (golden_ops_test.cpp). The quick share runs with all tests; the whole:
//   build/release/tests/test_graphs "[.slow]"
//   DEPUTY_GRAPHS=5000:2000 build/release/tests/test_graphs "random graphs agree*"   # first:count
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <map>

#include "delegate/dump.h"
#include "delegate/import/tflite_export.h"
#include "tests/support/graphs/agreement.h"
#include "tests/support/graphs/random_graph.h"

namespace deputy::graphs {
namespace {

struct Range {
  std::uint64_t first = 0, count = 0;
};
// DEPUTY_GRAPHS=first[:count] in the environment, else the default.
Range range(Range otherwise) {
  const char* text = std::getenv("DEPUTY_GRAPHS");
  if (text == nullptr) return otherwise;
  char* end = nullptr;
  Range r{std::strtoull(text, &end, 10), 1};
  if (*end == ':') r.count = std::strtoull(end + 1, nullptr, 10);
  return r;
}

// All there is to know about a failure, as small as it gets; also written as a model beside the
// test.
std::string report(std::uint64_t seed, const delegate::Graph& graph, const Setting& setting) {
  const delegate::Graph small = shrink(graph, setting, seed);
  const std::string file = small.name + ".tflite";
  std::string text = "seed " + std::to_string(seed) + "\n" + setting.text() + "\n" +
                     disagreement(small, setting, seed).value_or("(gone)") + "\n" +
                     delegate::dump_graph(small);
  if (const auto bytes = delegate::export_tflite(small); bytes.ok()) {
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes->data()),
               static_cast<std::streamsize>(bytes->size()));
    text += "written as " + file + "\n";
  }
  return text;
}

void check_range(Range r, int singles, int random) {
  for (std::uint64_t seed = r.first; seed < r.first + r.count; ++seed) {
    INFO("seed " << seed);
    const delegate::Graph graph = random_graph(seed);
    const auto all = settings(seed, singles, random);
    const auto failure = first_disagreement(graph, all, seed);
    if (failure) {
      INFO(failure->text << "\nsmaller: " << report(seed, graph, all[failure->setting]));
      CHECK(!failure);
    } else {
      CHECK(!failure);
    }
  }
}

}  // namespace

TEST_CASE("random graphs agree, a quick share") { check_range(range({0, 150}), 2, 2); }

TEST_CASE("random graphs agree under every single switch and random combinations", "[.slow]") {
  check_range(range({1000, 2000}), -1, 8);
}

TEST_CASE("random graphs hold what they promise") {
  std::map<arch::OpKind, int> kinds;
  int several_outputs = 0, read_outputs = 0, shared = 0, passed_through = 0, padded = 0,
      dilated = 0, stride_beyond_kernel = 0, multiplied = 0, broadcast = 0, fused = 0, rows = 0;
  std::size_t most_ops = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const delegate::Graph g = random_graph(seed);
    REQUIRE(delegate::validate(g).ok());
    most_ops = std::max(most_ops, g.ops.size());
    std::vector<int> readers(g.tensors.size(), 0);
    for (const delegate::Op& op : g.ops) {
      ++kinds[op.kind];
      for (const auto id : op.inputs)
        if (id != delegate::kNoTensor) ++readers[static_cast<std::size_t>(id)];
      const auto& a = op.attrs;
      const bool conv = op.kind == arch::OpKind::CONV_2D;
      padded += a.pad_top != a.pad_bottom;
      dilated += a.dilation_h > 1;
      stride_beyond_kernel += conv && a.stride_h > g.tensor(op.inputs[1]).desc.shape[1];
      multiplied += op.kind == arch::OpKind::DEPTHWISE_CONV_2D && a.depth_multiplier > 1;
      broadcast += op.kind == arch::OpKind::ADD &&
                   g.tensor(op.inputs[0]).desc.shape != g.tensor(op.inputs[1]).desc.shape &&
                   g.tensor(op.inputs[0]).desc.quant != g.tensor(op.inputs[1]).desc.quant;
      fused += a.activation != 0;
      rows += op.kind == arch::OpKind::FULLY_CONNECTED && g.tensor(op.outputs[0]).desc.shape[0] > 1;
    }
    several_outputs += g.outputs.size() > 1;
    for (const auto id : g.outputs) {
      read_outputs += readers[static_cast<std::size_t>(id)] > 0;
      passed_through += std::count(g.inputs.begin(), g.inputs.end(), id) > 0;
    }
    shared += std::any_of(readers.begin(), readers.end(), [](int n) { return n > 1; });
  }
  for (const int n : {several_outputs, read_outputs, shared, passed_through, padded, dilated,
                      stride_beyond_kernel, multiplied, broadcast, fused, rows})
    CHECK(n >= 20);
  for (const auto kind :
       {arch::OpKind::CONV_2D, arch::OpKind::DEPTHWISE_CONV_2D, arch::OpKind::FULLY_CONNECTED,
        arch::OpKind::ADD, arch::OpKind::MUL, arch::OpKind::CONCATENATION, arch::OpKind::SPLIT,
        arch::OpKind::SPLIT_V, arch::OpKind::SLICE, arch::OpKind::PAD, arch::OpKind::TRANSPOSE,
        arch::OpKind::RESHAPE, arch::OpKind::AVERAGE_POOL_2D, arch::OpKind::MAX_POOL_2D,
        arch::OpKind::MEAN, arch::OpKind::TANH, arch::OpKind::SOFTMAX, arch::OpKind::QUANTIZE}) {
    INFO(arch::op_name(kind));
    CHECK(kinds[kind] >= 20);
  }
  CHECK(most_ops > 25);
}

TEST_CASE("a seed names one graph") {
  for (const std::uint64_t seed : {3u, 6u, 8u, 9u}) {
    const auto a = delegate::export_tflite(random_graph(seed)),
               b = delegate::export_tflite(random_graph(seed));
    REQUIRE((a.ok() && b.ok()));
    CHECK(*a == *b);
  }
}

}  // namespace deputy::graphs
