// Element-wise operators of two operands with broadcasting: neighbouring dimensions that broadcast
// alike are merged, the three innermost become rows, pixels and channels of a tile.
#include <algorithm>

#include "base/check.h"
#include "delegate/codegen/epilogue.h"
#include "delegate/codegen/lower.h"
#include "delegate/ops/eltwise_ops.h"

namespace deputy::delegate {
namespace {

struct EltwiseDim {
  std::int64_t size = 1;
  std::int64_t a = 0, b = 0, out = 0;  // bytes from one index to the next; 0: broadcast
};

// An operand's shape with its strides in memory.
struct Layout {
  Shape shape;
  TensorView view;
  // The stride along dimension i of the output; 0 where the operand is broadcast.
  std::int64_t stride(std::size_t i, std::size_t out_rank) const {
    if (i + shape.size() < out_rank) return 0;
    const std::size_t own = i + shape.size() - out_rank;
    return shape[own] == 1 ? 0 : view.strides[own];
  }
};

std::vector<EltwiseDim> merged_dims(const Layout& a, const Layout& b, const Layout& out) {
  const Shape& shape = out.shape;
  std::vector<EltwiseDim> dims;  // innermost first
  for (std::size_t i = shape.size(); i-- > 0;) {
    EltwiseDim d{shape[i], a.stride(i, shape.size()), b.stride(i, shape.size()),
                 out.view.strides[i]};
    if (d.size == 1) continue;
    if (!dims.empty()) {
      EltwiseDim& inner = dims.back();
      const bool joins = d.a == inner.a * inner.size && d.b == inner.b * inner.size &&
                         d.out == inner.out * inner.size && (d.a != 0) == (inner.a != 0) &&
                         (d.b != 0) == (inner.b != 0);
      if (joins) {
        inner.size *= d.size;
        continue;
      }
    }
    dims.push_back(d);
  }
  // The innermost one is contiguous or repeated; a strided one gets channels of one byte.
  const auto contiguous = [](const EltwiseDim& d) { return d.a <= 1 && d.b <= 1 && d.out == 1; };
  if (dims.empty() || !contiguous(dims.front())) dims.insert(dims.begin(), {1, 1, 1, 1});
  while (dims.size() < 3) dims.push_back({1, 0, 0, 0});
  std::reverse(dims.begin(), dims.end());
  return dims;
}

// One operand of a tile: its slots in the scratchpad and what they hold.
class Operand {
 public:
  Operand(MemoryRef memory, std::int64_t plane, std::int64_t row, std::int64_t channel)
      : memory_(memory), plane_(plane), row_(row), channel_(channel) {}

  std::int64_t bytes(std::int64_t h, std::int64_t w, std::int64_t c) const {
    return (plane_ ? h : 1) * (row_ ? w : 1) * (channel_ ? c : 1);
  }
  void set_slots(std::uint32_t first, std::uint32_t second) {
    slots_[0] = first, slots_[1] = second;
  }

  struct Tile {
    std::uint32_t address, row_stride, px_stride, ch_stride;
  };
  // Loads the part at `offset`, unless the slot used last still holds it.
  Tile fetch(ProgramBuilder& program, std::int64_t offset, std::int64_t h, std::int64_t w,
             std::int64_t c) {
    const std::int64_t planes = plane_ ? h : 1, rows = row_ ? w : 1, bytes = channel_ ? c : 1;
    const Key key{offset, planes, rows, bytes};
    if (key != held_) {
      held_ = key;
      current_ ^= 1;
      program.load({memory_.region, memory_.offset + static_cast<std::uint64_t>(offset)},
                   slots_[current_], Box::dense(planes, rows, bytes, plane_, row_),
                   arch::Traffic::kFeatureMap);
    }
    return {slots_[current_], plane_ ? static_cast<std::uint32_t>(rows * bytes) : 0,
            row_ ? static_cast<std::uint32_t>(bytes) : 0, channel_ ? 1u : 0u};
  }

 private:
  struct Key {
    std::int64_t offset = -1, planes = 0, rows = 0, bytes = 0;
    bool operator==(const Key&) const = default;
  };
  MemoryRef memory_;
  std::int64_t plane_, row_, channel_;
  std::uint32_t slots_[2] = {0, 0};
  int current_ = 0;
  Key held_;
};

Layout layout(Lowering& context, TensorId id) {
  Layout out{context.tensor(id).desc.shape, context.view(id)};
  DEPUTY_CHECK(out.view.stored, "an operand without storage");
  return out;
}

// Rows [y0, y1) of a map that do not go round its ring; an operand that repeats its rows is left
// whole.
Layout rows_of(Layout map, std::int64_t y0, std::int64_t y1) {
  if (map.shape.size() != 4 || map.shape[1] == 1) return map;
  const std::int64_t row = map.view.ring ? y0 % map.view.ring : y0;
  map.view.at = shifted(map.view.at, row * map.view.strides[1]);
  map.view.ring = 0, map.shape[1] = y1 - y0;
  return map;
}

class EltwiseEmitter {
 public:
  EltwiseEmitter(Lowering& context, const Kernel& kernel, const Op& op, const Layout& a_layout,
                 const Layout& b_layout, const Layout& output)
      : program_(context.program),
        dims_(merged_dims(a_layout, b_layout, output)),
        math_(eltwise_math(context.graph, context.options.numerics, op)),
        out_(output.view.at),
        inner_(dims_.end() - 3),
        a_(a_layout.view.at, inner_[0].a, inner_[1].a, inner_[2].a),
        b_(b_layout.view.at, inner_[0].b, inner_[1].b, inner_[2].b),
        square_(op.inputs[0] == op.inputs[1]) {
    finish_ = epilogue_plan(context.graph, context.options.numerics, kernel, nullptr, math_.act_min,
                            math_.act_max)
                  .main;
    choose_tile(context.options.npu.spm.bytes - context.spm_kept -
                (finish_.table ? kTableBytes : 0));
    const std::int64_t a = a_.bytes(h_, w_, c_), b = square_ ? 0 : b_.bytes(h_, w_, c_),
                       out = h_ * w_ * c_;
    std::vector<std::int64_t> sizes{a, a, b, b, out, out};
    if (finish_.table) sizes.push_back(kTableBytes);
    slots_ = program_.allocate(sizes);
    if (finish_.table)
      program_.load(table_constant(context, *finish_.table), slots_.back(), Box::bytes(kTableBytes),
                    arch::Traffic::kParams);
    a_.set_slots(slots_[0], slots_[1]);
    b_.set_slots(slots_[2], slots_[3]);
  }

  void emit() { outer(0, 0, 0, 0); }

 private:
  static constexpr std::int64_t kMaxTile = 32768, kTableBytes = 256;

  // Halves the outermost dimension until two sets of buffers fit; four tiles or more when there is
  // enough work for transfers to hide behind.
  void choose_tile(std::int64_t spm) {
    h_ = std::min(inner_[0].size, kMaxTile), w_ = std::min(inner_[1].size, kMaxTile),
    c_ = std::min(inner_[2].size, kMaxTile);
    const std::int64_t total = inner_[0].size * inner_[1].size * inner_[2].size;
    const std::int64_t goal = std::max<std::int64_t>(1024, (total + 3) / 4);
    const auto bytes = [&] {
      const auto up = [](std::int64_t v) { return align_up(v, kBufferAlign); };
      return 2 * (up(a_.bytes(h_, w_, c_)) + up(b_.bytes(h_, w_, c_)) + up(h_ * w_ * c_));
    };
    while (bytes() > spm || h_ * w_ * c_ > goal) {
      std::int64_t& cut = h_ > 1 ? h_ : w_ > 1 ? w_ : c_;
      cut = (cut + 1) / 2;
    }
  }

  void outer(std::size_t depth, std::int64_t a, std::int64_t b, std::int64_t out) {
    if (depth + 3 == dims_.size()) return tiles(a, b, out);
    const EltwiseDim& d = dims_[depth];
    for (std::int64_t i = 0; i < d.size; ++i)
      outer(depth + 1, a + i * d.a, b + i * d.b, out + i * d.out);
  }

  void tiles(std::int64_t a, std::int64_t b, std::int64_t out) {
    const auto at = [&](std::int64_t base, std::int64_t EltwiseDim::*stride, std::int64_t y,
                        std::int64_t x, std::int64_t c) {
      return base + y * (inner_[0].*stride) + x * (inner_[1].*stride) + c * (inner_[2].*stride);
    };
    for (std::int64_t y = 0; y < inner_[0].size; y += h_)
      for (std::int64_t x = 0; x < inner_[1].size; x += w_)
        for (std::int64_t c = 0; c < inner_[2].size; c += c_) {
          const std::int64_t h = std::min(h_, inner_[0].size - y),
                             w = std::min(w_, inner_[1].size - x);
          const std::int64_t n = std::min(c_, inner_[2].size - c);
          const Operand::Tile ta = a_.fetch(program_, at(a, &EltwiseDim::a, y, x, c), h, w, n);
          const Operand::Tile tb =
              square_ ? ta : b_.fetch(program_, at(b, &EltwiseDim::b, y, x, c), h, w, n);
          arch::Eltwise e = math_;
          e.a_addr = ta.address, e.a_row_stride = ta.row_stride, e.a_px_stride = ta.px_stride,
          e.a_ch_stride = ta.ch_stride;
          e.b_addr = tb.address, e.b_row_stride = tb.row_stride, e.b_px_stride = tb.px_stride,
          e.b_ch_stride = tb.ch_stride;
          e.ofm_addr = slots_[4 + next_++ % 2];
          e.ofm_px_stride = static_cast<std::uint32_t>(n),
          e.ofm_row_stride = static_cast<std::uint32_t>(w * n);
          e.ofm_h = static_cast<std::uint32_t>(h), e.ofm_w = static_cast<std::uint32_t>(w),
          e.ofm_c = static_cast<std::uint32_t>(n);
          arch::Operation operation = e;
          set_finish(operation, finish_, slots_.back());
          program_.emit(operation);
          program_.store({out_.region, out_.offset + static_cast<std::uint64_t>(
                                                         at(out, &EltwiseDim::out, y, x, c))},
                         e.ofm_addr, Box::dense(h, w, n, inner_[0].out, inner_[1].out));
        }
  }

  ProgramBuilder& program_;
  const std::vector<EltwiseDim> dims_;
  const arch::Eltwise math_;
  Finish finish_;
  const MemoryRef out_;
  const std::vector<EltwiseDim>::const_iterator inner_;
  Operand a_, b_;
  const bool square_;  // both operands are one tensor
  std::int64_t h_ = 1, w_ = 1, c_ = 1;
  std::vector<std::uint32_t> slots_;
  std::size_t next_ = 0;
};

}  // namespace

void lower_eltwise(Lowering& context, const Kernel& kernel, RowRange rows) {
  const Op& op = kernel.main_op(context.graph);
  const Layout a = layout(context, op.inputs[0]), b = layout(context, op.inputs[1]),
               out = layout(context, kernel.output(context.graph));
  if (rows.nominal == 0) {
    DEPUTY_CHECK(a.view.ring + b.view.ring + out.view.ring == 0,
                 "an operand without whole storage");
    return EltwiseEmitter(context, kernel, op, a, b, out).emit();
  }
  for (std::int64_t y = rows.begin; y < rows.end;) {
    std::int64_t end = std::min<std::int64_t>(rows.end, out.shape[1]);
    for (const Layout* map : {&a, &b, &out})
      if (map->view.ring) end = std::min(end, y - y % map->view.ring + map->view.ring);
    EltwiseEmitter(context, kernel, op, rows_of(a, y, end), rows_of(b, y, end),
                   rows_of(out, y, end))
        .emit();
    y = end;
  }
}

}  // namespace deputy::delegate
