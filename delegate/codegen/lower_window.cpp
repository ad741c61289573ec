// Convolutions, fully connected layers, pooling and means: tiles through the scratchpad.
#include <cstring>

#include "arch/numerics.h"
#include "base/check.h"
#include "delegate/codegen/epilogue.h"
#include "delegate/codegen/lower.h"
#include "delegate/codegen/map_transfer.h"
#include "delegate/codegen/tile_notes.h"
#include "delegate/codegen/window_constants.h"
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
    const arch::Requant r = requant(s_in, s_w[s_w.size() == 1 ? 0 : c], s_out,
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
  /// `constants` of a shape with weights.
  WindowEmitter(Lowering& context, const Kernel& kernel, const WindowShape& shape,
                const WindowMath& math, Epilogue& epilogue, WindowConstants* constants)
      : context_(context),
        s_(shape),
        math_(math),
        epilogue_(epilogue),
        ifm_(context.map(kernel.input(context.graph), shape.ih, shape.iw, shape.ic)),
        ofm_(context.map(kernel.output(context.graph), epilogue.stored_h(), epilogue.stored_w(),
                         shape.oc)),
        constants_(constants) {}

  void emit(const Tiling& tiling, RowRange rows) {
    const WindowBuffers b = window_buffers(s_, tiling);
    std::vector<std::int64_t> sizes;
    sizes.insert(sizes.end(), static_cast<std::size_t>(b.w_slots), b.weights);
    sizes.insert(sizes.end(), static_cast<std::size_t>(b.p_slots), b.params);
    sizes.insert(sizes.end(), static_cast<std::size_t>(b.ifm_slots), b.ifm);
    sizes.insert(sizes.end(), static_cast<std::size_t>(b.ofm_buffers), b.ofm);
    if (b.table > 0) sizes.push_back(b.table);
    const std::size_t before = sizes.size();
    sizes.insert(sizes.end(), b.epilogue.begin(), b.epilogue.end());
    const std::vector<std::uint32_t> slots = context_.program.allocate(sizes);
    if (b.table > 0) constants_->load_table(slots[before - 1]);
    epilogue_.set_buffers(std::span(slots).subspan(before), b.ofm_slots, tiling.map_slots);
    walk(s_, tiling, rows, [&](const WindowStep& step) {
      const auto slot = [&](std::int64_t index) { return slots[static_cast<std::size_t>(index)]; };
      WindowAddresses at;
      if (s_.has_weights())
        at.weights = slot(step.w_slot), at.params = slot(b.w_slots + step.p_slot);
      at.ifm = slot(b.w_slots + b.p_slots + step.ifm_slot);
      at.ofm = slot(b.w_slots + b.p_slots + b.ifm_slots + step.ofm_slot % b.ofm_buffers);
      if (step.load_weights) constants_->load_weights(step, at.weights);
      if (step.load_params) constants_->load_params(step, at.params);
      if (step.load_ifm) load_ifm(step, at.ifm);
      arch::Operation op = window_instruction(s_, step, math_, at);
      epilogue_.finish_main(op);
      context_.program.emit(op);
      if (!step.last_k) return;
      const EpilogueTile tile =
          epilogue_.emit({step.n, step.y0, step.y1, step.x0, step.x1, step.o0, step.o1}, at.ofm);
      if (!tile.empty()) store_map(context_.program, ofm_, tile.part, tile.spm);
    });
  }

 private:
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
  WindowConstants* const constants_;
};

}  // namespace

void lower_window(Lowering& context, const Kernel& kernel, RowRange rows) {
  const Op& op = kernel.main_op(context.graph);
  auto shape = kernel_window(context.graph, kernel);
  DEPUTY_CHECK(shape, "not a window operator");
  const WindowMath math = window_math(context.graph, context.options.numerics, op, *shape);
  EpiloguePlan plan = epilogue_plan(context.graph, context.options.numerics, kernel, &*shape,
                                    math.act_min, math.act_max);
  shape->epilogue = plan.shape();
  TransferRates rates =
      transfer_rates(context.options, context.in_sram(kernel.input(context.graph)),
                     context.in_sram(kernel.output(context.graph)));
  rates.spm_kept = context.spm_kept;
  if (context.ahead)
    rates.ahead = true, rates.ahead_per_byte = 1 / context.options.memory.sram_bytes_per_cycle;
  const WindowShape whole = *shape;
  const auto searched = [&](bool packed) {
    WindowShape s = rows.nominal ? rows_shape(whole, rows.nominal) : whole;
    s.packed = packed;
    return s;
  };
  std::optional<WindowConstants> constants;
  std::optional<Tiling> tiling;
  if (shape->has_weights()) {
    constants.emplace(context, op.inputs[1], channel_params(context, op, *shape), *shape);
    if (constants->may_pack()) {
      shape->packed = true;
      tiling = context.tilings.choose(searched(true), context.options.npu,
                                      constants->rates(rates, true));
      if (tiling && !constants->pack(*shape, *tiling, rates)) tiling.reset();
      shape->packed = tiling.has_value();
    }
  }
  if (!tiling)
    tiling = context.tilings.choose(searched(false), context.options.npu,
                                    constants ? constants->rates(rates, false) : rates);
  DEPUTY_CHECK(tiling, "no tiling fits although window_fits() said so");
  if (context.options.trace && rows.begin == 0)  // once, not for every stripe
    note_tilings(context.options.trace->kernel(static_cast<std::uint32_t>(kernel.main)), *shape,
                 *tiling, context.options.npu, rates);
  Epilogue epilogue(context, std::move(plan), *shape);
  WindowEmitter(context, kernel, *shape, math, epilogue, constants ? &*constants : nullptr)
      .emit(*tiling, rows);
}

}  // namespace deputy::delegate
