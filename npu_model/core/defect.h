// Faults that an NPU can be made with (silicon.defect), as errata sheets describe them: one kind of
// instruction gives wrong bytes or all of them take too long, everything else is right. For
// developing probes and drivers against hardware that is known to be bad.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "arch/isa.h"

namespace deputy::npu_model {

enum class Defect : std::uint8_t {
  kNone,
  kDepthwiseStride2,
  kConvDilation,
  kMaxPoolWide,
  kSlowCompute
};

struct DefectInfo {
  Defect defect;
  const char* name;  ///< what silicon.defect says
  const char* doc;
};
std::span<const DefectInfo> defects();
std::optional<Defect> defect_from_name(std::string_view name);

/// Cycles that every compute instruction takes more than its formula says.
std::uint64_t defect_cycles(Defect defect);

/// What the fault does to the scratchpad after a compute instruction has executed rightly.
void apply_defect(Defect defect, const arch::Operation& op, std::span<std::uint8_t> spm);

}  // namespace deputy::npu_model
