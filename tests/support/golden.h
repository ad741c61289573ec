// The golden data beside the repository (../shared/data): finding it, reading it, comparing with
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"

namespace deputy::tests {

/// "<source>/../shared/data" or nullopt where the data is absent.
std::optional<std::string> shared_data_dir();

/// A whole file; fails the test run with its path if it cannot be read.
std::vector<std::uint8_t> read_bytes(const std::string& path);

/// How two tensors differ.
struct Difference {
  std::int64_t count = 0;  ///< differing elements
  double largest =
      0;  ///< steps for integers, |a-b| / max(|b|, 1 % of the tensor's largest |b|) for floats
  bool size_mismatch = false;
  bool none() const { return count == 0 && !size_mismatch; }
  std::string text() const;
};
Difference compare(DType type, const std::vector<std::uint8_t>& got,
                   const std::vector<std::uint8_t>& expected);

struct GoldenTensor {
  std::string file;  ///< relative to the data directory
  DType dtype = DType::kInt8;
  std::int32_t index = -1;  ///< layers: TFLite tensor index; outputs: output number
};

/// One operator case of ops/manifest.json and one runtime.
struct OpCase {
  std::string name, model;
  std::vector<std::string> inputs;
  std::vector<GoldenTensor> tflm, tfjs;  ///< empty: that runtime has no valid output
  bool only_xnnpack = false;             ///< the tfjs run used XNNPACK kernels only
};
std::vector<OpCase> load_op_cases(const std::string& data_dir);

/// One network of manifest.json with its cases for one runtime.
struct ModelCase {
  std::vector<std::string> inputs;
  std::vector<GoldenTensor> tflm, xnnpack;
};
struct ModelGolden {
  std::string name, model;
  std::vector<ModelCase> cases;
  std::vector<GoldenTensor> tflm_layers, xnnpack_layers;  ///< of case 0
};
std::vector<ModelGolden> load_models(const std::string& data_dir);

}  // namespace deputy::tests
