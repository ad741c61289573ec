#include "workloads/random.h"

#include <cstring>

namespace deputy::workloads {

std::vector<std::uint8_t> seeded_input(const arch::TensorDesc& desc, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::uint8_t> data(static_cast<std::size_t>(desc.bytes()));
  if (desc.dtype == DType::kFloat32) {
    for (std::size_t i = 0; i < data.size(); i += sizeof(float)) {
      const float value = random.uniform(-1, 1);
      std::memcpy(data.data() + i, &value, sizeof value);
    }
  } else if (desc.dtype == DType::kBool) {
    for (auto& byte : data) byte = static_cast<std::uint8_t>(random.below(2));
  } else {
    for (auto& byte : data) byte = static_cast<std::uint8_t>(random.below(256));
  }
  return data;
}

}  // namespace deputy::workloads
