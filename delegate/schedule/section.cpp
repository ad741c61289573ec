#include "delegate/schedule/section.h"

#include <algorithm>

#include "arch/memory_map.h"
#include "base/check.h"
#include "delegate/codegen/hazards.h"

namespace deputy::delegate {

std::size_t buffer_of(const Section& section, std::uint32_t address) {
  const auto after = std::upper_bound(
      section.buffers.begin(), section.buffers.end(), static_cast<std::int64_t>(address),
      [](std::int64_t at, const SectionBuffer& b) { return at < b.address; });
  DEPUTY_CHECK(after != section.buffers.begin(),
               "a scratchpad address outside the kernel's buffers");
  return static_cast<std::size_t>(after - section.buffers.begin()) - 1;
}

void mark_early_loads(Section& section) {
  std::vector<bool> touched(section.buffers.size(), false);
  std::vector<bool> constant(section.buffers.size(), false);  // holds what an early load brought
  for (SectionInstruction& instruction : section.code) {
    const arch::Queue queue = std::visit([](const auto& o) { return o.kQueue; }, instruction.op);
    const std::vector<Access> touches = accesses(instruction.op);
    const auto buffer = [&](const Access& access) {
      const std::size_t index = buffer_of(section, static_cast<std::uint32_t>(access.begin));
      const SectionBuffer& b = section.buffers[index];
      DEPUTY_CHECK(static_cast<std::int64_t>(access.end) <= b.address + b.bytes,
                   "an instruction leaves its scratchpad buffer");
      return index;
    };
    // What it reads are constants, in memory or a code table loaded like that; nothing has used
    // what it writes.
    bool early = queue == arch::Queue::kLoad;
    for (const Access& access : touches) {
      if (access.space == kSpmSpace)
        early = early && (access.write ? !touched[buffer(access)] : constant[buffer(access)]);
      else
        early =
            early && !access.write && access.space == static_cast<int>(arch::Region::kConstants);
    }
    for (const Access& access : touches) {
      if (access.space != kSpmSpace) continue;
      const std::size_t index = buffer(access);
      if (early && access.write) {
        instruction.early_buffer = static_cast<std::int32_t>(index);
        constant[index] = true;
      } else {
        touched[index] = true;
        if (access.write) constant[index] = false;
      }
    }
  }
}

}  // namespace deputy::delegate
