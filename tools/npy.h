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

/// What stands before the data.
struct NpyHeader {
  DType dtype = DType::kInt8;
  Shape shape;
  std::size_t start = 0;    ///< where the data begin
  std::uint64_t bytes = 0;  ///< of data, by type and shape
};
/// `bytes` may be the file's beginning only.
base::Result<NpyHeader> parse_npy_header(std::span<const std::uint8_t> bytes,
                                         const std::string& name);
inline constexpr std::size_t kMostNpyHeader =
    12 + 65536;  ///< bytes of a file that are enough for it

/// Big-endian, Fortran-order, object and structured arrays are refused with what was found.
base::Result<NpyArray> parse_npy(std::span<const std::uint8_t> bytes, const std::string& name);
std::vector<std::uint8_t> format_npy(DType dtype, const Shape& shape,
                                     std::span<const std::uint8_t> data);

}  // namespace deputy::tools
