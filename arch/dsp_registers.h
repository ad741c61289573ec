// The DSP's registers. Jobs go through a queue manager like the NPU's and the DMA engine's
// (queue_entry.h); the registers here start a list of commands (dsp_job.h) for bring-up, and carry
// mail and events between host and program.
#pragma once

#include "arch/registers.h"

namespace deputy::arch {

#define DEPUTY_DSP_REGISTERS(X)                                                               \
  X(kId, "ID", 0x00, kRo, 0x44505601, 0xFFFFFFFF, "'DPV' and the instruction set version")    \
  X(kStatus, "STATUS", 0x04, kRo, 0, 0x0000FF07,                                              \
    "bit 0 running, 1 done, 2 error; 15:8 error cause (DspError)")                            \
  X(kCmd, "CMD", 0x08, kWo, 0, 0x00000001,                                                    \
    "bit 0: run the list at LIST, its regions beginning at address 0; ignored while running") \
  X(kReset, "RESET", 0x0C, kWo, 0, 0x00000001,                                                \
    "bit 0: abort, clear every register and both memories")                                   \
  X(kListLo, "LIST_LO", 0x10, kRw, 0, 0xFFFFFFFC, "address of the command list, low half")    \
  X(kListHi, "LIST_HI", 0x14, kRw, 0, 0xFFFFFFFF, "high half")                                \
  X(kListBytes, "LIST_BYTES", 0x18, kRw, 0, 0x000FFFFC, "its length")                         \
  X(kIrqStatus, "IRQ_STATUS", 0x1C, kW1c, 0, 0x0000000F,                                      \
    "bit 0 list done, 1 list failed, 2 mail for the host, 3 the program raised an event")     \
  X(kIrqEnable, "IRQ_ENABLE", 0x20, kRw, 0, 0x0000000F,                                       \
    "which IRQ_STATUS bits raise the interrupt line")                                         \
  X(kErrInfo, "ERR_INFO", 0x24, kRo, 0, 0x00FFFFFF,                                           \
    "7:0 DspFault of the program or 0, 23:8 the command, counted from 0")                     \
  X(kErrAddrLo, "ERR_ADDR_LO", 0x28, kRo, 0, 0xFFFFFFFF,                                      \
    "bus address of the fault, or its detail in the program, low half")                       \
  X(kErrAddrHi, "ERR_ADDR_HI", 0x2C, kRo, 0, 0xFFFFFFFF,                                      \
    "high half, or the word of the packet that faulted")                                      \
  X(kProgress, "PROGRESS", 0x30, kRo, 0, 0xFFFFFFFF, "commands completed since CMD")          \
  X(kMailIn, "MAIL_IN", 0x34, kWo, 0, 0xFFFFFFFF,                                             \
    "a word to the program; dropped when there is no room")                                   \
  X(kMailOut, "MAIL_OUT", 0x38, kRo, 0, 0xFFFFFFFF,                                           \
    "the program's oldest word; reading takes it, 0 when there is none")                      \
  X(kMailStatus, "MAIL_STATUS", 0x3C, kRo, 0, 0x0000FFFF,                                     \
    "7:0 words in MAIL_OUT, 15:8 room in MAIL_IN")                                            \
  X(kEvent, "EVENT", 0x40, kWo, 0, 0x00000001,                                                \
    "bit 0: the host's event becomes pending in the program")                                 \
  X(kHostEvents, "HOST_EVENTS", 0x44, kW1c, 0, 0xFFFFFFFF,                                    \
    "bit n: the program has written n to host_interrupt")                                     \
  X(kConfig0, "CONFIG0", 0x48, kRo, 0, 0xFFFFFFFF, "bytes of the data memory")                \
  X(kConfig1, "CONFIG1", 0x4C, kRo, 0, 0xFFFFFFFF, "bytes of the program memory")

namespace dsp_reg {
#define DEPUTY_REGISTER_CONSTANT(constant, name, offset, access, reset, mask, doc) \
  inline constexpr std::uint32_t constant = offset;
DEPUTY_DSP_REGISTERS(DEPUTY_REGISTER_CONSTANT)
#undef DEPUTY_REGISTER_CONSTANT
}  // namespace dsp_reg

inline constexpr std::uint32_t kDspIrqMail = 4, kDspIrqEvent = 8;

std::span<const RegisterInfo> dsp_registers();

/// STATUS[15:8] of the DSP.
enum class DspError : std::uint8_t {
  kNone = 0,
  kBadList = 1,       ///< not a whole number of commands, or more than there may be
  kBadCommand = 2,    ///< a field out of range
  kRegionBounds = 3,  ///< a transfer leaves its region
  kTcmBounds = 4,     ///< or the data memory
  kNoRoom = 5,        ///< the program is larger than the program memory
  kBus = 6,           ///< the interconnect or a memory answered with an error
  kProgram = 7,       ///< the program faulted: ERR_INFO[7:0]
  kParity = 8,        ///< a word of the list arrived with wrong parity
  kInternal = 9,      ///< the engine's own checks failed
};
std::string_view dsp_error_text(DspError error);

}  // namespace deputy::arch
