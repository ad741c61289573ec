// The texts of the rules (constraint_rules.h).
#include <fmt/format.h>

#include "base/check.h"
#include "delegate/ops/constraint_rules.h"

namespace deputy::delegate {
RuleGroup rule_group(Rule rule) {
  switch (rule) {
    case Rule::kTypes:
    case Rule::kOneType:
      return RuleGroup::kTypes;
    case Rule::kQuantised:
    case Rule::kSameQuantisation:
    case Rule::kWeightScales:
    case Rule::kBiasScale:
    case Rule::kSoftmaxOutput:
      return RuleGroup::kQuantisation;
    case Rule::kElements:
    case Rule::kRank:
    case Rule::kMostRank:
    case Rule::kMatrix:
    case Rule::kReduced:
    case Rule::kRowFits:
    case Rule::kRowLength:
    case Rule::kRuns:
    case Rule::kTransfers:
    case Rule::kSameBytes:
      return RuleGroup::kShapes;
    case Rule::kSpan:
    case Rule::kStride:
    case Rule::kDilation:
    case Rule::kPadding:
    case Rule::kTouches:
    case Rule::kFits:
      return RuleGroup::kWindow;
    default:
      return RuleGroup::kOperands;
  }
}

std::string rule_text(const OpRow& row, const Demand& demand) {
  switch (demand.rule) {
    case Rule::kTypes:
      return "feature maps are " + arch::dtype_list(row.types);
    case Rule::kOneType:
      return "all feature maps have one type";
    case Rule::kQuantised:
      return "feature maps are quantised per tensor, zero point within the type";
    case Rule::kElements:
      return "tensors have elements";
    case Rule::kSameQuantisation:
      return "all feature maps have the same quantisation";
    case Rule::kWeights:
      return "weights are constant and of the feature maps' type";
    case Rule::kWeightScales:
      return "weights have scales per tensor or per output channel and one zero point";
    case Rule::kBias:
      return "the bias is absent or a constant int32 per output channel";
    case Rule::kBiasScale:
      return "a bias that has a scale has the input's times the weights'";
    case Rule::kIntegerWeights:
      return "the CPU kernels take integer inputs with integer weights";
    case Rule::kRank:
      return fmt::format(
          "feature maps are rank {} and of the same batch, all channels in one group",
          demand.limit);
    case Rule::kMostRank:
      return fmt::format("the rank is 1 to {}", demand.limit);
    case Rule::kMatrix:
      return "the weights are a matrix that divides the input";
    case Rule::kSpan:
      return fmt::format("a kernel with its dilation covers at most {} rows and columns",
                         demand.limit);
    case Rule::kStride:
      return fmt::format("strides are at most {}", demand.limit);
    case Rule::kDilation:
      return fmt::format("dilations are at most {}", demand.limit);
    case Rule::kPadding:
      return fmt::format("at most {} rows and columns are padded before the map", demand.limit);
    case Rule::kTouches:
      return "every window touches the feature map";
    case Rule::kFits:
      return "one output's window of one channel fits the scratchpad";
    case Rule::kAxes:
      return "the reduced axes are constant and neighbours";
    case Rule::kReduced:
      return fmt::format("at most {} elements are reduced to one", demand.limit);
    case Rule::kMeanRounding:
      return "in fp32 rounding, the axes are those of global pooling";
    case Rule::kBeta:
      return "beta is positive";
    case Rule::kSoftmaxOutput:
      return "the output has scale 1/256 and the lowest zero point";
    case Rule::kRowFits:
      return "a row and the table of exponentials fit the scratchpad";
    case Rule::kRowLength:
      return fmt::format("a row has at most {} elements", demand.limit);
    case Rule::kPads:
      return "paddings are constant and not negative";
    case Rule::kOperands:
      return "axes, begins, sizes and steps are constant and agree with the shapes";
    case Rule::kSteps:
      return "steps are positive";
    case Rule::kRuns:
      return fmt::format(
          "copies of more than {} bytes have runs of at least {} bytes, where need be by a "
          "transposition in the scratchpad",
          kSmallCopy, demand.limit);
    case Rule::kTransfers:
      return fmt::format("at most {} transfers", demand.limit);
    case Rule::kNotConstant:
      return "the input is not a constant";
    case Rule::kSameBytes:
      return "input and output have the same size";
  }
  DEPUTY_CHECK(false, "a rule without a text");
}

}  // namespace deputy::delegate
