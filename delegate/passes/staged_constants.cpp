#include "delegate/passes/staged_constants.h"

#include <algorithm>
#include <numeric>

#include "arch/instruction_check.h"

namespace deputy::delegate {
namespace {

bool copies_anything(const arch::Program& program) {
  for (std::span<const std::uint32_t> words = program.words; !words.empty();) {
    const arch::Decoded decoded = arch::decode(words);
    if (decoded.fault != arch::DecodeFault::kNone) return false;
    if (StagedConstants::stores_copy(decoded.instruction.op)) return true;
    words = words.subspan(decoded.instruction.header.words);
  }
  return false;
}

}  // namespace

StagedConstants::StagedConstants(const arch::Executable& executable, const arch::Program& program) {
  if (!copies_anything(program)) return;
  spm_.assign(static_cast<std::size_t>(executable.target.spm.bytes), 0);
  arena_.assign(executable.region_bytes(arch::Region::kFastArena), 0);
}

bool StagedConstants::stores_copy(const arch::Operation& op) {
  const auto* store = std::get_if<arch::Store>(&op);
  return store && store->traffic != static_cast<std::uint8_t>(arch::Traffic::kFeatureMap);
}

void StagedConstants::follow(const arch::Operation& op) {
  if (spm_.empty()) return;
  for (const arch::SpmAccess& access : arch::spm_accesses(op)) {
    if (!access.write) continue;
    const arch::Tile& t = access.tile;
    const bool dense = t.h * t.w == 1 || t.end() - t.addr == t.h * t.w * t.c;
    for (std::uint64_t y = 0; y < (dense ? 1 : t.h); ++y)
      for (std::uint64_t x = 0; x < (dense ? 1 : t.w); ++x) {
        const std::uint64_t from = t.addr + y * t.row_stride + x * t.px_stride;
        if (from >= spm_.size()) continue;
        std::fill_n(spm_.begin() + static_cast<std::ptrdiff_t>(from),
                    std::min<std::uint64_t>(dense ? t.h * t.w * t.c : t.c, spm_.size() - from), 0);
      }
  }
  const auto* load = std::get_if<arch::Load>(&op);
  if (!load || load->region != static_cast<std::uint8_t>(arch::Region::kConstants)) return;
  if (load->rows != 1 || load->planes != 1 ||
      load->spm_addr + std::uint64_t{load->row_bytes} > spm_.size())
    return;
  const auto first = spm_.begin() + load->spm_addr;
  std::iota(first, first + load->row_bytes, load->mem_offset + 1);
}

bool StagedConstants::follow_each_other(const Origins& origins, std::uint64_t at,
                                        std::uint64_t bytes) {
  if (at > origins.size() || bytes > origins.size() - at || bytes == 0 || origins[at] == 0)
    return false;
  for (std::uint64_t i = 1; i < bytes; ++i)
    if (origins[at + i] != origins[at] + i) return false;
  return true;
}

std::string StagedConstants::store(const arch::Store& store) {
  if (store.region != static_cast<std::uint8_t>(arch::Region::kFastArena) || store.rows != 1 ||
      store.planes != 1)
    return "copies constants elsewhere than into the fast arena, or in rows";
  if (!follow_each_other(spm_, store.spm_addr, store.row_bytes))
    return "copies bytes that are no constants in a row";
  std::copy_n(spm_.begin() + store.spm_addr, store.row_bytes,
              arena_.begin() + static_cast<std::ptrdiff_t>(store.mem_offset));
  return {};
}

std::string StagedConstants::load(std::uint64_t at, std::uint64_t bytes) const {
  return follow_each_other(arena_, at, bytes) ? "" : "loads as constants what is no copy of them";
}

void StagedConstants::overwritten(std::uint64_t at, std::uint64_t bytes) {
  if (!arena_.empty()) std::fill_n(arena_.begin() + static_cast<std::ptrdiff_t>(at), bytes, 0);
}

}  // namespace deputy::delegate
