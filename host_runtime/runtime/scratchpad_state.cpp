#include "host_runtime/runtime/scratchpad_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "arch/instruction_check.h"
#include "arch/weight_codec.h"

namespace deputy::host_runtime {
namespace {

// Calls f(first byte, bytes) for the runs of a tile; neighbours are joined.
template <class F>
bool for_each_run(const arch::Tile& t, F&& f) {
  const bool pixels_joined = t.w == 1 || t.px_stride == t.c;
  const std::uint64_t row = pixels_joined ? t.w * t.c : t.c;
  const bool rows_joined = pixels_joined && (t.h == 1 || t.row_stride == row);
  if (rows_joined) return f(t.addr, t.h * row);
  for (std::uint64_t y = 0; y < t.h; ++y)
    for (std::uint64_t x = 0; x < (pixels_joined ? 1 : t.w); ++x)
      if (!f(t.addr + y * t.row_stride + x * t.px_stride, row)) return false;
  return true;
}

}  // namespace

ScratchpadState::ScratchpadState(const arch::NpuConfig& config)
    : state_(static_cast<std::size_t>(config.spm.bytes), kUnset),
      value_(static_cast<std::size_t>(config.spm.bytes)) {}

std::string ScratchpadState::follow(const arch::Operation& op,
                                    std::span<const std::uint8_t> contents, bool decode) {
  const arch::AccessList accesses = arch::spm_accesses(op);
  for (const arch::SpmAccess& access : accesses) {
    if (access.write) continue;
    std::optional<std::uint64_t> unset;
    for_each_run(access.tile, [&](std::uint64_t at, std::uint64_t bytes) {
      const auto* begin = state_.data() + at;
      if (const auto* found = static_cast<const std::uint8_t*>(std::memchr(begin, kUnset, bytes)))
        unset = at + static_cast<std::uint64_t>(found - begin);
      return !unset;
    });
    if (unset)
      return fmt::format("reads byte {} of the scratchpad, which nothing has written", *unset);
  }
  if (const auto* conv = std::get_if<arch::Conv>(&op)) {
    const std::uint64_t sums = std::uint64_t{conv->ofm_h} * conv->ofm_w * conv->ofm_c;
    if (conv->acc_keep && sums > sums_) return "adds to accumulators that hold no sums";
    if (conv->acc_hold) sums_ = std::max(sums_, sums);
  }
  if (const auto* load = std::get_if<arch::LoadWeights>(&op); load && decode)
    if (std::string problem = load_weights(*load, contents); !problem.empty()) return problem;
  for (const arch::SpmAccess& access : accesses)
    if (access.write)
      for_each_run(access.tile, [&](std::uint64_t at, std::uint64_t bytes) {
        std::memset(state_.data() + at, kSet, bytes);
        return true;
      });
  if (const auto* load = std::get_if<arch::Load>(&op); load && decode)
    copy_constants(*load, contents);
  if (const auto* out = std::get_if<arch::Store>(&op); out && decode) store(*out);
  if (const auto* load = std::get_if<arch::LoadWeights>(&op); load && decode) {
    arch::interleave_planes(decoded_, static_cast<int>(load->planes),
                            std::span(value_).subspan(load->spm_addr, load->bytes));
    std::memset(state_.data() + load->spm_addr, kConstant, load->bytes);
  }
  return {};
}

void ScratchpadState::copy_constants(const arch::Load& l, std::span<const std::uint8_t> contents) {
  if (contents.empty()) {
    if (l.rows != 1 || l.planes != 1 || copies_.empty()) return;
    const std::vector<std::uint8_t> known = copied(l.region, l.mem_offset, l.row_bytes);
    if (known.empty()) return;
    std::memcpy(value_.data() + l.spm_addr, known.data(), known.size());
    std::memset(state_.data() + l.spm_addr, kConstant, known.size());
    return;
  }
  for (std::uint64_t plane = 0; plane < l.planes; ++plane)
    for (std::uint64_t row = 0; row < l.rows; ++row) {
      const std::uint64_t from = l.mem_offset + plane * l.mem_plane_stride + row * l.mem_row_stride;
      const std::uint64_t to = l.spm_addr + plane * l.spm_plane_stride + row * l.spm_row_stride;
      std::memcpy(value_.data() + to, contents.data() + from, l.row_bytes);
      std::memset(state_.data() + to, kConstant, l.row_bytes);
    }
}

// The memory side as its whole extent.
void ScratchpadState::store(const arch::Store& s) {
  const std::uint64_t begin = s.mem_offset, end = begin + s.mem_extent();
  auto it = copies_.lower_bound({s.region, begin});
  if (it != copies_.begin())
    if (const auto before = std::prev(it);
        before->first.first == s.region && before->first.second + before->second.size() > begin)
      it = before;
  while (it != copies_.end() && it->first.first == s.region && it->first.second < end)
    it = copies_.erase(it);
  const auto first = state_.begin() + s.spm_addr;
  if (s.rows != 1 || s.planes != 1 ||
      std::any_of(first, first + s.row_bytes,
                  [](std::uint8_t state) { return state != kConstant; }))
    return;
  const auto value = value_.begin() + s.spm_addr;
  copies_.emplace(std::pair(std::uint32_t{s.region}, begin),
                  std::vector<std::uint8_t>(value, value + s.row_bytes));
}

std::vector<std::uint8_t> ScratchpadState::copied(std::uint32_t region, std::uint64_t begin,
                                                  std::uint64_t bytes) const {
  std::vector<std::uint8_t> out;
  auto it = copies_.upper_bound({region, begin});
  if (it == copies_.begin()) return {};
  for (--it; out.size() < bytes; ++it) {
    const std::uint64_t at = begin + out.size();
    if (it == copies_.end() || it->first.first != region || it->first.second > at) return {};
    const std::uint64_t skipped = at - it->first.second;
    if (skipped >= it->second.size()) return {};
    const std::uint64_t count = std::min(bytes - out.size(), it->second.size() - skipped);
    const auto from = it->second.begin() + static_cast<std::ptrdiff_t>(skipped);
    out.insert(out.end(), from, from + static_cast<std::ptrdiff_t>(count));
  }
  return out;
}

std::string ScratchpadState::load_weights(const arch::LoadWeights& l,
                                          std::span<const std::uint8_t> contents) {
  std::vector<std::uint8_t> copy;
  if (contents.empty()) {
    copy = copied(l.region, l.mem_offset, l.stream_bytes);
    if (copy.empty()) return "decodes a stream that is not constant";
  }
  const std::span<const std::uint8_t> stream =
      contents.empty() ? copy : contents.subspan(l.mem_offset, l.stream_bytes);
  arch::CodeLengths code = arch::fixed_code();
  if (!l.fixed_code) {
    const auto first = state_.begin() + l.table_addr;
    if (std::any_of(first, first + arch::kCodeTableBytes,
                    [](std::uint8_t s) { return s != kConstant; }))
      return "decodes by a code table that is not constant";
    code = arch::unpack_table(
        std::span(std::as_const(value_)).subspan(l.table_addr).first<arch::kCodeTableBytes>());
  }
  arch::WeightDecoder decoder;
  arch::CodeFault fault = decoder.set_code(code);
  decoded_.resize(l.bytes);
  if (fault == arch::CodeFault::kNone) fault = decoder.decode(stream, decoded_);
  return fault == arch::CodeFault::kNone ? std::string()
                                         : std::string(arch::code_fault_text(fault));
}

}  // namespace deputy::host_runtime
