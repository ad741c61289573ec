// Matrix-vector product: packing, reference and cases.
#include "dsp_kernels/data.h"

namespace deputy::dsp_kernels {
namespace {

constexpr std::uint32_t kX = 0x400, kY = 0x800, kParameters = 0x1000, kWeights = 0x4000;

void add_matvec(Source& source, Cases& cases, std::size_t rows, std::size_t columns) {
  const auto w = source.fill<std::int8_t>(rows * columns), x = source.fill<std::int8_t>(columns);
  const auto bias = source.bounded<std::int32_t>(rows, 100000);
  std::vector<std::int32_t> multiplier(rows), shift(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    multiplier[r] = static_cast<std::int32_t>((1u << 30) + source.below(1u << 30));
    shift[r] = static_cast<std::int32_t>(31 + 4 + source.below(8));
  }
  const std::int32_t zero = static_cast<std::int32_t>(source.below(256)) - 128;

  std::vector<std::int8_t> y(rows), packed;
  for (std::size_t r = 0; r < rows; ++r) {
    std::int32_t sum = bias[r];
    for (std::size_t k = 0; k < columns; ++k) sum += std::int32_t{w[r * columns + k]} * x[k];
    const std::int64_t scaled = clamp(round_shift(std::int64_t{sum} * multiplier[r], shift[r]), 32);
    y[r] = static_cast<std::int8_t>(clamp(clamp(clamp(scaled + zero, 32), 16), 8));
  }
  for (std::size_t block = 0; block < rows; block += 32)
    for (std::size_t k = 0; k < columns; k += 4)
      for (std::size_t r = block; r < block + 32; ++r)
        for (std::size_t i = 0; i < 4; ++i) packed.push_back(w[r * columns + k + i]);
  std::vector<std::int32_t> parameters;
  for (std::size_t block = 0; block < rows; block += 32)
    for (const std::span<const std::int32_t> array :
         {std::span<const std::int32_t>(bias), std::span<const std::int32_t>(multiplier),
          std::span<const std::int32_t>(shift)})
      for (const std::int32_t value : array.subspan(block, 32)) parameters.push_back(value);

  KernelCase c{.kernel = "matvec",
               .what = std::to_string(rows) + " x " + std::to_string(columns) + ", int8",
               .parameters = {{"COLUMNS", columns}}};
  c.inputs = {memory(kWeights, packed), memory(kX, x), memory(kParameters, parameters)};
  c.expected = {memory(kY, y)};
  c.arguments = {kWeights,    kX,
                 kY,          static_cast<std::uint32_t>(rows / 128),
                 kParameters, static_cast<std::uint32_t>(zero)};
  c.outputs = static_cast<std::int64_t>(rows), c.unit = "row";
  c.bound = static_cast<std::int64_t>(rows / 32 * columns / 4),
  c.bound_by = "a multiplication (and a load) for 128 weights";
  cases.push_back(std::move(c));
}

}  // namespace

void add_matrix_cases(Source& source, Cases& cases) {
  add_matvec(source, cases, 128, 512);
  add_matvec(source, cases, 128, 128);
}

}  // namespace deputy::dsp_kernels
