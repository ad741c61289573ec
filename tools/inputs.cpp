// Where a run's inputs come from: files, or a seeded generator.
#include <fmt/format.h>

#include <cstring>

#include "tools/files.h"
#include "tools/npy.h"
#include "tools/simulate.h"

namespace deputy::tools {
namespace {

// splitmix64 (Steele, Lea, Flood 2014): tiny, and the same on every machine.
std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// Integers over their whole 8-bit range (wider ones in [0, 256)), floats in [-1, 1).
std::vector<std::uint8_t> random_tensor(const arch::TensorDesc& desc, std::uint64_t seed) {
  std::vector<std::uint8_t> out(static_cast<std::size_t>(desc.bytes()));
  std::uint64_t state = seed;
  const std::size_t size = dtype_size(desc.dtype);
  for (std::size_t i = 0; i + size <= out.size(); i += size) {
    const std::uint64_t r = next_random(state);
    if (desc.dtype == DType::kFloat32) {
      const float value = static_cast<float>(r >> 40) * 0x1p-23f - 1.0f;
      std::memcpy(&out[i], &value, 4);
    } else if (desc.dtype == DType::kBool) {
      out[i] = r >> 63;
    } else {
      out[i] = static_cast<std::uint8_t>(r >> 56);
    }
  }
  return out;
}

}  // namespace

base::Result<std::vector<std::vector<std::uint8_t>>> load_inputs(
    const delegate::Graph& graph, const std::vector<std::string>& files, std::uint64_t seed) {
  if (files.size() > graph.inputs.size())
    return base::Error{
        base::ErrorKind::kUsage, "--input",
        fmt::format("{} files given, the model has {} inputs", files.size(), graph.inputs.size()),
        "give one file per input, in the model's order"};
  std::vector<std::vector<std::uint8_t>> inputs;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const arch::TensorDesc& desc = graph.tensor(graph.inputs[i]).desc;
    if (i >= files.size()) {
      inputs.push_back(random_tensor(desc, seed * 1000003 + i));
      continue;
    }
    DEPUTY_ASSIGN(auto bytes, read_file(files[i]));
    const std::string want = fmt::format("input {} '{}' is {} {}", i, desc.name,
                                         dtype_name(desc.dtype), shape_text(desc.shape));
    if (files[i].ends_with(".npy")) {
      DEPUTY_ASSIGN(auto array, parse_npy(bytes, files[i]));
      if (array.dtype != desc.dtype || array.shape != desc.shape)
        return base::Error{base::ErrorKind::kInput, files[i],
                           fmt::format("holds {} {}, but {}", dtype_name(array.dtype),
                                       shape_text(array.shape), want),
                           "convert or reshape the array"};
      bytes = std::move(array.data);
    }
    if (bytes.size() != static_cast<std::size_t>(desc.bytes()))
      return base::Error{
          base::ErrorKind::kInput, files[i],
          fmt::format("holds {} bytes, but {} ({} bytes)", bytes.size(), want, desc.bytes()),
          "raw files hold the tensor's bytes only, little-endian, C order"};
    inputs.push_back(std::move(bytes));
  }
  return inputs;
}

}  // namespace deputy::tools
