// Convolutions, fully connected layers, pooling and means: tiles through the scratchpad.
#include <cstring>

#include "arch/numerics.h"
#include "base/check.h"
#include "delegate/codegen/epilogue.h"
#include "delegate/codegen/lower.h"
#include "delegate/codegen/map_transfer.h"
#include "delegate/fusion/fold_pad.h"
#include "delegate/ops/operands.h"
#include "delegate/ops/window_math.h"

namespace deputy::delegate {
namespace {

using arch::OpKind;

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
        requant(s_in, s_w[s_w.size() == 1 ? 0 : c], s_out,
                window_rounding(context.graph, context.options.numerics, op));
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
  WindowEmitter(Lowering& context, const Kernel& kernel, const WindowShape& shape,
                const WindowMath& math, Epilogue& epilogue)
      : context_(context),
        s_(shape),
        math_(math),
        epilogue_(epilogue),
        ifm_(context.map(kernel.input(context.graph), shape.ih, shape.iw, shape.ic)),
        ofm_(context.map(kernel.output(context.graph), epilogue.stored_h(), epilogue.stored_w(),
                         shape.oc)) {
    const Op& op = kernel.main_op(context.graph);
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
    sizes.insert(sizes.end(), static_cast<std::size_t>(b.ofm_buffers), b.ofm);
    const std::size_t before = sizes.size();
    sizes.insert(sizes.end(), b.epilogue.begin(), b.epilogue.end());
    const std::vector<std::uint32_t> slots = context_.program.allocate(sizes);
    epilogue_.set_buffers(std::span(slots).subspan(before), b.ofm_slots, tiling.map_slots);
    walk(s_, tiling, [&](const WindowStep& step) {
      const auto slot = [&](std::int64_t index) { return slots[static_cast<std::size_t>(index)]; };
      WindowAddresses at;
      if (s_.has_weights())
        at.weights = slot(step.w_slot), at.params = slot(b.w_slots + step.p_slot);
      at.ifm = slot(b.w_slots + b.p_slots + step.ifm_slot);
      at.ofm = slot(b.w_slots + b.p_slots + b.ifm_slots + step.ofm_slot % b.ofm_buffers);
      if (step.load_weights) load_weights(step, at.weights);
      if (step.load_params) load_params(step, at.params);
      if (step.load_ifm) load_ifm(step, at.ifm);
      arch::Operation op = window_instruction(s_, step, math_, at);
      epilogue_.finish_main(op);
      context_.program.emit(op);
      if (!step.last_k) return;
      const EpilogueTile tile = epilogue_.emit(
          {step.n, step.y0, step.y1, step.x0, step.x1, step.o0, step.o1}, at.ofm);
      if (!tile.empty()) store_map(context_.program, ofm_, tile.part, tile.spm);
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

  Lowering& context_;
  const WindowShape s_;
  const WindowMath math_;
  Epilogue& epilogue_;
  const MapView ifm_, ofm_;
  MemoryRef weights_, params_;
};

}  // namespace

void lower_window(Lowering& context, const Kernel& kernel) {
  const Op& op = kernel.main_op(context.graph);
  auto shape = kernel_window(context.graph, kernel);
  DEPUTY_CHECK(shape, "not a window operator");
  const WindowMath math = window_math(context.graph, context.options.numerics, op, *shape);
  EpiloguePlan plan = epilogue_plan(context.graph, context.options.numerics, kernel, &*shape,
                                    math.act_min, math.act_max);
  shape->epilogue = plan.shape();
  const TransferRates rates =
      transfer_rates(context.options, context.in_sram(kernel.input(context.graph)),
                     context.in_sram(kernel.output(context.graph)));
  const auto tiling = context.tilings.choose(*shape, context.options.npu, rates);
  DEPUTY_CHECK(tiling, "no tiling fits although window_fits() said so");
  Epilogue epilogue(context, std::move(plan), *shape);
  WindowEmitter(context, kernel, *shape, math, epilogue).emit(*tiling);
}

}  // namespace deputy::delegate
