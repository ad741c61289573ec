// PAD: each output tile is filled with the pad value where it leaves the input, the input's part is
// loaded over it, and the whole is stored.
#include <algorithm>

#include "base/check.h"
#include "delegate/codegen/lower.h"
#include "delegate/ops/copies.h"

namespace deputy::delegate {
namespace {

constexpr std::size_t kSlots = 3;

struct Span {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
};
Span intersect(Span a, Span b) {
  const std::int64_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

// A tensor of rank 4 as it lies, one of another rank dense.
MapView map4(Lowering& context, TensorId id, const std::int64_t (&size)[4]) {
  return context.map(id, size[1], size[2], size[3]);
}

}  // namespace

void lower_pad(Lowering& context, const Op& op) {
  const auto box = pad_box(context.graph, op);
  DEPUTY_CHECK(box, "not a pad");
  const MapView from = map4(context, op.inputs[0], box->in),
                to = map4(context, op.outputs[0], box->out);
  const std::int64_t chunk = context.options.npu.spm.bytes / static_cast<std::int64_t>(kSlots) /
                             kBufferAlign * kBufferAlign;
  std::int64_t tile[4] = {1, box->out[1], box->out[2], box->out[3]};
  tile[3] = std::min(tile[3], chunk);
  tile[2] = std::min(tile[2], std::max<std::int64_t>(1, chunk / tile[3]));
  tile[1] = tile[2] < box->out[2] || tile[3] < box->out[3]
                ? 1
                : std::min(tile[1], std::max<std::int64_t>(1, chunk / (tile[2] * tile[3])));
  if (tile[3] < box->out[3]) tile[2] = 1;
  const auto slots =
      context.program.allocate(std::vector<std::int64_t>(kSlots, tile[1] * tile[2] * tile[3]));

  const std::int64_t from_stride[4] = {from.image, from.row, from.pixel, 1},
                     to_stride[4] = {to.image, to.row, to.pixel, 1};
  std::size_t next = 0;
  std::int64_t at[4];
  for (at[0] = 0; at[0] < box->out[0]; at[0] += tile[0])
    for (at[1] = 0; at[1] < box->out[1]; at[1] += tile[1])
      for (at[2] = 0; at[2] < box->out[2]; at[2] += tile[2])
        for (at[3] = 0; at[3] < box->out[3]; at[3] += tile[3]) {
          Span out[4], data[4];
          bool inside = true, any = true;
          std::int64_t source = 0, sink = 0;
          for (int d = 0; d < 4; ++d) {
            out[d] = {at[d], std::min(box->out[d], at[d] + tile[d])};
            data[d] = intersect(out[d], {box->before[d], box->before[d] + box->in[d]});
            inside = inside && data[d].size() == out[d].size();
            any = any && data[d].size() > 0;
            source += (data[d].begin - box->before[d]) * from_stride[d];
            sink += at[d] * to_stride[d];
          }
          const std::uint32_t spm = slots[next++ % kSlots];
          const std::int64_t pixel = out[3].size(), row = out[2].size() * pixel;
          if (!inside) {
            arch::Fill fill;
            fill.addr = spm, fill.count = static_cast<std::uint32_t>(out[1].size() * row),
            fill.value = box->value;
            context.program.emit(fill);
          }
          if (any) {
            const std::int64_t first =
                ((data[1].begin - at[1]) * out[2].size() + data[2].begin - at[2]) * pixel +
                data[3].begin - at[3];
            context.program.load(
                shifted(from.at, source), spm + static_cast<std::uint32_t>(first),
                {data[1].size(), data[2].size(), data[3].size(), from.row, from.pixel, row, pixel},
                arch::Traffic::kFeatureMap);
          }
          context.program.store(shifted(to.at, sink), spm,
                                Box::dense(out[1].size(), out[2].size(), pixel, to.row, to.pixel));
        }
}

}  // namespace deputy::delegate
