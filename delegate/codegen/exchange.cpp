// Short runs exchanged in the scratchpad: rows of the source come in, a 1x1 maximum pooling whose
// output runs down the columns transposes them, rows of the sink go out.
#include <algorithm>

#include "delegate/codegen/lower.h"

namespace deputy::delegate {
namespace {

class ExchangeEmitter {
 public:
  ExchangeEmitter(ProgramBuilder& program, const Exchange& e, MemoryRef from, MemoryRef to)
      : program_(program), e_(e), from_(from), to_(to) {
    const std::int64_t tile = e.source_tile * e.sink_tile * e.run;
    slots_ = program.allocate(std::vector<std::int64_t>(4, tile));
  }

  void outer(std::size_t depth, std::int64_t from, std::int64_t to) {
    if (depth == e_.outer.size()) return tiles(from, to);
    const CopyDim& d = e_.outer[depth];
    for (std::int64_t i = 0; i < d.size; ++i) outer(depth + 1, from + i * d.from, to + i * d.to);
  }

 private:
  void tiles(std::int64_t from, std::int64_t to) {
    for (std::int64_t a = 0; a < e_.source.size; a += e_.source_tile)
      for (std::int64_t b = 0; b < e_.sink.size; b += e_.sink_tile)
        tile(std::min(e_.source_tile, e_.source.size - a), std::min(e_.sink_tile, e_.sink.size - b),
             from + a * e_.source.from + b * e_.sink.from, to + a * e_.source.to + b * e_.sink.to);
  }

  // `columns` runs of a source row become the rows of the sink.
  void tile(std::int64_t columns, std::int64_t rows, std::int64_t from, std::int64_t to) {
    const auto u32 = [](std::int64_t v) { return static_cast<std::uint32_t>(v); };
    const std::uint32_t in = slots_[next_ % 2], out = slots_[2 + next_ % 2];
    ++next_;
    program_.load(shifted(from_, from), in, Box::dense(1, rows, columns * e_.run, 0, e_.sink.from),
                  arch::Traffic::kFeatureMap);
    arch::Pool copy;
    copy.mode = static_cast<std::uint32_t>(arch::PoolMode::kMax);
    copy.ifm_addr = in, copy.ifm_h = u32(rows), copy.ifm_w = u32(columns);
    copy.ifm_row_stride = u32(columns * e_.run), copy.ifm_px_stride = u32(e_.run);
    copy.ofm_addr = out, copy.ofm_h = u32(rows), copy.ofm_w = u32(columns),
    copy.ofm_c = u32(e_.run);
    copy.ofm_row_stride = u32(e_.run), copy.ofm_px_stride = u32(rows * e_.run);
    program_.emit(copy);
    program_.store(shifted(to_, to), out, Box::dense(1, columns, rows * e_.run, 0, e_.source.to));
  }

  ProgramBuilder& program_;
  const Exchange& e_;
  const MemoryRef from_, to_;
  std::vector<std::uint32_t> slots_;
  std::size_t next_ = 0;
};

}  // namespace

void lower_exchange(Lowering& context, const Copy& copy, const Exchange& e) {
  ExchangeEmitter(context.program, e, context.memory(copy.from), context.memory(copy.to))
      .outer(0, copy.from_offset, copy.to_offset);
}

}  // namespace deputy::delegate
