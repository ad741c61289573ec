#include "delegate/codegen/copy_emitter.h"

#include <algorithm>

#include "delegate/codegen/epilogue.h"

namespace deputy::delegate {
namespace {

constexpr std::size_t kSlots = 3;  // arriving, in work, leaving
constexpr std::int64_t kTableBytes = 256;

}  // namespace

CopyEmitter::CopyEmitter(Lowering& context, std::int64_t chunk,
                         const std::optional<ByteTable>& table)
    : program_(context.program), has_table_(table.has_value()) {
  const std::int64_t room = context.options.npu.spm.bytes - (table ? kTableBytes : 0);
  chunk_ = std::min(room / static_cast<std::int64_t>(kSlots) / kBufferAlign * kBufferAlign,
                    align_up(chunk, kBufferAlign));
  std::vector<std::int64_t> sizes(kSlots, chunk_);
  if (table) sizes.push_back(kTableBytes);
  slots_ = program_.allocate(sizes);
  if (!table) return;
  table_ = slots_.back();
  program_.load(table_constant(context, *table), table_, Box::bytes(kTableBytes),
                arch::Traffic::kParams);
}

void CopyEmitter::emit(MemoryRef from, MemoryRef to, std::vector<CopyDim> dims) {
  from_ = from, to_ = to;
  // The three innermost loops are one transfer; those outside are unrolled.
  while (dims.size() < 3) dims.insert(dims.begin(), CopyDim{});
  outer(dims, 0, 0, 0);
}

void CopyEmitter::outer(const std::vector<CopyDim>& dims, std::size_t depth, std::int64_t from,
                        std::int64_t to) {
  if (depth + 3 == dims.size()) return boxes(&dims[depth], from, to);
  for (std::int64_t i = 0; i < dims[depth].size; ++i)
    outer(dims, depth + 1, from + i * dims[depth].from, to + i * dims[depth].to);
}

void CopyEmitter::boxes(const CopyDim* d, std::int64_t from, std::int64_t to) {
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
        program_.load(shifted(from_, from + p * d[0].from + r * d[1].from + b), spm,
                      Box::dense(planes, rows, bytes, d[0].from, d[1].from),
                      arch::Traffic::kFeatureMap);
        if (has_table_) {
          arch::Lut lut;
          lut.ifm_addr = lut.ofm_addr = spm;
          lut.count = static_cast<std::uint32_t>(planes * rows * bytes), lut.lut_addr = table_;
          program_.emit(lut);
        }
        program_.store(shifted(to_, to + p * d[0].to + r * d[1].to + b), spm,
                       Box::dense(planes, rows, bytes, d[0].to, d[1].to));
      }
}

std::vector<CopyDim> view_dims(const Shape& shape, const TensorView& from, const TensorView& to) {
  std::vector<CopyDim> dims;
  for (std::size_t i = 0; i < shape.size(); ++i)
    dims.push_back({shape[i], from.strides[i], to.strides[i]});
  return simplified(dims);
}

}  // namespace deputy::delegate
