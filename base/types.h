// Value types that both halves of the software, the models and the public API share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace deputy {

/// Element types of tensors. Little-endian, C order everywhere.
/// Stored in executables: append only.
enum class DType : std::uint8_t {
  kInt8,
  kUint8,
  kInt16,
  kInt32,
  kInt64,
  kFloat32,
  kFloat16,
  kBool,
  kUint16,
  kUint32,
  kUint64,
  kFloat64
};
inline constexpr int kDTypeCount = 12;

std::size_t dtype_size(DType type);       ///< bytes of one element
std::string_view dtype_name(DType type);  ///< "int8", "float32", ... (numpy's names)

/// How an engine rounds when it rescales an int32 accumulator (arch/numerics.h has the rules).
enum class Numerics : std::uint8_t {
  kTflite = 0,  ///< double rounding: TFLite's reference kernels
  kSingle = 1,  ///< one rounding, ties up: TFLITE_SINGLE_ROUNDING, CMSIS-NN
  kFp32 = 2,    ///< float32 scale, ties to even: XNNPACK, ONNX Runtime
};
std::string_view numerics_name(Numerics mode);  ///< "tflite", "single", "fp32"

/// Dimensions, outermost first. Empty for a scalar. Every dimension is >= 0.
using Shape = std::vector<std::int32_t>;
std::int64_t element_count(const Shape& shape);
std::string shape_text(const Shape& shape);  ///< "1x96x96x3", "scalar"

/// real = scale[c] * (q - zero_point[c]); c indexes `axis`, or there is one entry for the whole
/// tensor.
struct Quantisation {
  std::vector<float> scale;              ///< empty: not quantised
  std::vector<std::int32_t> zero_point;  ///< same length as scale
  std::int32_t axis = 0;                 ///< meaningful when scale.size() > 1
  bool present() const { return !scale.empty(); }
  bool per_channel() const { return scale.size() > 1; }
  bool operator==(const Quantisation&) const = default;
};

}  // namespace deputy
