#include "delegate/codegen/window.h"

namespace deputy::delegate {
namespace {

// The most input positions along one axis that a tile of `tile` outputs reads.
std::int64_t widest_halo(std::int64_t tile, std::int64_t stride, std::int64_t kernel,
                         std::int64_t dilation, std::int64_t size) {
  return std::min(size, (tile - 1) * stride + (kernel - 1) * dilation + 1);
}

std::uint32_t u32(std::int64_t v) { return static_cast<std::uint32_t>(v); }

template <class T>
void fill_geometry(T& op, const WindowShape& s, const WindowStep& step, const WindowMath& math,
                   const WindowAddresses& at) {
  const std::int64_t channels = step.c1 - step.c0, outputs = step.o1 - step.o0;
  op.ifm_addr = at.ifm, op.ifm_px_stride = u32(channels),
  op.ifm_row_stride = u32(step.columns.size() * channels);
  op.ifm_h = u32(step.rows.size()), op.ifm_w = u32(step.columns.size());
  op.ofm_addr = at.ofm, op.ofm_px_stride = u32(outputs),
  op.ofm_row_stride = u32((step.x1 - step.x0) * outputs);
  op.ofm_h = u32(step.y1 - step.y0), op.ofm_w = u32(step.x1 - step.x0), op.ofm_c = u32(outputs);
  op.k_h = u32(s.kh), op.k_w = u32(s.kw), op.stride_h = u32(s.sh), op.stride_w = u32(s.sw);
  op.dil_h = u32(s.dh), op.dil_w = u32(s.dw);
  op.pad_top = static_cast<std::int32_t>(step.rows.pad),
  op.pad_left = static_cast<std::int32_t>(step.columns.pad);
  op.ifm_zp = math.ifm_zp, op.ofm_zp = math.ofm_zp, op.act_min = math.act_min,
  op.act_max = math.act_max;
  op.rounding = math.rounding, op.u8 = math.u8;
}

}  // namespace

WindowBuffers window_buffers(const WindowShape& s, const Tiling& t) {
  const std::int64_t no = ceil_div(s.oc, t.toc),
                     nk = s.kind == WindowKind::kConv ? ceil_div(s.ic, t.tic) : 1;
  WindowBuffers b;
  std::int64_t channels = t.tic;
  if (s.kind == WindowKind::kPool) channels = t.toc;
  if (s.kind == WindowKind::kDepthwise) channels = ceil_div(t.toc, s.mult);
  b.ifm = widest_halo(t.toh, s.sh, s.kh, s.dh, s.ih) * widest_halo(t.tow, s.sw, s.kw, s.dw, s.iw) *
          channels;
  if (s.expand > 0) b.expanded = b.ifm, b.ifm = b.ifm / channels * s.expand;
  b.ofm = t.toh * t.tow * t.toc;
  b.ifm_slots = t.ifm_slots, b.ofm_slots = t.ofm_slots;
  b.ofm_buffers = s.epilogue.pools() ? 1 : t.ofm_slots;
  b.epilogue = epilogue_buffers(s.epilogue, t.toh, t.tow, t.toc, s.oc, t.ofm_slots, t.map_slots);
  if (s.has_weights()) {
    b.weights = t.toc * s.kh * s.kw * (s.kind == WindowKind::kConv ? t.tic : 1);
    b.params = t.toc * arch::kChannelParamBytes;
    b.w_slots = t.w_slots;
    b.table = s.packed ? arch::kCodeTableBytes : 0;
    b.p_slots =
        std::min(no, std::max<std::int64_t>(std::min<std::int64_t>(2, t.w_slots), t.w_slots / nk));
    if (s.expand > 0) {
      b.expand_weights = t.toc * s.expand, b.expand_params = b.params;
      b.expand_table = s.expand_packed ? arch::kCodeTableBytes : 0;
    }
  }
  return b;
}

arch::Operation window_instruction(const WindowShape& s, const WindowStep& step,
                                   const WindowMath& math, const WindowAddresses& at) {
  const std::int64_t channels = step.c1 - step.c0, outputs = step.o1 - step.o0;
  switch (s.kind) {
    case WindowKind::kConv: {
      arch::Conv op;
      fill_geometry(op, s, step, math, at);
      op.ifm_c = u32(channels), op.w_zp = math.w_zp;
      op.w_addr = at.weights, op.w_oc_stride = u32(s.kh * s.kw * channels), op.prm_addr = at.params;
      op.acc_keep = !step.first_k, op.acc_hold = !step.last_k;
      return op;
    }
    case WindowKind::kDepthwise: {
      arch::Depthwise op;
      fill_geometry(op, s, step, math, at);
      op.ifm_c = u32(channels), op.w_zp = math.w_zp;
      // A block inside one input channel is a depthwise layer of its own with that many outputs.
      op.depth_mult = u32(outputs / channels);
      op.w_addr = at.weights, op.w_tap_stride = u32(outputs), op.prm_addr = at.params;
      return op;
    }
    case WindowKind::kPool:
      break;
  }
  arch::Pool op;
  fill_geometry(op, s, step, math, at);
  op.mode = static_cast<std::uint32_t>(math.pool);
  op.multiplier = math.multiplier, op.shift = math.shift;
  return op;
}

arch::Operation expand_instruction(const WindowShape& s, const WindowStep& step,
                                   const WindowMath& math, const WindowAddresses& at) {
  WindowShape conv;
  conv.ic = s.expand;
  WindowStep tile = step;
  tile.y0 = 0, tile.y1 = step.rows.size(), tile.x0 = 0, tile.x1 = step.columns.size();
  tile.rows.pad = tile.columns.pad = 0;
  tile.c0 = 0, tile.c1 = s.expand;
  return window_instruction(conv, tile, math, at);
}

}  // namespace deputy::delegate
