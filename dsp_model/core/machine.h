// The DSP's architectural state, and what a handler of one operation looks like.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>

#include "arch/dsp_isa.h"

namespace deputy::dsp_model {

struct alignas(64) Vec {
  std::uint8_t b[arch::kDspVectorBytes];
};
struct alignas(64) Sums {
  std::uint8_t b[2 * arch::kDspVectorBytes];
};

struct LoopState {
  bool active = false;
  std::uint32_t start = 0, end = 0, left = 0;  ///< words; passes still to do, with this one
};

/// What operations read and write. Masks hold 0x00 or 0xFF for each byte of a vector.
struct Registers {
  std::array<Vec, arch::kDspVectors> v{};
  std::array<Sums, arch::kDspAccumulators> a{};
  std::array<Vec, arch::kDspMasks> m{};
  std::array<std::uint32_t, arch::kDspScalars> r{};
};
struct Machine {
  Registers x;
  std::array<std::uint32_t, static_cast<int>(arch::DspControl::kCount)> control{};
  std::array<LoopState, arch::kDspLoopLevels> loops{};
  std::span<std::uint8_t> tcm;
  std::uint32_t pc = 0;    ///< word of the packet that runs
  std::uint32_t next = 0;  ///< word of the packet after it; branches change it
  bool taken = false;      ///< the packet branched
};

/// Executes one operation that has been checked.
using Handler = void (*)(Machine&, const arch::DspOp&);
using HandlerTable = std::array<Handler, arch::kDspOpcodes>;

/// Which of the host's instruction sets the lane loops use.
enum class Isa : std::uint8_t { kPortable = 0, kAvx2 = 1 };
bool isa_available(Isa isa);
Isa best_isa();
/// All operations but those that DspCore does itself (control registers, halt, wait, trap).
const HandlerTable& handlers(Isa isa);

// Each fills its slots' rows.
void add_scalar_handlers(HandlerTable& table);
void add_memory_handlers(HandlerTable& table);
void add_portable_lanes(HandlerTable& table);
#if defined(__x86_64__)
void add_avx2_lanes(HandlerTable& table);  ///< call only where the host has AVX2
#endif

/// Where a load or store goes: its first byte, and the address register afterwards.
struct Access {
  std::uint32_t address = 0, after = 0;
  bool good = false;  ///< false: outside the circular buffer
};
Access access_of(const Machine& m, const arch::DspOp& op);

/// Whether the operation gathers or scatters.
inline bool is_indexed(arch::DspOpcode code) { return code >= arch::DspOpcode::kLVgathH; }

/// Whether the predicate lets the operation touch byte `byte` of its vector.
inline bool selected(const Machine& m, const arch::DspOp& op, int byte) {
  if (op.p == 0) return true;
  return (m.x.m[static_cast<std::size_t>((op.p - 1) % arch::kDspMasks)].b[byte] != 0) ==
         (op.p <= arch::kDspMasks);
}
/// Where a gather or scatter goes with the element that begins at byte `byte` of its vectors.
inline std::uint32_t element_address(const Machine& m, const arch::DspOp& op, int byte) {
  std::uint32_t offset = 0;
  if (op.size == 2)
    std::memcpy(&offset, m.x.v[op.b].b + byte, 2);
  else
    std::memcpy(&offset, m.x.v[op.b].b + byte, 4);
  return m.x.r[op.a] + offset;
}
inline std::uint32_t reverse_bits(std::uint32_t v) {
  std::uint32_t out = 0;
  for (int i = 0; i < 32; ++i) out |= (v >> i & 1) << (31 - i);
  return out;
}

}  // namespace deputy::dsp_model
