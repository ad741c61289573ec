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
  DEPUTY_CHECK(after != section.buffers.begin(), "a scratchpad address outside the kernel's buffers");
  return static_cast<std::size_t>(after - section.buffers.begin()) - 1;
}

void mark_early_loads(Section& section) {
  std::vector<bool> touched(section.buffers.size(), false);
  for (SectionInstruction& instruction : section.code) {
    const arch::Queue queue = std::visit([](const auto& o) { return o.kQueue; }, instruction.op);
    const std::vector<Access> touches = accesses(instruction.op);
    const bool constant_load =
        queue == arch::Queue::kLoad && std::all_of(touches.begin(), touches.end(), [](const Access& a) {
          return a.write ? a.space == kSpmSpace : a.space == static_cast<int>(arch::Region::kConstants);
        });
    for (const Access& access : touches) {
      if (access.space != kSpmSpace) continue;
      const std::size_t buffer = buffer_of(section, static_cast<std::uint32_t>(access.begin));
      const SectionBuffer& b = section.buffers[buffer];
      DEPUTY_CHECK(static_cast<std::int64_t>(access.end) <= b.address + b.bytes,
                   "an instruction leaves its scratchpad buffer");
      if (constant_load && !touched[buffer])
        instruction.early_buffer = static_cast<std::int32_t>(buffer);
      else
        touched[buffer] = true;
    }
  }
}

}  // namespace deputy::delegate
