#include "arch/quantisation_contract.h"

#include <fmt/format.h>

#include <limits>

#include "base/check.h"

namespace deputy::arch {
namespace {

constexpr std::uint32_t kBytes = dtype_bit(DType::kInt8) | dtype_bit(DType::kUint8);
constexpr std::uint32_t kSums = dtype_bit(DType::kInt32) | dtype_bit(DType::kInt64) |
                                dtype_bit(DType::kFloat32) | dtype_bit(DType::kFloat16);
constexpr float kLeast = std::numeric_limits<float>::min(),
                kMost = std::numeric_limits<float>::max();
constexpr std::int32_t kLowest = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t kHighest = std::numeric_limits<std::int32_t>::max();

using enum ContractEngine;
using enum TensorRole;

constexpr QuantisationContract kRows[] = {
    {kNpu, kFeatureMap, kBytes, Granularity::kPerTensor, Symmetry::kAny, kLeast, kMost, -128, 127,
     0,
     "an operator's feature maps have one type; uint8 is read as int8 plus 128, exactly; no 16x8"},
    {kNpu, kWeights, kBytes, Granularity::kPerTensorOrChannel, Symmetry::kOneZeroPoint, 0, kMost,
     -128, 127, 0,
     "constant, of the feature maps' type; a channel of scale 0 is a channel of zeros"},
    {kNpu, kBias, dtype_bit(DType::kInt32), Granularity::kPerTensorOrChannel, Symmetry::kSymmetric,
     0, kMost, 0, 0, 1e-3f, "constant, one number for each output channel, or absent"},
    {kCpu, kFeatureMap, kEveryDType, Granularity::kPerTensor, Symmetry::kAny, kLeast, kMost,
     kLowest, kHighest, 0,
     "kernels say which types they have; int16 maps have zero point 0 (16x8)"},
    {kCpu, kWeights, kEveryDType, Granularity::kPerTensorOrChannel, Symmetry::kAny, 0, kMost,
     kLowest, kHighest, 0, "integer maps have integer weights"},
    {kCpu, kBias, kSums, Granularity::kPerTensorOrChannel, Symmetry::kSymmetric, 0, kMost, 0, 0,
     1e-3f, "int32 for 8-bit maps, int32 or int64 for 16-bit ones, floats for floats"},
};

}  // namespace

std::span<const QuantisationContract> quantisation_contracts() { return kRows; }

const QuantisationContract& contract_of(ContractEngine engine, TensorRole role) {
  for (const QuantisationContract& row : kRows)
    if (row.engine == engine && row.role == role) return row;
  DEPUTY_CHECK(false, "an engine without a contract");
}

std::string dtype_list(std::uint32_t types) {
  std::string out;
  for (int i = 0; i < kDTypeCount; ++i)
    if ((types >> i) & 1)
      out += (out.empty() ? "" : " or ") + std::string(dtype_name(static_cast<DType>(i)));
  return out;
}

std::string_view engine_name(ContractEngine engine) { return engine == kNpu ? "NPU" : "CPU"; }

std::string_view role_name(TensorRole role) {
  switch (role) {
    case kFeatureMap:
      return "feature map";
    case kWeights:
      return "weights";
    case kBias:
      return "bias";
  }
  DEPUTY_CHECK(false, "a role without a name");
}

std::string contract_text(const QuantisationContract& row) {
  std::string out = row.types == kEveryDType ? "any type" : dtype_list(row.types);
  out += row.granularity == Granularity::kPerTensor ? ", per tensor"
                                                    : ", per tensor or output channel";
  if (row.symmetry == Symmetry::kSymmetric) out += ", symmetric";
  if (row.symmetry == Symmetry::kOneZeroPoint) out += ", one zero point";
  if (row.symmetry != Symmetry::kSymmetric && row.least_zero != kLowest)
    out += fmt::format(", zero point {} to {} (as int8)", row.least_zero, row.greatest_zero);
  out += row.least_scale > 0 ? ", scale above 0" : ", scale 0 or above";
  if (row.bias_scale_part > 0)
    out += fmt::format(", scale = input's times weights' within {:g}", row.bias_scale_part);
  return out;
}

}  // namespace deputy::arch
