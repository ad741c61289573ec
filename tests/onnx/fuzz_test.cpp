// Mutated ONNX files: whatever the bytes, the importer answers with a valid graph or with an error
// that has a message, and what it accepts runs or fails with a message. Memory errors show under
// the asan preset.
//
// DEPUTY_FUZZ_MODELS sets how many files are tried: 10000 for a thorough run, as recorded in
// docs/results.md.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "api/onnx_cases.h"
#include "tests/onnx/builder.h"
#include "tests/support/golden.h"
#include "tests/support/interpreter.h"
#include "workloads/random.h"

namespace deputy::tests {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// Flips, overwrites, removes, repeats and exchanges bytes; small numbers are common because
/// lengths and types are.
Bytes mutated(Bytes bytes, const Bytes& other, workloads::Random& random) {
  for (std::uint32_t n = 1 + random.below(4); n > 0; --n) {
    if (bytes.empty()) return bytes;
    const std::size_t at = random.below(static_cast<std::uint32_t>(bytes.size()));
    const std::size_t length = std::min<std::size_t>(bytes.size() - at, 1 + random.below(16));
    switch (random.below(7)) {
      case 0:
        bytes[at] ^= static_cast<std::uint8_t>(1u << random.below(8));
        break;
      case 1:
        bytes[at] = static_cast<std::uint8_t>(random.below(256));
        break;
      case 2:
        bytes[at] = static_cast<std::uint8_t>(random.below(20));
        break;
      case 3:
        bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                    bytes.begin() + static_cast<std::ptrdiff_t>(at + length));
        break;
      case 4: {
        const Bytes part(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                         bytes.begin() + static_cast<std::ptrdiff_t>(at + length));
        bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), part.begin(), part.end());
        break;
      }
      case 5:
        bytes.resize(at);
        break;
      default:
        for (std::size_t i = 0; i < length && at + i < other.size(); ++i)
          bytes[at + i] = other[at + i];
    }
  }
  return bytes;
}

TEST_CASE("mutated ONNX files are answered") {
  std::vector<Bytes> seeds;
  const auto folders = api::onnx_case_folders("/usr/share/libonnx-testdata/data/node", "");
  for (const auto& folder : folders) {
    const std::string file = folder + "/model.onnx";
    if (std::filesystem::file_size(file) < 20000) seeds.push_back(read_bytes(file));
  }
  if (const auto data = shared_data_dir())
    for (const char* name : {"kws_ref_model.qdq.onnx", "mnist.onnx"})
      seeds.push_back(read_bytes(*data + "/models/" + name));
  if (seeds.empty()) {
    WARN("skipped: neither libonnx-testdata nor shared data are here");
    return;
  }
  const char* text = std::getenv("DEPUTY_FUZZ_MODELS");
  const int count = text ? std::max(1, std::atoi(text)) : 300;
  int accepted = 0, refused = 0, ran = 0;
  for (int i = 0; i < count; ++i) {
    workloads::Random random(1000 + static_cast<std::uint64_t>(i));
    const Bytes& original = seeds[random.below(static_cast<std::uint32_t>(seeds.size()))];
    const Bytes& other = seeds[random.below(static_cast<std::uint32_t>(seeds.size()))];
    const auto graph = api::import_model(mutated(original, other, random), "fuzz.onnx", "");
    INFO("seed " << 1000 + i);
    if (!graph.ok()) {
      ++refused;
      CHECK(!graph.error().message.empty());
      continue;
    }
    ++accepted;
    CHECK(delegate::validate(*graph).ok());
    std::int64_t elements = 0;
    for (const auto& tensor : graph->tensors) elements += tensor.desc.elements();
    if (elements > 1 << 20) continue;  // it may be right, and slow
    const auto values = run_graph(*graph, pattern(*graph), Numerics::kFp32);
    if (values.ok())
      ++ran;
    else
      CHECK(!values.error().message.empty());
  }
  // Both answers must occur often, or the mutations test nothing.
  CHECK(accepted > count / 50);
  CHECK(refused > count / 50);
  CHECK(ran > 0);
}

}  // namespace
}  // namespace deputy::tests
