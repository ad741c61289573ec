// NumPy's .npy files (format versions 1 to 3, little-endian, C order): numpy.lib.format.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace deputy::tools {

struct NpyArray {
  DType dtype = DType::kInt8;
  Shape shape;
  std::vector<std::uint8_t> data;
};

/// Big-endian, Fortran-order, object and structured arrays are refused with what was found.
base::Result<NpyArray> parse_npy(std::span<const std::uint8_t> bytes, const std::string& name);
std::vector<std::uint8_t> format_npy(DType dtype, const Shape& shape, std::span<const std::uint8_t> data);

}  // namespace deputy::tools
