#include "tools/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace deputy::tools {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::pair<DType, std::string_view> kDescriptors[] = {
    {DType::kInt8, "|i1"},    {DType::kUint8, "|u1"},  {DType::kInt16, "<i2"},
    {DType::kInt32, "<i4"},   {DType::kInt64, "<i8"},  {DType::kFloat32, "<f4"},
    {DType::kFloat16, "<f2"}, {DType::kBool, "|b1"},   {DType::kUint16, "<u2"},
    {DType::kUint32, "<u4"},  {DType::kUint64, "<u8"}, {DType::kFloat64, "<f8"}};

// The header is a Python dict literal: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
std::optional<std::string_view> dict_value(std::string_view header, std::string_view key) {
  const auto at = header.find(fmt::format("'{}'", key));
  if (at == std::string_view::npos) return std::nullopt;
  auto rest = header.substr(at + key.size() + 2);
  const auto start = rest.find_first_not_of(" :");
  if (start == std::string_view::npos) return std::nullopt;
  return rest.substr(start);
}

}  // namespace

base::Result<NpyHeader> parse_npy_header(std::span<const std::uint8_t> bytes,
                                         const std::string& name) {
  const auto fail = [&](std::string message, std::string remedy = "") {
    return base::Error{base::ErrorKind::kInput, name, std::move(message), std::move(remedy)};
  };
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.size() < 12 || !text.starts_with(kMagic)) return fail("not a .npy file");
  const bool long_header = bytes[6] >= 2;
  if (bytes[6] < 1 || bytes[6] > 3) return fail(fmt::format("unknown .npy version {}", bytes[6]));
  const std::size_t length =
      long_header ? bytes[8] | bytes[9] << 8 | bytes[10] << 16 | std::size_t{bytes[11]} << 24
                  : bytes[8] | bytes[9] << 8;
  const std::size_t start = long_header ? 12 : 10;
  if (length > text.size() - start) return fail("the .npy header is truncated");
  const std::string_view header = text.substr(start, length);

  NpyHeader array;
  const auto descr = dict_value(header, "descr");
  if (!descr || descr->size() < 5) return fail("the .npy header has no descr");
  const auto found =
      std::find_if(std::begin(kDescriptors), std::end(kDescriptors), [&](const auto& row) {
        const auto quoted = descr->substr(1, 3);
        return quoted == row.second ||
               (row.second[0] == '|' && quoted.substr(1) == row.second.substr(1));
      });
  if (found == std::end(kDescriptors))
    return fail(
        fmt::format("element type {} is not supported", descr->substr(0, 6)),
        "save it as int8, uint8, int16, int32, int64, float16, float32 or bool, little-endian");
  array.dtype = found->first;
  const auto order = dict_value(header, "fortran_order");
  if (!order || !order->starts_with("False"))
    return fail("the array is in Fortran order", "save numpy.ascontiguousarray(x)");
  const auto shape = dict_value(header, "shape");
  if (!shape || !shape->starts_with("(")) return fail("the .npy header has no shape");
  const auto close = shape->find(')');
  if (close == std::string_view::npos) return fail("the .npy header's shape is not closed");
  std::int64_t count = 1;
  for (auto rest = shape->substr(1, close - 1); !rest.empty();) {
    const auto digit = rest.find_first_of("0123456789");
    if (digit == std::string_view::npos) break;
    rest.remove_prefix(digit);
    std::int32_t dim = 0;
    const auto [end, ec] = std::from_chars(rest.data(), rest.data() + rest.size(), dim);
    if (ec != std::errc() || array.shape.size() >= 8) return fail("the .npy shape is out of range");
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    array.shape.push_back(dim);
    if (dim != 0 && count > (std::int64_t{1} << 40) / dim)
      return fail("the .npy shape is out of range");
    count *= dim;
  }
  array.start = start + length;
  array.bytes = static_cast<std::uint64_t>(count) * dtype_size(array.dtype);
  return array;
}

base::Result<NpyArray> parse_npy(std::span<const std::uint8_t> bytes, const std::string& name) {
  DEPUTY_ASSIGN(auto header, parse_npy_header(bytes, name));
  const auto data = bytes.subspan(header.start);
  if (data.size() != header.bytes)
    return base::Error{base::ErrorKind::kInput, name,
                       fmt::format("holds {} bytes of data, its shape {} needs {}", data.size(),
                                   shape_text(header.shape), header.bytes),
                       ""};
  return NpyArray{header.dtype, std::move(header.shape), {data.begin(), data.end()}};
}

std::vector<std::uint8_t> format_npy(DType dtype, const Shape& shape,
                                     std::span<const std::uint8_t> data) {
  std::string dims;
  for (auto dim : shape) dims += fmt::format("{},{}", dim, shape.size() == 1 ? "" : " ");
  if (shape.size() > 1) dims.resize(dims.size() - 2);
  const auto row = std::find_if(std::begin(kDescriptors), std::end(kDescriptors),
                                [&](const auto& r) { return r.first == dtype; });
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", row->second, dims);
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::vector<std::uint8_t> out(kMagic.begin(), kMagic.end());
  out.push_back(1);
  out.push_back(0);
  out.push_back(static_cast<std::uint8_t>(header.size()));
  out.push_back(static_cast<std::uint8_t>(header.size() >> 8));
  out.insert(out.end(), header.begin(), header.end());
  out.insert(out.end(), data.begin(), data.end());
  return out;
}

}  // namespace deputy::tools
