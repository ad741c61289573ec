// Convolutions, fully connected layers, pooling and means: tiles through the scratchpad.
#include <cstring>

#include "arch/kernel_rules.h"
#include "arch/numerics.h"
#include "base/check.h"
#include "delegate/codegen/lower.h"
#include "delegate/codegen/map_transfer.h"
#include "delegate/ops/operands.h"
#include "delegate/ops/window_ops.h"

namespace deputy::delegate {
namespace {

using arch::OpKind;

// The rounding the operator gets under the compile's numerics.
Numerics rounding_of(const Lowering& context, const Op& op) {
  const Numerics mode = context.options.numerics;
  return op.kind == OpKind::DEPTHWISE_CONV_2D
             ? arch::depthwise_rule(context.graph.has_input(op, 2), mode)
             : mode;
}

WindowMath window_math(const Lowering& context, const Op& op, const WindowShape& shape) {
  const Quantisation in = signed_quantisation(context.tensor(op.inputs[0])),
                     out = signed_quantisation(context.tensor(op.outputs[0]));
  const Numerics mode = rounding_of(context, op);
  WindowMath math;
  math.ifm_zp = in.zero_point[0], math.ofm_zp = out.zero_point[0];
  if (shape.has_weights())
    math.w_zp = signed_quantisation(context.tensor(op.inputs[1])).zero_point[0];
  math.rounding = static_cast<std::uint32_t>(mode);
  math.u8 = is_u8(context.tensor(op.inputs[0]));
  const auto range =
      arch::activation_range(op.attrs.activation, out.scale[0], out.zero_point[0], -128, 127);
  math.act_min = range.min, math.act_max = range.max;
  if (op.kind == OpKind::AVERAGE_POOL_2D) math.pool = arch::PoolMode::kAverage;
  if (op.kind == OpKind::MEAN) {
    math.pool = arch::PoolMode::kMean;
    const auto requant = arch::mean_requant(in.scale[0], out.scale[0],
                                            static_cast<std::int32_t>(shape.kh * shape.kw), mode);
    math.multiplier = requant.multiplier, math.shift = requant.shift;
    math.act_min = -128, math.act_max = 127;
  }
  return math;
}

// The 12-byte records of the output stage, one a channel.
std::vector<std::uint8_t> channel_params(const Lowering& context, const Op& op,
                                         const WindowShape& shape) {
  const float s_in = context.tensor(op.inputs[0]).desc.quant.scale[0],
              s_out = context.tensor(op.outputs[0]).desc.quant.scale[0];
  const std::vector<float>& s_w = context.tensor(op.inputs[1]).desc.quant.scale;
  // TFLite's uint8 kernels round the scale product to float32, as FULLY_CONNECTED does.
  const bool float_product =
      op.kind == OpKind::FULLY_CONNECTED || is_u8(context.tensor(op.inputs[0]));
  const auto requant = float_product ? arch::fully_connected_requant : arch::conv_requant;
  std::vector<std::uint8_t> out(static_cast<std::size_t>(shape.oc) * arch::kChannelParamBytes);
  for (std::size_t c = 0; c < static_cast<std::size_t>(shape.oc); ++c) {
    const arch::Requant r =
        requant(s_in, s_w[s_w.size() == 1 ? 0 : c], s_out, rounding_of(context, op));
    std::uint8_t* record = out.data() + c * arch::kChannelParamBytes;
    if (context.graph.has_input(op, 2))
      std::memcpy(record, context.tensor(op.inputs[2]).data.data() + 4 * c, 4);
    std::memcpy(record + 4, &r.multiplier, 4);
    std::memcpy(record + 8, &r.shift, 4);
  }
  return out;
}

class WindowEmitter {
 public:
  WindowEmitter(Lowering& context, const Op& op, const WindowShape& shape)
      : context_(context),
        s_(shape),
        math_(window_math(context, op, shape)),
        ifm_(context.map(op.inputs[0], shape.ih, shape.iw, shape.ic)),
        ofm_(context.map(op.outputs[0], shape.oh, shape.ow, shape.oc)) {
    if (!s_.has_weights()) return;
    const Tensor& weights = context.tensor(op.inputs[1]);
    weights_ = is_u8(weights) ? MemoryRef{arch::Region::kConstants,
                                          context.constants.add(signed_bytes(weights))}
                              : context.memory(op.inputs[1]);
    params_ = {arch::Region::kConstants, context.constants.add(channel_params(context, op, shape))};
  }

  void emit(const Tiling& tiling) {
    const WindowBuffers b = window_buffers(s_, tiling);
    std::vector<std::int64_t> sizes;
    sizes.insert(sizes.end(), static_cast<std::size_t>(b.w_slots), b.weights);
    sizes.insert(sizes.end(), static_cast<std::size_t>(b.p_slots), b.params);
    sizes.insert(sizes.end(), static_cast<std::size_t>(b.ifm_slots), b.ifm);
    sizes.insert(sizes.end(), static_cast<std::size_t>(b.ofm_slots), b.ofm);
    const std::vector<std::uint32_t> slots = context_.program.allocate(sizes);
    walk(s_, tiling, [&](const WindowStep& step) {
      const auto slot = [&](std::int64_t index) { return slots[static_cast<std::size_t>(index)]; };
      WindowAddresses at;
      if (s_.has_weights())
        at.weights = slot(step.w_slot), at.params = slot(b.w_slots + step.p_slot);
      at.ifm = slot(b.w_slots + b.p_slots + step.ifm_slot);
      at.ofm = slot(b.w_slots + b.p_slots + b.ifm_slots + step.ofm_slot);
      if (step.load_weights) load_weights(step, at.weights);
      if (step.load_params) load_params(step, at.params);
      if (step.load_ifm) load_ifm(step, at.ifm);
      context_.program.emit(window_instruction(s_, step, math_, at));
      if (step.last_k) store_ofm(step, at.ofm);
    });
  }

 private:
  void load_weights(const WindowStep& step, std::uint32_t spm) {
    const std::int64_t taps = s_.kh * s_.kw, outputs = step.o1 - step.o0;
    if (s_.kind == WindowKind::kConv)  // OHWI
      context_.program.load(shifted(weights_, step.o0 * taps * s_.ic + step.c0), spm,
                            Box::dense(outputs, taps, step.c1 - step.c0, taps * s_.ic, s_.ic),
                            arch::Traffic::kWeights);
    else  // HWC
      context_.program.load(shifted(weights_, step.o0), spm, Box::dense(1, taps, outputs, 0, s_.oc),
                            arch::Traffic::kWeights);
  }
  void load_params(const WindowStep& step, std::uint32_t spm) {
    context_.program.load(shifted(params_, step.o0 * arch::kChannelParamBytes), spm,
                          Box::bytes((step.o1 - step.o0) * arch::kChannelParamBytes),
                          arch::Traffic::kParams);
  }
  void load_ifm(const WindowStep& step, std::uint32_t spm) {
    load_map(context_.program, ifm_,
             {step.n, step.rows.begin, step.rows.end, step.columns.begin, step.columns.end, step.c0,
              step.c1},
             spm);
  }
  void store_ofm(const WindowStep& step, std::uint32_t spm) {
    store_map(context_.program, ofm_,
              {step.n, step.y0, step.y1, step.x0, step.x1, step.o0, step.o1}, spm);
  }

  Lowering& context_;
  const WindowShape s_;
  const WindowMath math_;
  const MapView ifm_, ofm_;
  MemoryRef weights_, params_;
};

}  // namespace

void lower_window(Lowering& context, const Op& op) {
  const auto shape = window_shape(context.graph, op);
  DEPUTY_CHECK(shape, "not a window operator");
  const TransferRates rates = transfer_rates(context.options, context.in_sram(op.inputs[0]),
                                             context.in_sram(op.outputs[0]));
  const auto tiling = context.tilings.choose(*shape, context.options.npu, rates);
  DEPUTY_CHECK(tiling, "no tiling fits although window_fits() said so");
  WindowEmitter(context, op, *shape).emit(*tiling);
}

}  // namespace deputy::delegate
