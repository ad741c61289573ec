// The instructions of one kernel before they have their place: scratchpad addresses count from the
// kernel's own zero, and each buffer lies somewhere in that space. The program builder collects
// sections; planning gives their buffers addresses and loads constants early.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/isa.h"

namespace deputy::delegate {

/// Scratchpad space that a section uses from its start to its end. Address 0 belongs to no buffer,
/// so that an address field that an instruction does not use stays 0.
struct SectionBuffer {
  std::int64_t address = 0, bytes = 0;  ///< in the section's own space
};

struct SectionInstruction {
  arch::Operation op;
  std::uint16_t tag = 0;
  std::int32_t early_buffer =
      -1;  ///< a LOAD of constants into this buffer before anything else touches it
};

struct Section {
  std::vector<SectionBuffer> buffers;  ///< ascending addresses
  std::vector<SectionInstruction> code;
  std::ptrdiff_t action = 0;  ///< which action of the memory plan it belongs to
};

/// Calls visit(std::uint32_t& address) for each scratchpad address of an instruction.
template <class Visit>
void for_each_spm_address(arch::Operation& operation, Visit&& visit) {
  std::visit(
      [&]<class T>(T& op) {
        T::fields(op, [&]<class M>(M& member, const base::Field& f) {
          if constexpr (std::is_same_v<M, std::uint32_t>) {
            const std::string_view name = f.name;
            if (name == "addr" || name.ends_with("_addr")) visit(member);
          }
        });
      },
      operation);
}

/// The buffer of a section that an address lies in; CHECKs that there is one.
std::size_t buffer_of(const Section& section, std::uint32_t address);

/// Finds the section's early loads (SectionInstruction::early_buffer).
void mark_early_loads(Section& section);

}  // namespace deputy::delegate
