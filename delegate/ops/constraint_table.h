// The constraint table: one row per operator and engine, every limit a number in it. What an engine
// takes, the reason a user reads, the reference page, `deputy list ops` and the cases of
// tests/delegate/constraint_table_test.cpp all come from these rows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "arch/ops.h"
#include "arch/quantisation_contract.h"

namespace deputy::delegate {

using TableEngine = arch::ContractEngine;

/// What can be demanded of an operator; constraint_rules.h has the texts and the predicates.
enum class Rule : std::uint8_t {
  kTypes,             ///< feature maps have one of the row's types
  kOneType,           ///< all feature maps have the same type
  kQuantised,         ///< per tensor, a normal positive scale, a zero point within the type
  kElements,          ///< no empty feature map
  kSameQuantisation,  ///< of all feature maps
  kWeights,           ///< constant, of the feature maps' type
  kWeightScales,      ///< per tensor or per output channel, one zero point
  kBias,              ///< absent or constant int32 per output channel
  kBiasScale,         ///< the contract's part of the input's scale times the weights'
  kIntegerWeights,    ///< integer feature maps have integer weights
  kRank,              ///< limit: the rank of the feature maps, and one group
  kMostRank,          ///< limit: the highest rank, above 0
  kMatrix,            ///< the weights are a matrix that divides the input
  kSpan,              ///< limit: rows or columns that a dilated kernel covers
  kStride,            ///< limit
  kDilation,          ///< limit
  kPadding,           ///< limit: rows or columns before the map
  kTouches,           ///< every window touches the map
  kFits,              ///< one output's window of one channel fits the scratchpad
  kAxes,              ///< the reduced axes are constant and neighbours
  kReduced,           ///< limit: elements reduced to one
  kMeanRounding,      ///< in fp32 rounding, only global pooling's axes
  kBeta,              ///< positive and finite
  kSoftmaxOutput,     ///< scale 1/256, lowest zero point
  kRowFits,           ///< a row and the table of exponentials fit the scratchpad
  kRowLength,         ///< limit: elements of a row
  kPads,              ///< paddings are constant and not negative
  kOperands,          ///< axes, begins, sizes and steps are constant and agree with the shapes
  kSteps,             ///< steps are positive
  kRuns,              ///< limit: shortest run, in bytes, of a copy of more than kSmallCopy bytes
  kTransfers,         ///< limit: transfers of one operator
  kNotConstant,       ///< the input is computed or given, not a constant
  kSameBytes,         ///< input and output have the same size
};

/// Copies up to this many bytes may be of any runs.
inline constexpr std::int64_t kSmallCopy = 1024;

struct Demand {
  Rule rule = Rule::kTypes;
  std::int64_t limit = 0;  ///< where the rule has a number
};

/// `types`: bit i set means DType i. `demands` are tested in order and may rely on those before.
struct OpRow {
  arch::OpKind kind = arch::OpKind::CONV_2D;
  TableEngine engine = TableEngine::kNpu;
  std::uint32_t types = 0;
  std::vector<Demand> demands;
};

/// Every row, by OpKind, the NPU's before the CPU's. An operator without a row for an engine has no
/// instruction or kernel there; every operator has one for the CPU.
const std::vector<OpRow>& constraint_table();
const OpRow* constraint_row(arch::OpKind kind, TableEngine engine);  ///< null when there is none

}  // namespace deputy::delegate
