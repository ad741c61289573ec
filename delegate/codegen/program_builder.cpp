#include "delegate/codegen/program_builder.h"

#include <algorithm>

#include "base/check.h"

namespace deputy::delegate {
namespace {

constexpr std::int64_t kMaxRows = 65535, kMaxRowBytes = (1 << 24) - 1;

// Rows that lie end to end on both sides are one longer row.
Box simplified(Box box) {
  if (box.rows == 1)
    box.rows = box.planes, box.mem_row = box.mem_plane, box.spm_row = box.spm_plane, box.planes = 1;
  for (int pass = 0; pass < 2; ++pass) {
    if (box.rows > 1 && (box.mem_row != box.row_bytes || box.spm_row != box.row_bytes)) break;
    box.row_bytes *= box.rows;
    box.rows = box.planes, box.mem_row = box.mem_plane, box.spm_row = box.spm_plane, box.planes = 1;
  }
  if (box.rows == 1) box.mem_row = box.spm_row = 0;
  if (box.planes == 1) box.mem_plane = box.spm_plane = 0;
  return box;
}

}  // namespace

void ProgramBuilder::emit(const arch::Operation& op) {
  DEPUTY_CHECK(!sections_.empty(), "an instruction before the first buffers");
  sections_.back().code.push_back({op, tag_});
}

template <class T>
void ProgramBuilder::transfer(const MemoryRef& mem, std::uint32_t spm, const Box& raw,
                              arch::Traffic traffic) {
  const Box box = simplified(raw);
  for (std::int64_t plane = 0; plane < box.planes; plane += kMaxRows)
    for (std::int64_t row = 0; row < box.rows; row += kMaxRows)
      for (std::int64_t byte = 0; byte < box.row_bytes; byte += kMaxRowBytes) {
        T t;
        t.region = static_cast<std::uint8_t>(mem.region);
        t.traffic = static_cast<std::uint8_t>(traffic);
        t.spm_addr =
            static_cast<std::uint32_t>(spm + plane * box.spm_plane + row * box.spm_row + byte);
        t.mem_offset = mem.offset +
                       static_cast<std::uint64_t>(plane * box.mem_plane + row * box.mem_row + byte);
        t.row_bytes = static_cast<std::uint32_t>(std::min(kMaxRowBytes, box.row_bytes - byte));
        t.rows = static_cast<std::uint32_t>(std::min(kMaxRows, box.rows - row));
        t.planes = static_cast<std::uint32_t>(std::min(kMaxRows, box.planes - plane));
        t.mem_row_stride = static_cast<std::uint32_t>(box.mem_row);
        t.mem_plane_stride = static_cast<std::uint32_t>(box.mem_plane);
        arch::Transfer::imply(t);  // a stride that is not used takes no byte of the encoding
        if (box.rows > 1) t.spm_row_stride = static_cast<std::uint32_t>(box.spm_row);
        if (box.planes > 1) t.spm_plane_stride = static_cast<std::uint32_t>(box.spm_plane);
        emit(t);
      }
}

void ProgramBuilder::load(const MemoryRef& from, std::uint32_t spm, const Box& box,
                          arch::Traffic traffic) {
  transfer<arch::Load>(from, spm, box, traffic);
}

void ProgramBuilder::store(const MemoryRef& to, std::uint32_t spm, const Box& box) {
  transfer<arch::Store>(to, spm, box, arch::Traffic::kFeatureMap);
}

std::vector<std::uint32_t> ProgramBuilder::allocate(std::span<const std::int64_t> sizes) {
  Section section;
  section.action = action_;
  std::vector<std::uint32_t> addresses;
  std::int64_t at = kBufferAlign;
  for (const std::int64_t size : sizes) {
    section.buffers.push_back({at, size});
    addresses.push_back(static_cast<std::uint32_t>(at));
    at += align_up(size, kBufferAlign);
  }
  DEPUTY_CHECK(at - kBufferAlign <= npu_.spm.bytes, "buffers exceed the scratchpad");
  sections_.push_back(std::move(section));
  return addresses;
}

Stream ProgramBuilder::finish() { return emit_stream(std::move(sections_), npu_, options_); }

}  // namespace deputy::delegate
