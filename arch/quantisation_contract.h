// What each engine asks of a tensor's quantisation, by the tensor's role: the contract between
// whoever quantised a model and whoever runs it. The compiler's constraint table, `deputy check`,
// the quantiser and docs/reference/quantisation_contract.md all read these rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/types.h"

namespace deputy::arch {

enum class ContractEngine : std::uint8_t { kNpu, kCpu };
enum class TensorRole : std::uint8_t { kFeatureMap, kWeights, kBias };

enum class Granularity : std::uint8_t {
  kPerTensor,
  kPerTensorOrChannel,  ///< channels: the output channels, nothing else
};
enum class Symmetry : std::uint8_t {
  kAny,           ///< a zero point for each scale
  kOneZeroPoint,  ///< the same for all channels
  kSymmetric,     ///< zero points are 0
};

/// One row. `types`: bit i set means DType i; types that are not integers have no quantisation.
struct QuantisationContract {
  ContractEngine engine;
  TensorRole role;
  std::uint32_t types;
  Granularity granularity;
  Symmetry symmetry;
  float least_scale, greatest_scale;  ///< inclusive
  /// Bounds of zero points, inclusive, in the datapath's signed form: an unsigned byte counts less
  /// 128.
  std::int32_t least_zero, greatest_zero;
  /// Bias: its scale over the product of the input's and the weights' scales is 1 to within this
  /// part; 0: not looked at.
  float bias_scale_part;
  const char* remark;  ///< for readers
};

std::span<const QuantisationContract> quantisation_contracts();
const QuantisationContract& contract_of(ContractEngine engine, TensorRole role);

constexpr std::uint32_t dtype_bit(DType type) { return 1u << static_cast<int>(type); }
inline constexpr std::uint32_t kEveryDType = (1u << kDTypeCount) - 1;
/// "int8 or uint8"
std::string dtype_list(std::uint32_t types);

std::string_view engine_name(ContractEngine engine);  ///< "NPU", "CPU"
std::string_view role_name(TensorRole role);          ///< "feature map", "weights", "bias"
/// "int8 or uint8, per tensor, zero point -128 to 127, scale above 0"
std::string contract_text(const QuantisationContract& row);

}  // namespace deputy::arch
