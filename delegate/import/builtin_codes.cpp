// Operator numbers from the TFLite schema's published list.
#include "delegate/import/builtin_codes.h"

#include "base/check.h"

namespace deputy::delegate {
namespace {

struct Row {
  std::int32_t code;
  arch::OpKind kind;
};

constexpr Row kRows[] = {
    {0, arch::OpKind::ADD},
    {1, arch::OpKind::AVERAGE_POOL_2D},
    {2, arch::OpKind::CONCATENATION},
    {3, arch::OpKind::CONV_2D},
    {4, arch::OpKind::DEPTHWISE_CONV_2D},
    {5, arch::OpKind::DEPTH_TO_SPACE},
    {6, arch::OpKind::DEQUANTIZE},
    {8, arch::OpKind::FLOOR},
    {9, arch::OpKind::FULLY_CONNECTED},
    {11, arch::OpKind::L2_NORMALIZATION},
    {14, arch::OpKind::LOGISTIC},
    {17, arch::OpKind::MAX_POOL_2D},
    {18, arch::OpKind::MUL},
    {19, arch::OpKind::RELU},
    {20, arch::OpKind::RELU_N1_TO_1},
    {21, arch::OpKind::RELU6},
    {22, arch::OpKind::RESHAPE},
    {23, arch::OpKind::RESIZE_BILINEAR},
    {25, arch::OpKind::SOFTMAX},
    {26, arch::OpKind::SPACE_TO_DEPTH},
    {28, arch::OpKind::TANH},
    {34, arch::OpKind::PAD},
    {36, arch::OpKind::GATHER},
    {37, arch::OpKind::BATCH_TO_SPACE_ND},
    {38, arch::OpKind::SPACE_TO_BATCH_ND},
    {39, arch::OpKind::TRANSPOSE},
    {40, arch::OpKind::MEAN},
    {41, arch::OpKind::SUB},
    {42, arch::OpKind::DIV},
    {43, arch::OpKind::SQUEEZE},
    {45, arch::OpKind::STRIDED_SLICE},
    {47, arch::OpKind::EXP},
    {49, arch::OpKind::SPLIT},
    {50, arch::OpKind::LOG_SOFTMAX},
    {53, arch::OpKind::CAST},
    {54, arch::OpKind::PRELU},
    {55, arch::OpKind::MAXIMUM},
    {56, arch::OpKind::ARG_MAX},
    {57, arch::OpKind::MINIMUM},
    {59, arch::OpKind::NEG},
    {60, arch::OpKind::PADV2},
    {65, arch::OpKind::SLICE},
    {66, arch::OpKind::SIN},
    {67, arch::OpKind::TRANSPOSE_CONV},
    {69, arch::OpKind::TILE},
    {70, arch::OpKind::EXPAND_DIMS},
    {74, arch::OpKind::SUM},
    {75, arch::OpKind::SQRT},
    {76, arch::OpKind::RSQRT},
    {77, arch::OpKind::SHAPE},
    {79, arch::OpKind::ARG_MIN},
    {82, arch::OpKind::REDUCE_MAX},
    {83, arch::OpKind::PACK},
    {88, arch::OpKind::UNPACK},
    {89, arch::OpKind::REDUCE_MIN},
    {94, arch::OpKind::FILL},
    {97, arch::OpKind::RESIZE_NEAREST_NEIGHBOR},
    {98, arch::OpKind::LEAKY_RELU},
    {99, arch::OpKind::SQUARED_DIFFERENCE},
    {100, arch::OpKind::MIRROR_PAD},
    {101, arch::OpKind::ABS},
    {102, arch::OpKind::SPLIT_V},
    {104, arch::OpKind::CEIL},
    {105, arch::OpKind::REVERSE_V2},
    {108, arch::OpKind::COS},
    {111, arch::OpKind::ELU},
    {114, arch::OpKind::QUANTIZE},
    {116, arch::OpKind::ROUND},
    {117, arch::OpKind::HARD_SWISH},
    {126, arch::OpKind::BATCH_MATMUL},
    {150, arch::OpKind::GELU},
};

}  // namespace

std::optional<arch::OpKind> op_from_builtin_code(std::int32_t code) {
  for (const Row& row : kRows)
    if (row.code == code) return row.kind;
  return std::nullopt;
}

std::int32_t builtin_code(arch::OpKind kind) {
  for (const Row& row : kRows)
    if (row.kind == kind) return row.code;
  DEPUTY_CHECK(false, "an operator kind has no TFLite number");
}

}  // namespace deputy::delegate
