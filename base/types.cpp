#include "base/types.h"

#include <array>

#include "base/check.h"

namespace deputy {
namespace {
struct DTypeRow {
  std::size_t size;
  std::string_view name;
};
constexpr std::array<DTypeRow, kDTypeCount> kDTypes = {{{1, "int8"},
                                                        {1, "uint8"},
                                                        {2, "int16"},
                                                        {4, "int32"},
                                                        {8, "int64"},
                                                        {4, "float32"},
                                                        {2, "float16"},
                                                        {1, "bool"},
                                                        {2, "uint16"},
                                                        {4, "uint32"},
                                                        {8, "uint64"},
                                                        {8, "float64"}}};
}  // namespace

std::size_t dtype_size(DType type) { return kDTypes.at(static_cast<std::size_t>(type)).size; }
std::string_view dtype_name(DType type) { return kDTypes.at(static_cast<std::size_t>(type)).name; }

std::string_view numerics_name(Numerics mode) {
  switch (mode) {
    case Numerics::kTflite:
      return "tflite";
    case Numerics::kSingle:
      return "single";
    case Numerics::kFp32:
      return "fp32";
  }
  DEPUTY_CHECK(false, "unknown numerics mode");
}

std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  for (auto dim : shape) count *= dim;
  return count;
}

std::string shape_text(const Shape& shape) {
  if (shape.empty()) return "scalar";
  std::string text;
  for (auto dim : shape) text += (text.empty() ? "" : "x") + std::to_string(dim);
  return text;
}
}  // namespace deputy
