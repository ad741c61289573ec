// The DSP's instruction set: the table (dsp_ops.h) that the assembler, the disassembler, the model
// and the reference page read, and the encoding of one operation.
//
// A program is a sequence of packets of up to four operations, one a slot: scalar and control (S),
// vector ALU (A), multiply-accumulate (M), load and store (L). All operations of a packet read the
// registers as they were before it; all results are visible to the next packet (the pipeline
// interlocks). An operation is one little-endian 32-bit word; the bit `last` ends a packet, slots
// ascend within it. Branches and loops name words, relative to their own packet.
//
// Registers: r0-r31 of 32 bits (r0 reads as 0), v0-v31 of 128 bytes, accumulators a0-a3 of 64 sums
// of 32 bits or 32 sums of 64 bits, masks m0-m3 of a bit for each byte of a vector, and control
// registers.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "arch/dsp_ops.h"
#include "base/fields.h"

namespace deputy::arch {

inline constexpr int kDspIsaVersion = 1;
inline constexpr int kDspVectorBytes = 128;
inline constexpr int kDspScalars = 32, kDspVectors = 32, kDspAccumulators = 4, kDspMasks = 4;
inline constexpr int kDspSlots = 4, kDspLoopLevels = 4, kDspCircularBuffers = 4;
inline constexpr int kDspLinkRegister = 31;

enum class DspSlot : std::uint8_t { kS, kA, kM, kL };
inline constexpr std::string_view kDspSlotNames = "SAML";

/// How a destination is used. A predicated write also keeps the old bytes, so it reads them.
enum class DspRole : std::uint8_t { kNone, kWrite, kModify, kRead };
enum class DspLatency : std::uint8_t {
  kControl,
  kScalar,
  kScalarMul,
  kDivide,
  kVector,
  kPermute,
  kReduce,
  kMac,
  kLoad,
  kGather,
  kStore
};
/// Which fields follow the head of an operation.
enum class DspFormat : std::uint8_t {
  kNone,
  kR3,
  kR3P,
  kR4,
  kRI,
  kI16,
  kR3I,
  kVI,
  kBranch,
  kJump,
  kLoop,
  kLoopI,
  kMem,
  kMemP,
  kControl
};
inline constexpr int kDspFormats = 15;

#define DEPUTY_DSP_ENUM(id, ...) id,
enum class DspOpcode : std::uint8_t { DEPUTY_DSP_OPS(DEPUTY_DSP_ENUM) };
#undef DEPUTY_DSP_ENUM
#define DEPUTY_DSP_COUNT(...) +1
inline constexpr int kDspOpcodes = 0 DEPUTY_DSP_OPS(DEPUTY_DSP_COUNT);
#undef DEPUTY_DSP_COUNT

/// Predicate field: 0 always; 1-4 where m0-m3 is set; 5-8 where it is not.
inline constexpr int kDspPredicates = 9;

/// One decoded operation. Which members count is its format's matter; the others are 0.
struct DspOp {
  DspOpcode code{};
  std::uint8_t opcode = 0, slot = 0, last = 0;  ///< as encoded: opcode counts within the slot
  std::uint8_t d = 0, a = 0, b = 0, c = 0, p = 0, post = 0, circular = 0;
  std::uint8_t size = 0;  ///< its row's
  std::int32_t imm = 0;
};

/// The fields of an operation of format F, in order of their bits.
template <DspFormat F, class Self, class V>
void dsp_fields(Self& s, V&& v) {
  using base::Field;
  v(s.opcode, Field{.name = "opcode", .doc = "operation, by slot", .bits = 7});
  v(s.slot, Field{.name = "slot", .doc = "0 S, 1 A, 2 M, 3 L", .bits = 2});
  v(s.last, Field{.name = "last", .doc = "1: ends the packet", .bits = 1});
  const auto reg = [](const char* name) {
    return Field{.name = name, .doc = "register", .bits = 5};
  };
  const Field p{.name = "p", .doc = "predicate", .bits = 4, .max = kDspPredicates - 1};
  const auto imm = [](int bits, bool sign) {
    return Field{.name = "imm", .doc = "constant", .bits = bits, .is_signed = sign};
  };
  const auto target = [](int bits) {
    return Field{.name = "imm",
                 .doc = "target, from this packet",
                 .unit = "words",
                 .bits = bits,
                 .is_signed = true};
  };
  const Field level{.name = "d", .doc = "loop level", .bits = 2};
  if constexpr (F == DspFormat::kR3 || F == DspFormat::kR3P || F == DspFormat::kR4 ||
                F == DspFormat::kR3I) {
    v(s.d, reg("d")), v(s.a, reg("a")), v(s.b, reg("b"));
    if constexpr (F == DspFormat::kR3P) v(s.p, p);
    if constexpr (F == DspFormat::kR4) v(s.c, reg("c"));
    if constexpr (F == DspFormat::kR3I) v(s.imm, imm(7, false));
  } else if constexpr (F == DspFormat::kRI) {
    v(s.d, reg("d")), v(s.a, reg("a")), v(s.imm, imm(12, true));
  } else if constexpr (F == DspFormat::kI16) {
    v(s.d, reg("d")), v(s.imm, imm(16, true));
  } else if constexpr (F == DspFormat::kVI) {
    v(s.d, reg("d")), v(s.a, reg("a")), v(s.p, p), v(s.imm, imm(6, false));
  } else if constexpr (F == DspFormat::kBranch) {
    v(s.a, reg("a")), v(s.b, reg("b")), v(s.imm, target(12));
  } else if constexpr (F == DspFormat::kJump) {
    v(s.imm, target(22));
  } else if constexpr (F == DspFormat::kLoop) {
    v(s.d, level), v(s.a, reg("a")), v(s.imm, target(14));
  } else if constexpr (F == DspFormat::kLoopI) {
    v(s.d, level), v(s.a, Field{.name = "a", .doc = "times", .bits = 8}), v(s.imm, target(12));
  } else if constexpr (F == DspFormat::kMem) {
    v(s.d, reg("d")), v(s.a, reg("a")), v(s.imm, imm(8, true));
    v(s.post,
      Field{
          .name = "post", .doc = "1: imm is added to the address register afterwards", .bits = 1});
    v(s.circular, Field{.name = "circular",
                        .doc = "1-4: within circular buffer 0-3; 0: none",
                        .bits = 3,
                        .max = kDspCircularBuffers});
  } else if constexpr (F == DspFormat::kMemP) {
    v(s.d, reg("d")), v(s.a, reg("a")), v(s.p, p), v(s.imm, imm(8, true));
  } else if constexpr (F == DspFormat::kControl) {
    v(s.d, reg("d")),
        v(s.imm, Field{.name = "imm", .doc = "control register or constant", .bits = 5});
  }
}
template <DspFormat F>
struct DspEncoded : DspOp {
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    dsp_fields<F>(s, v);
  }
};
/// Calls f with std::integral_constant<DspFormat, F> for the given format.
template <class Fn, int I = 0>
decltype(auto) with_dsp_format(DspFormat format, Fn&& f) {
  if constexpr (I + 1 < kDspFormats)
    if (static_cast<int>(format) != I)
      return with_dsp_format<Fn, I + 1>(format, static_cast<Fn&&>(f));
  return f(std::integral_constant<DspFormat, static_cast<DspFormat>(I)>{});
}

/// An operand as assembly text has it.
struct DspOperand {
  char file =
      0;  ///< r, v, a, m, c; V: the pair v[n], v[n+1] with n even; # constant; @ target; [ address
  char field = 0;  ///< D, A, B, C or I
};
struct DspOpInfo {
  DspOpcode code;
  const char* name;
  DspSlot slot;
  std::uint8_t opcode;  ///< as encoded
  DspFormat format;
  const char* syntax;
  DspRole role;       ///< of operand D
  std::uint8_t size;  ///< bytes of an element, or of an access to memory; 0 where there is none
  DspLatency latency;
  const char* doc;
  std::array<DspOperand, 5> operands;
  bool predicated() const {
    return format == DspFormat::kR3P || format == DspFormat::kVI || format == DspFormat::kMemP;
  }
  bool memory() const { return slot == DspSlot::kL; }
};
const DspOpInfo& dsp_op_info(DspOpcode code);
std::span<const DspOpInfo> dsp_op_infos();
/// nullptr when there is none of this name.
const DspOpInfo* find_dsp_op(std::string_view name);

enum class DspControl : std::uint8_t {
  kCircularBase = 0,
  kCircularBytes = 4,
  kPending = 8,
  kEnable,
  kVector,
  kReturn,
  kInterrupts,
  kMailIn,
  kMailWaiting,
  kMailOut,
  kMailRoom,
  kCycle,
  kDmaMemLow,
  kDmaMemHigh,
  kDmaTcm,
  kDmaRowBytes,
  kDmaRows,
  kDmaMemStride,
  kDmaTcmStride,
  kDmaStart,
  kDmaStatus,
  kHostInterrupt,
  kCount
};
struct DspControlInfo {
  const char* name;
  const char* access;  ///< "rw", "r" or "w"
  const char* doc;
};
std::span<const DspControlInfo> dsp_controls();

/// Why the core stopped, as its error register says.
enum class DspFault : std::uint8_t {
  kNone,
  kFetch,
  kDecode,
  kAddress,
  kAlign,
  kCircular,
  kLoop,
  kControl,
  kTrap,
  kDma
};
std::string_view dsp_fault_text(DspFault fault);

/// Bits of the register `pending`.
inline constexpr std::uint32_t kDspEventMail = 1, kDspEventDma = 2, kDspEventHost = 4;
inline constexpr std::uint32_t kDspEvents = 7;

}  // namespace deputy::arch
