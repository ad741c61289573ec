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
#include "delegate/ops/window_ops.h"

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

// The 1x1 convolution that makes a depthwise layer's input.
struct Expansion {
  WindowMath math;
  WindowConstants constants;
};

class WindowEmitter {
 public:
  /// `constants` of a shape with weights; `expansion` of one that has it.
  WindowEmitter(Lowering& context, const Kernel& kernel, const WindowShape& shape,
                const WindowMath& math, Epilogue& epilogue, WindowConstants* constants,
                Expansion* expansion)
      : context_(context),
        kernel_(kernel),
        s_(shape),
        math_(math),
        epilogue_(epilogue),
        ifm_(context.map(kernel.input(context.graph), shape.ih, shape.iw, shape.loaded_channels())),
        ofm_(context.map(kernel.output(context.graph), epilogue.stored_h(), epilogue.stored_w(),
                         shape.oc)),
        constants_(constants),
        expansion_(expansion) {}

  void emit(const Tiling& tiling, RowRange rows) {
    const WindowBuffers b = window_buffers(s_, tiling);
    std::vector<std::int64_t> sizes;
    sizes.insert(sizes.end(), static_cast<std::size_t>(b.w_slots), b.weights);
    sizes.insert(sizes.end(), static_cast<std::size_t>(b.p_slots), b.params);
    sizes.insert(sizes.end(), static_cast<std::size_t>(b.ifm_slots), b.ifm);
    sizes.insert(sizes.end(), static_cast<std::size_t>(b.ofm_buffers), b.ofm);
    if (b.table > 0) sizes.push_back(b.table);
    const std::size_t expand = sizes.size();
    if (expansion_) {
      sizes.push_back(b.expanded);
      sizes.insert(sizes.end(), static_cast<std::size_t>(b.w_slots), b.expand_weights);
      sizes.insert(sizes.end(), static_cast<std::size_t>(b.p_slots), b.expand_params);
      if (b.expand_table > 0) sizes.push_back(b.expand_table);
    }
    const std::size_t before = sizes.size();
    sizes.insert(sizes.end(), b.epilogue.begin(), b.epilogue.end());
    const std::vector<std::uint32_t> slots = context_.program.allocate(sizes);
    if (b.table > 0) constants_->load_table(slots[expand - 1]);
    if (b.expand_table > 0)
      as_expansion([&] { expansion_->constants.load_table(slots[before - 1]); });
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
      if (expansion_) {
        const WindowAddresses from{
            slot(static_cast<std::int64_t>(expand) + 1 + step.w_slot),
            slot(static_cast<std::int64_t>(expand) + 1 + b.w_slots + step.p_slot), at.ifm,
            slots[expand]};
        as_expansion([&] { make_ifm(step, from); });
        at.ifm = slots[expand];
      } else if (step.load_ifm) {
        load_ifm(step, at.ifm);
      }
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
  // What `emit` emits belongs to the convolution.
  template <class Emit>
  void as_expansion(Emit&& emit) {
    context_.program.set_tag(static_cast<std::uint16_t>(*kernel_.expand));
    emit();
    context_.program.set_tag(static_cast<std::uint16_t>(kernel_.main));
  }

  void make_ifm(const WindowStep& step, const WindowAddresses& at) {
    WindowStep block = step;
    block.c0 = 0, block.c1 = s_.expand;
    if (step.load_weights) expansion_->constants.load_weights(block, at.weights);
    if (step.load_params) expansion_->constants.load_params(block, at.params);
    if (step.load_ifm) load_ifm(block, at.ifm);
    context_.program.emit(expand_instruction(s_, step, expansion_->math, at));
  }

  void load_ifm(const WindowStep& step, std::uint32_t spm) {
    load_map(context_.program, ifm_,
             {step.n, step.rows.begin, step.rows.end, step.columns.begin, step.columns.end, step.c0,
              step.c1},
             spm);
  }

  Lowering& context_;
  const Kernel& kernel_;
  const WindowShape s_;
  const WindowMath math_;
  Epilogue& epilogue_;
  const MapView ifm_, ofm_;
  WindowConstants* const constants_;
  Expansion* const expansion_;
};

// The convolution's own window and, for its weights' blocks, its tiling: they come with the
// depthwise layer's.
WindowShape expand_shape(const Graph& graph, const Kernel& kernel) {
  auto shape = window_shape(graph, graph.ops[*kernel.expand]);
  DEPUTY_CHECK(shape, "an expansion that is no window");
  return *shape;
}
Tiling expand_tiling(const WindowShape& conv, const Tiling& t) {
  Tiling out;
  out.toh = conv.oh, out.tow = conv.ow, out.toc = t.toc, out.tic = conv.ic,
  out.w_slots = ceil_div(conv.oc, t.toc);
  return out;
}

// Of bytes of the one and the other kind.
double mean_rate(const WindowShape& s, double window, double expansion) {
  const auto mine = static_cast<double>(s.kh * s.kw), other = static_cast<double>(s.expand);
  return (mine * window + other * expansion) / (mine + other);
}

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
  std::optional<Expansion> expansion;
  if (kernel.expand) {
    const Op& conv = context.graph.ops[*kernel.expand];
    WindowShape s = expand_shape(context.graph, kernel);
    constants.emplace(context, op.inputs[1], channel_params(context, op, *shape), *shape);
    expansion.emplace(
        Expansion{window_math(context.graph, context.options.numerics, conv, s),
                  WindowConstants(context, conv.inputs[1], channel_params(context, conv, s), s)});
    // Both are packed if they get smaller, whatever the tiling; what does not is taken plain.
    shape->packed = constants->may_pack(), shape->expand_packed = expansion->constants.may_pack();
    const auto choose = [&] {
      WindowShape tiled = searched(shape->packed);
      tiled.expand_packed = shape->expand_packed;
      TransferRates both = constants->rates(rates, shape->packed);
      const TransferRates other = expansion->constants.rates(rates, shape->expand_packed);
      both.weights_per_byte = mean_rate(*shape, both.weights_per_byte, other.weights_per_byte);
      both.params_per_byte = (both.params_per_byte + other.params_per_byte) / 2;
      tiling = context.tilings.choose(tiled, context.options.npu, both);
    };
    choose();
    s.packed = shape->expand_packed;
    const bool kept = tiling && (!shape->packed || constants->pack(*shape, *tiling, rates));
    const bool kept_too =
        tiling && (!s.packed || expansion->constants.pack(s, expand_tiling(s, *tiling), rates));
    // The scratchpad has room for a table that is not needed then.
    shape->packed = shape->packed && kept, shape->expand_packed = shape->expand_packed && kept_too;
  } else if (shape->has_weights()) {
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
  WindowEmitter(context, kernel, *shape, math, epilogue, constants ? &*constants : nullptr,
                expansion ? &*expansion : nullptr)
      .emit(*tiling, rows);
}

}  // namespace deputy::delegate
