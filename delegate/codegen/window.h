// Convolution, depthwise convolution, fully connected layers and pooling as one loop nest: a window
// slides over a feature map. The tiling says how the loops are cut and what stays in the
// scratchpad; walk() is the one place that turns it into an order of tiles. The cost estimate and
// the code generator both follow it.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>
#include <vector>

#include "arch/isa.h"
#include "delegate/codegen/epilogue_shape.h"
#include "delegate/codegen/program_builder.h"

namespace deputy::delegate {

enum class WindowKind : std::uint8_t { kConv, kDepthwise, kPool };

/// Sizes of the whole operator. A fully connected layer is a 1x1 convolution of a 1 x rows map.
struct WindowShape {
  WindowKind kind = WindowKind::kConv;
  std::int64_t n = 1, ih = 1, iw = 1, ic = 1, oh = 1, ow = 1, oc = 1;
  std::int64_t kh = 1, kw = 1, sh = 1, sw = 1, dh = 1, dw = 1, pad_top = 0, pad_left = 0;
  std::int64_t mult = 1;   ///< depthwise multiplier
  EpilogueShape epilogue;  ///< what follows on each tile while it is in the scratchpad
  bool packed = false;     ///< weights are compressed: their code table lies in the scratchpad too
  /// Depthwise only: input channels of the 1x1 convolution that makes each tile's input in the
  /// scratchpad; 0: its input is loaded. `ic` stays what the window reads.
  std::int64_t expand = 0;
  bool expand_packed = false;  ///< the same of that convolution's weights
  bool has_weights() const { return kind != WindowKind::kPool; }
  /// Channels of the map in memory that is read.
  std::int64_t loaded_channels() const { return expand > 0 ? expand : ic; }
  std::int64_t weight_bytes() const {
    return has_weights() ? oc * (kh * kw * (kind == WindowKind::kConv ? ic : 1) + expand) : 0;
  }
  std::int64_t param_bytes() const {
    return has_weights() ? oc * arch::kChannelParamBytes * (expand > 0 ? 2 : 1) : 0;
  }
  auto operator<=>(const WindowShape&) const = default;
};

/// How an operator is cut. Tiles are toh x tow outputs of toc channels, summed over tic input
/// channels at a time. A buffer with several slots keeps the blocks loaded last, so a block that is
/// still there is not loaded again: two slots overlap transfers with computation, as many as there
/// are blocks keep an operand resident.
struct Tiling {
  std::int64_t toh = 1, tow = 1, toc = 1, tic = 1;
  bool spatial_outer = true;  ///< else output channels are the outer loop
  std::int64_t w_slots = 1, ifm_slots = 1, ofm_slots = 1;
  std::int64_t map_slots = 1;  ///< of each operand map of the epilogue
};

/// Part of one axis of the input that a tile reads: [begin, end) inside the map, and how far the
/// first window starts before `begin` (negative: after).
struct Halo {
  std::int64_t begin = 0, end = 1, pad = 0;
  std::int64_t size() const { return end - begin; }
};
inline Halo halo(std::int64_t out_begin, std::int64_t out_end, std::int64_t stride,
                 std::int64_t kernel, std::int64_t dilation, std::int64_t pad, std::int64_t size) {
  const std::int64_t first = out_begin * stride - pad;
  const std::int64_t last = (out_end - 1) * stride + (kernel - 1) * dilation + 1 - pad;
  Halo h;
  h.begin = std::clamp<std::int64_t>(first, 0, size - 1);
  h.end = std::clamp<std::int64_t>(last, h.begin + 1, size);
  h.pad = h.begin - first;
  return h;
}

/// Sizes of the scratchpad buffers of a tiling, in bytes per slot.
struct WindowBuffers {
  std::int64_t weights = 0, params = 0, ifm = 0, ofm = 0;
  std::int64_t table = 0;  ///< one, for packed weights
  /// With an expansion, `ifm` is its input. What it makes, once, for the compute queue is in order;
  /// its weights, as many as `weights`; its parameters, as many and as large as `params`; its
  /// table.
  std::int64_t expanded = 0, expand_weights = 0, expand_params = 0, expand_table = 0;
  std::int64_t w_slots = 0, p_slots = 0, ifm_slots = 0, ofm_slots = 0;
  std::vector<std::int64_t> epilogue;  ///< each there once
  /// Buffers that the main instruction writes: the compute queue is in order, so one will do when a
  /// fused pool takes every tile on to buffers of its own.
  std::int64_t ofm_buffers = 0;
  std::int64_t total() const {
    const auto all = [](std::int64_t slots, std::int64_t bytes) {
      return slots * align_up(bytes, kBufferAlign);
    };
    std::int64_t sum = all(w_slots, weights) + all(p_slots, params) + all(ifm_slots, ifm) +
                       all(ofm_buffers, ofm) + all(1, table) + all(1, expanded) +
                       all(w_slots, expand_weights) + all(p_slots, expand_params) +
                       all(1, expand_table);
    for (const std::int64_t bytes : epilogue) sum += align_up(bytes, kBufferAlign);
    return sum;
  }
};
WindowBuffers window_buffers(const WindowShape& shape, const Tiling& tiling);

/// One compute instruction of the nest and the loads it needs first.
struct WindowStep {
  std::int64_t n = 0, y0 = 0, y1 = 1, x0 = 0, x1 = 1;  ///< outputs
  std::int64_t o0 = 0, o1 = 1;                         ///< output channels
  std::int64_t c0 = 0, c1 = 1;                         ///< input channels
  Halo rows, columns;
  bool load_weights = false, load_params = false, load_ifm = false;
  bool first_k = true, last_k = true;  ///< of the sum over input channels
  std::int64_t w_slot = 0, p_slot = 0, ifm_slot = 0, ofm_slot = 0;
};

/// The input channels that output channels [o0, o1) of a depthwise or pooling operator read.
inline std::int64_t first_input_channel(const WindowShape& s, std::int64_t o) {
  return s.kind == WindowKind::kDepthwise ? o / s.mult : o;
}
inline std::int64_t input_channels(const WindowShape& s, std::int64_t o0, std::int64_t o1) {
  return first_input_channel(s, o1 - 1) - first_input_channel(s, o0) + 1;
}

/// Which blocks lie in the slots of a buffer; the oldest is replaced.
class SlotCache {
 public:
  explicit SlotCache(std::int64_t slots)
      : keys_(static_cast<std::size_t>(std::max<std::int64_t>(slots, 1)), -1) {}
  /// The slot of `key`; `load` is set when the block is not there and must be loaded into it.
  std::int64_t find(std::int64_t key, bool& load) {
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const std::size_t slot = (last_ + i) % keys_.size();
      if (keys_[slot] == key) return load = false, last_ = slot, static_cast<std::int64_t>(slot);
    }
    const std::size_t slot = next_;
    next_ = (next_ + 1) % keys_.size();
    keys_[slot] = key;
    return load = true, last_ = slot, static_cast<std::int64_t>(slot);
  }

 private:
  std::vector<std::int64_t> keys_;
  std::size_t next_ = 0, last_ = 0;
};

inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Output rows [begin, end) of a kernel, when it runs stripe by stripe.
struct RowRange {
  static constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
  std::int64_t begin = 0, end = kAll;
  std::int64_t nominal = 0;  ///< rows of most stripes, which the tiling is chosen for; 0: all rows
};
/// The operator that makes `rows` rows somewhere in the middle of the map.
inline WindowShape rows_shape(WindowShape s, std::int64_t rows) {
  s.oh = std::min(s.oh, rows);
  s.ih = std::min(s.ih, (s.oh - 1) * s.sh + (s.kh - 1) * s.dh + 1);
  s.pad_top = 0;
  return s;
}

/// Calls visit(const WindowStep&) for every tile of the rows in execution order.
template <class Visit>
void walk(const WindowShape& s, const Tiling& t, RowRange rows, Visit&& visit) {
  rows.end = std::min(rows.end, s.oh);
  const std::int64_t ny = ceil_div(rows.end - rows.begin, t.toh), nx = ceil_div(s.ow, t.tow),
                     no = ceil_div(s.oc, t.toc);
  const bool sums = s.kind == WindowKind::kConv;
  const std::int64_t nk = sums ? ceil_div(s.ic, t.tic) : 1, ns = s.n * ny * nx;
  const WindowBuffers buffers = window_buffers(s, t);
  SlotCache weights(buffers.w_slots), params(buffers.p_slots), ifm(buffers.ifm_slots);
  std::int64_t output = 0;
  const auto tile = [&](std::int64_t spatial, std::int64_t o) {
    WindowStep step;
    step.n = spatial / (ny * nx);
    step.y0 = rows.begin + spatial / nx % ny * t.toh, step.y1 = std::min(rows.end, step.y0 + t.toh);
    step.x0 = spatial % nx * t.tow, step.x1 = std::min(s.ow, step.x0 + t.tow);
    step.o0 = o * t.toc, step.o1 = std::min(s.oc, step.o0 + t.toc);
    step.rows = halo(step.y0, step.y1, s.sh, s.kh, s.dh, s.pad_top, s.ih);
    step.columns = halo(step.x0, step.x1, s.sw, s.kw, s.dw, s.pad_left, s.iw);
    step.ofm_slot = output++ % buffers.ofm_slots;
    for (std::int64_t k = 0; k < nk; ++k) {
      if (sums) {
        step.c0 = k * t.tic, step.c1 = std::min(s.ic, step.c0 + t.tic);
      } else {
        step.c0 = first_input_channel(s, step.o0);
        step.c1 = step.c0 + input_channels(s, step.o0, step.o1);
      }
      step.first_k = k == 0, step.last_k = k == nk - 1;
      if (s.has_weights()) {
        step.w_slot = weights.find(o * nk + k, step.load_weights);
        step.p_slot = params.find(o, step.load_params);
      }
      const std::int64_t block = sums           ? spatial * nk + k
                                 : s.expand > 0 ? spatial
                                                : spatial * s.oc + step.c0;
      step.ifm_slot = ifm.find(block, step.load_ifm);
      visit(static_cast<const WindowStep&>(step));
    }
  };
  if (t.spatial_outer) {
    for (std::int64_t spatial = 0; spatial < ns; ++spatial)
      for (std::int64_t o = 0; o < no; ++o) tile(spatial, o);
  } else {
    for (std::int64_t o = 0; o < no; ++o)
      for (std::int64_t spatial = 0; spatial < ns; ++spatial) tile(spatial, o);
  }
}

template <class Visit>
void walk(const WindowShape& s, const Tiling& t, Visit&& visit) {
  walk(s, t, RowRange{}, std::forward<Visit>(visit));
}

/// The arithmetic of the operator: what the instructions need beside geometry and addresses.
struct WindowMath {
  std::int32_t ifm_zp = 0, w_zp = 0, ofm_zp = 0, act_min = -128, act_max = 127;
  std::uint32_t rounding = 0, u8 = 0;
  arch::PoolMode pool = arch::PoolMode::kMax;
  std::int32_t multiplier = 0, shift = 0;  ///< mean
};
/// Scratchpad addresses of one step's operands.
struct WindowAddresses {
  std::uint32_t weights = 0, params = 0, ifm = 0, ofm = 0;
};
arch::Operation window_instruction(const WindowShape& shape, const WindowStep& step,
                                   const WindowMath& math, const WindowAddresses& at);
/// The convolution in front of it that makes its input.
arch::Operation expand_instruction(const WindowShape& shape, const WindowStep& step,
                                   const WindowMath& math, const WindowAddresses& at);

}  // namespace deputy::delegate
