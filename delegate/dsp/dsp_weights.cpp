#include "delegate/dsp/dsp_weights.h"

#include <cstring>

#include "arch/numerics.h"
#include "delegate/dsp/plan_tools.h"

namespace deputy::delegate {
namespace {

arch::Requant channel_requant(const Graph& graph, const Op& op, std::int64_t output,
                              Numerics numerics) {
  const auto& scales = graph.tensor(op.inputs[1]).desc.quant.scale;
  const auto rule =
      op.kind == arch::OpKind::FULLY_CONNECTED ? arch::fully_connected_requant : arch::conv_requant;
  return rule(graph.tensor(op.inputs[0]).desc.quant.scale[0],
              scales[scales.size() > 1 ? static_cast<std::size_t>(output) : 0],
              graph.tensor(op.outputs[0]).desc.quant.scale[0], numerics);
}

}  // namespace

std::optional<std::string> weights_refusal(const Graph& graph, const Op& op, std::int64_t outputs,
                                           Numerics numerics) {
  const Tensor& w = graph.tensor(op.inputs[1]);
  if (!w.constant ||
      (graph.has_input(op, 2) && (!graph.tensor(op.inputs[2]).constant ||
                                  graph.tensor(op.inputs[2]).desc.dtype != DType::kInt32)))
    return "its weights are no constants";
  for (const std::int32_t zero : w.desc.quant.zero_point)
    if (zero != 0) return "its weights have a zero point";
  for (std::int64_t o = 0; o < outputs; ++o)
    if (const auto r = channel_requant(graph, op, o, numerics); r.shift > 0 || r.shift < -31)
      return "a channel's scale is 1 or more";
  return std::nullopt;
}

void append_weights(const Graph& graph, const Op& op, std::int64_t first, std::int64_t count,
                    std::int64_t taps, bool twice, std::vector<std::uint8_t>& table) {
  const Tensor& w = graph.tensor(op.inputs[1]);
  const std::int64_t real = w.desc.elements() / w.desc.shape[0];
  const std::int32_t zero_in = graph.tensor(op.inputs[0]).desc.quant.zero_point[0];
  const auto* weights = reinterpret_cast<const std::int8_t*>(w.data.data());
  std::vector<std::int8_t> packed;
  std::vector<std::int32_t> bias, multiplier, shift, mask;
  for (std::int64_t k = 0; k < taps; k += 4)
    for (std::int64_t o = 0; o < 32; ++o)
      for (std::int64_t i = k; i < k + 4; ++i)
        packed.push_back(o < count && i < real ? weights[(first + o) * real + i] : std::int8_t{0});
  for (std::int64_t o = first; o < first + 32; ++o) {
    if (o >= first + count) {
      for (auto* list : {&bias, &multiplier, &shift, &mask}) list->push_back(0);
      continue;
    }
    std::uint32_t sum = 0;  // wraps as the kernels' sums do
    if (graph.has_input(op, 2))
      std::memcpy(&sum, graph.tensor(op.inputs[2]).data.data() + 4 * o, 4);
    for (std::int64_t k = 0; k < real; ++k)
      sum -= static_cast<std::uint32_t>(zero_in * weights[o * real + k]);
    const arch::Requant r =
        channel_requant(graph, op, o, twice ? Numerics::kTflite : Numerics::kSingle);
    bias.push_back(static_cast<std::int32_t>(sum)), multiplier.push_back(r.multiplier);
    shift.push_back(twice ? -r.shift : 31 - r.shift), mask.push_back(r.shift ? -1 : 0);
  }
  append(table, packed), append(table, bias), append(table, multiplier);
  append(table, shift), append(table, mask);
}

}  // namespace deputy::delegate
