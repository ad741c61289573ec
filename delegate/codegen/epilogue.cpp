#include "delegate/codegen/epilogue.h"

#include <algorithm>
#include <type_traits>

#include "base/check.h"

namespace deputy::delegate {
namespace {

std::uint32_t u32(std::int64_t v) { return static_cast<std::uint32_t>(v); }

}  // namespace

MemoryRef table_constant(Lowering& context, const ByteTable& table) {
  const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(table.data()),
                                            table.size());
  return {arch::Region::kConstants, context.constants.add(bytes)};
}

void set_finish(arch::Operation& op, const Finish& finish, std::uint32_t table) {
  std::visit(
      [&](auto& o) {
        if constexpr (requires { o.lut_en; }) {
          if constexpr (requires { o.acc_hold; })
            if (o.acc_hold) return;  // sums, not outputs
          o.act_min = finish.act_min, o.act_max = finish.act_max;
          if (finish.table) o.lut_en = 1, o.lut_addr = table;
        }
      },
      op);
}

Epilogue::Epilogue(Lowering& context, EpiloguePlan plan, const WindowShape& window)
    : context_(context),
      plan_(std::move(plan)),
      window_(window),
      stored_h_(window.oh),
      stored_w_(window.ow),
      places_(plan_.stages.size()) {
  for (const Stage& stage : plan_.stages)
    if (stage.pool) stored_h_ = stage.pool->oh, stored_w_ = stage.pool->ow;
}

void Epilogue::set_buffers(std::span<const std::uint32_t> buffers, std::int64_t slots,
                           std::int64_t map_slots) {
  const EpilogueShape shape = plan_.shape();
  std::size_t table = 0, vector = static_cast<std::size_t>(shape.tables);
  auto map = buffers.begin() + shape.tables + shape.vectors;
  const auto pooled = map + shape.maps * map_slots;
  main_table_ = load_table(plan_.main, buffers, table);
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Stage& stage = plan_.stages[i];
    Place& place = places_[i];
    place.table = load_table(stage.finish, buffers, table);
    if (stage.pool) {
      place.slots.assign(pooled, pooled + slots);
    } else if (stage.per_channel) {
      place.slots = {buffers[vector++]};
      context_.program.load(context_.memory(stage.other), place.slots[0], Box::bytes(window_.oc),
                            arch::Traffic::kFeatureMap);
    } else {
      place.slots.assign(map, map + map_slots);
      map += map_slots;
    }
  }
}

std::uint32_t Epilogue::load_table(const Finish& finish, std::span<const std::uint32_t> buffers,
                                   std::size_t& next) {
  if (!finish.table) return 0;
  const std::uint32_t at = buffers[next++];
  context_.program.load(table_constant(context_, *finish.table), at, Box::bytes(256),
                        arch::Traffic::kParams);
  return at;
}

void Epilogue::finish_main(arch::Operation& op) const { set_finish(op, plan_.main, main_table_); }

EpilogueTile Epilogue::emit(const MapPart& part, std::uint32_t spm) {
  EpilogueTile tile{part, spm};
  for (std::size_t i = 0; i < plan_.stages.size() && !tile.empty(); ++i) {
    const Stage& stage = plan_.stages[i];
    stage.pool ? emit_pool(stage, tile, i) : emit_eltwise(stage, tile, i);
  }
  return tile;
}

void Epilogue::emit_eltwise(const Stage& stage, const EpilogueTile& tile, std::size_t index) {
  const MapPart& part = tile.part;
  const std::int64_t h = part.y1 - part.y0, w = part.x1 - part.x0, c = part.c1 - part.c0;
  Place& place = places_[index];
  struct Operand {
    std::uint32_t address, row, pixel;
  };
  const Operand own{tile.spm, u32(w * c), u32(c)};
  Operand other = own;
  if (stage.per_channel) {
    other = {place.slots[0] + u32(part.c0), 0, 0};
  } else {
    other.address = place.slot();
    load_map(context_.program, context_.map(stage.other, window_.oh, window_.ow, window_.oc), part,
             other.address);
  }
  const Operand &a = stage.other_first ? other : own, &b = stage.other_first ? own : other;
  arch::Eltwise e = *stage.eltwise;
  e.a_addr = a.address, e.a_row_stride = a.row, e.a_px_stride = a.pixel;
  e.b_addr = b.address, e.b_row_stride = b.row, e.b_px_stride = b.pixel;
  e.ofm_addr = own.address, e.ofm_row_stride = own.row, e.ofm_px_stride = own.pixel;
  e.ofm_h = u32(h), e.ofm_w = u32(w), e.ofm_c = u32(c);
  arch::Operation op = e;
  set_finish(op, stage.finish, place.table);
  context_.program.emit(op);
}

void Epilogue::emit_pool(const Stage& stage, EpilogueTile& tile, std::size_t index) {
  const WindowShape& s = *stage.pool;
  const MapPart& part = tile.part;
  const auto windows = [](std::int64_t begin, std::int64_t end, std::int64_t outputs,
                          std::int64_t stride) {
    struct Range {
      std::int64_t begin, end;
    };
    if (outputs == 1) return Range{0, 1};
    return Range{begin / stride, std::min(outputs, ceil_div(end, stride))};
  };
  const auto rows = windows(part.y0, part.y1, s.oh, s.sh),
             columns = windows(part.x0, part.x1, s.ow, s.sw);
  WindowStep step;
  step.n = part.n, step.y0 = rows.begin, step.y1 = rows.end, step.x0 = columns.begin,
  step.x1 = columns.end;
  step.o0 = step.c0 = part.c0, step.o1 = step.c1 = part.c1;
  step.rows = {part.y0, part.y1, 0}, step.columns = {part.x0, part.x1, 0};
  const std::uint32_t to = places_[index].slot();
  const std::uint32_t from = tile.spm;
  tile = {{part.n, rows.begin, rows.end, columns.begin, columns.end, part.c0, part.c1}, to};
  if (tile.empty()) return;
  WindowAddresses addresses;
  addresses.ifm = from, addresses.ofm = to;
  arch::Operation op = window_instruction(s, step, stage.pool_math, addresses);
  set_finish(op, stage.finish, places_[index].table);
  context_.program.emit(op);
}

}  // namespace deputy::delegate
