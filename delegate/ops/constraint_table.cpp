#include "delegate/ops/constraint_table.h"

#include <algorithm>

#include "delegate/ops/copies.h"
#include "delegate/ops/operands.h"

namespace deputy::delegate {
namespace {

using arch::OpKind;
using Demands = std::vector<Demand>;

Demands operator+(Demands a, const Demands& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Widths of instruction fields (arch/isa.h): strides and dilations are unsigned 16 bits; pads are
// signed 16 bits, and the first window of a map's last tile starts up to a kernel's span before the
// map's end.
constexpr std::int64_t kField = 65535, kPad = 32767, kLongest = 32768;
// A mean divides by the count in int32 arithmetic with 8-bit terms.
constexpr std::int64_t kMostReduced = 1 << 20;
// SOFTMAX's int32 sum of exponentials.
constexpr std::int64_t kLongestRow = (1 << 24) - 1;
// A transfer of fewer bytes wastes the bus; more transfers than this bloat the program.
constexpr std::int64_t kShortestRun = 4, kMostTransfers = 4096;

std::vector<OpRow> make_table() {
  std::vector<OpRow> rows;
  const std::uint32_t bytes =
      arch::contract_of(TableEngine::kNpu, arch::TensorRole::kFeatureMap).types;
  const auto npu = [&](std::initializer_list<OpKind> kinds, std::uint32_t types, const Demands& d) {
    for (const OpKind kind : kinds) rows.push_back({kind, TableEngine::kNpu, types, d});
  };
  using enum Rule;
  const Demands converted = {{kTypes}, {kQuantised}, {kElements}};
  const Demands maps = {{kTypes}, {kOneType}, {kQuantised}, {kElements}};
  const Demands alike = maps + Demands{{kSameQuantisation}};
  const Demands weighted = maps + Demands{{kWeights}, {kWeightScales}, {kBias}, {kBiasScale}};

  npu({OpKind::CONV_2D, OpKind::DEPTHWISE_CONV_2D}, bytes,
      weighted + Demands{{kRank, 4},
                         {kSpan, kLongest},
                         {kStride, kField},
                         {kDilation, kField},
                         {kPadding, kPad},
                         {kFits}});
  npu({OpKind::FULLY_CONNECTED}, bytes, weighted + Demands{{kMatrix}});
  npu({OpKind::AVERAGE_POOL_2D, OpKind::MAX_POOL_2D}, bytes,
      alike + Demands{{kRank, 4}, {kSpan, kLongest}, {kStride, kField}, {kTouches}, {kFits}});
  npu({OpKind::MEAN}, bytes,
      maps +
          Demands{{kAxes}, {kReduced, kMostReduced}, {kSpan, kLongest}, {kFits}, {kMeanRounding}});
  npu({OpKind::ADD, OpKind::SUB, OpKind::MUL}, bytes, maps);
  npu({OpKind::MINIMUM, OpKind::MAXIMUM}, bytes, alike);
  npu({OpKind::RELU, OpKind::RELU6, OpKind::RELU_N1_TO_1, OpKind::LOGISTIC, OpKind::TANH,
       OpKind::HARD_SWISH, OpKind::LEAKY_RELU, OpKind::ELU, OpKind::GELU, OpKind::ABS, OpKind::EXP,
       OpKind::NEG, OpKind::SQRT, OpKind::RSQRT},
      bytes, maps);
  npu({OpKind::QUANTIZE}, bytes, converted);
  npu({OpKind::SOFTMAX}, bytes,
      maps + Demands{
                 {kBeta}, {kSoftmaxOutput}, {kMostRank, 8}, {kRowLength, kLongestRow}, {kRowFits}});
  npu({OpKind::PAD, OpKind::PADV2}, bytes, alike + Demands{{kMostRank, 4}, {kPads}});

  for (const OpKind kind : arch::all_ops()) {
    if (!moves_only(kind)) continue;
    Demands d = alike;
    if (kind == OpKind::STRIDED_SLICE) d.push_back({kSteps});
    d.push_back({kOperands});
    // A block of 2 or more gives rows of at least 4 bytes on both sides of an exchange.
    if (kind != OpKind::SPACE_TO_DEPTH && kind != OpKind::DEPTH_TO_SPACE)
      d.push_back({kRuns, kShortestRun});
    d.push_back({kTransfers, kMostTransfers});
    npu({kind}, bytes, d);
  }
  npu({OpKind::RESHAPE, OpKind::SQUEEZE, OpKind::EXPAND_DIMS}, arch::kEveryDType,
      {{kSameQuantisation}, {kNotConstant}, {kSameBytes}});

  for (const OpKind kind : arch::all_ops()) {
    rows.push_back({kind, TableEngine::kCpu, arch::kEveryDType,
                    is_weighted_kind(kind) ? Demands{{kIntegerWeights}, {kBiasScale}} : Demands{}});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const OpRow& a, const OpRow& b) { return a.kind < b.kind; });
  return rows;
}

}  // namespace

const std::vector<OpRow>& constraint_table() {
  static const std::vector<OpRow> rows = make_table();
  return rows;
}

const OpRow* constraint_row(arch::OpKind kind, TableEngine engine) {
  for (const OpRow& row : constraint_table())
    if (row.kind == kind && row.engine == engine) return &row;
  return nullptr;
}

}  // namespace deputy::delegate
