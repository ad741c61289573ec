// Operators that only move bytes: strided LOADs into the scratchpad, strided STOREs out of it.
#include <algorithm>
#include <optional>

#include "base/check.h"
#include "delegate/codegen/lower.h"
#include "delegate/ops/copies.h"

namespace deputy::delegate {
namespace {

constexpr std::size_t kSlots = 3;

class CopyEmitter {
 public:
  explicit CopyEmitter(Lowering& context) : context_(context) {
    chunk_ = std::min<std::int64_t>(
                 context.options.npu.spm.bytes / static_cast<std::int64_t>(kSlots), 65536) /
             kBufferAlign * kBufferAlign;
    slots_ = context.program.allocate(std::vector<std::int64_t>(kSlots, chunk_));
  }

  void emit(const Copy& copy) {
    from_ = context_.memory(copy.from), to_ = context_.memory(copy.to);
    // The three innermost loops are one transfer; those outside are unrolled.
    std::vector<CopyDim> dims = copy.dims;
    while (dims.size() < 3) dims.insert(dims.begin(), CopyDim{});
    outer(dims, 0, copy.from_offset, copy.to_offset);
  }

 private:
  void outer(const std::vector<CopyDim>& dims, std::size_t depth, std::int64_t from,
             std::int64_t to) {
    if (depth + 3 == dims.size()) return boxes(&dims[depth], from, to);
    for (std::int64_t i = 0; i < dims[depth].size; ++i)
      outer(dims, depth + 1, from + i * dims[depth].from, to + i * dims[depth].to);
  }

  void boxes(const CopyDim* d, std::int64_t from, std::int64_t to) {
    std::int64_t tile[3] = {d[0].size, d[1].size, d[2].size};
    tile[2] = std::min(tile[2], chunk_);
    tile[1] = std::min(tile[1], std::max<std::int64_t>(1, chunk_ / tile[2]));
    tile[0] = std::min(tile[0], std::max<std::int64_t>(1, chunk_ / (tile[2] * tile[1])));
    if (tile[1] < d[1].size) tile[0] = 1;
    if (tile[2] < d[2].size) tile[0] = tile[1] = 1;
    for (std::int64_t p = 0; p < d[0].size; p += tile[0])
      for (std::int64_t r = 0; r < d[1].size; r += tile[1])
        for (std::int64_t b = 0; b < d[2].size; b += tile[2]) {
          const std::int64_t planes = std::min(tile[0], d[0].size - p),
                             rows = std::min(tile[1], d[1].size - r);
          const std::int64_t bytes = std::min(tile[2], d[2].size - b);
          const std::uint32_t spm = slots_[next_++ % kSlots];
          const std::int64_t source = from + p * d[0].from + r * d[1].from + b,
                             sink = to + p * d[0].to + r * d[1].to + b;
          context_.program.load({from_.region, from_.offset + static_cast<std::uint64_t>(source)},
                                spm, Box::dense(planes, rows, bytes, d[0].from, d[1].from),
                                arch::Traffic::kFeatureMap);
          context_.program.store({to_.region, to_.offset + static_cast<std::uint64_t>(sink)}, spm,
                                 Box::dense(planes, rows, bytes, d[0].to, d[1].to));
        }
  }

  Lowering& context_;
  std::int64_t chunk_ = 0;
  std::vector<std::uint32_t> slots_;
  std::size_t next_ = 0;
  MemoryRef from_, to_;
};

}  // namespace

void lower_copies(Lowering& context, const Op& op) {
  const auto list = copies(context.graph, op);
  DEPUTY_CHECK(list, "not a copying operator");
  std::optional<CopyEmitter> emitter;
  for (const Copy& copy : *list) {
    if (const auto e = exchange(copy, context.options.npu.spm.bytes)) {
      lower_exchange(context, copy, *e);
      emitter.reset();  // the scratchpad went to the exchange
      continue;
    }
    if (!emitter) emitter.emplace(context);
    emitter->emit(copy);
  }
}

}  // namespace deputy::delegate
