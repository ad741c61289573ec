// Register maps of the NPU, the DMA engine and the interrupt controller: one table each. Drivers use the
// constants (npu_reg::kCmd), models and the generic register test walk the RegisterInfo tables, the
// reference page prints them. All registers are 32 bits wide and word-aligned.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace deputy::arch {

enum class Access : std::uint8_t {
  kRo,   ///< writes are ignored
  kRw,   ///< reads back what was written, within `mask`
  kWo,   ///< a command; reads 0
  kW1c,  ///< writing 1 clears a bit
  kW1s,  ///< writing 1 sets a bit
};
std::string_view access_name(Access access);

struct RegisterInfo {
  const char* name;
  std::uint32_t offset;
  Access access;
  std::uint32_t reset;
  std::uint32_t mask;  ///< bits that exist
  const char* doc;
};

// X(constant, "NAME", offset, access, reset, mask, "doc")
#define DEPUTY_NPU_REGISTERS(X)                                                                                    \
  X(kId, "ID", 0x000, kRo, 0x44504E01, 0xFFFFFFFF, "'DPN' and the ISA version")                                    \
  X(kStatus, "STATUS", 0x004, kRo, 0, 0x0000FF07, "bit 0 running, 1 done, 2 error; 15:8 error cause (NpuError)")   \
  X(kCmd, "CMD", 0x008, kWo, 0, 0x00000001, "bit 0: start the job at QBASE; ignored while running")                \
  X(kReset, "RESET", 0x00C, kWo, 0, 0x00000001, "bit 0: abort the job, clear the queues and every register")       \
  X(kQBaseLo, "QBASE_LO", 0x010, kRw, 0, 0xFFFFFFFC, "command stream address, low half; word-aligned")             \
  X(kQBaseHi, "QBASE_HI", 0x014, kRw, 0, 0xFFFFFFFF, "command stream address, high half")                          \
  X(kQSize, "QSIZE", 0x018, kRw, 0, 0xFFFFFFFC, "command stream length in bytes")                                  \
  X(kQRead, "QREAD", 0x01C, kRo, 0, 0xFFFFFFFF, "bytes of the stream consumed by the command processor")           \
  X(kIrqStatus, "IRQ_STATUS", 0x020, kW1c, 0, 0x00000003, "bit 0 job done, 1 job failed")                          \
  X(kIrqEnable, "IRQ_ENABLE", 0x024, kRw, 0, 0x00000003, "which IRQ_STATUS bits raise the interrupt line")         \
  X(kErrAddrLo, "ERR_ADDR_LO", 0x028, kRo, 0, 0xFFFFFFFF, "bus address or stream offset of the fault, low half")   \
  X(kErrAddrHi, "ERR_ADDR_HI", 0x02C, kRo, 0, 0xFFFFFFFF, "high half")                                             \
  X(kErrInfo, "ERR_INFO", 0x030, kRo, 0, 0x00FFFFFF, "7:0 opcode, 23:8 tag of the faulting instruction")           \
  X(kProgress, "PROGRESS", 0x034, kRo, 0, 0xFFFFFFFF, "instructions completed since the job began")                \
  X(kConfig0, "CONFIG0", 0x040, kRo, 0, 0xFFFFFFFF, "7:0 oc_lanes-1, 15:8 ic_lanes-1, 23:16 pixels-1, 31:24 dw_taps") \
  X(kConfig1, "CONFIG1", 0x044, kRo, 0, 0xFFFFFFFF, "scratchpad bytes")                                            \
  X(kConfig2, "CONFIG2", 0x048, kRo, 0, 0xFFFFFFFF, "accumulators")                                                \
  X(kBase0Lo, "BASE0_LO", 0x080, kRw, 0, 0xFFFFFFFF, "region 0 base, low half; region n at 0x080 + 8n")            \
  X(kBase0Hi, "BASE0_HI", 0x084, kRw, 0, 0xFFFFFFFF, "region 0 base, high half")                                   \
  X(kBase1Lo, "BASE1_LO", 0x088, kRw, 0, 0xFFFFFFFF, "region 1 base, low half")                                    \
  X(kBase1Hi, "BASE1_HI", 0x08C, kRw, 0, 0xFFFFFFFF, "region 1 base, high half")                                   \
  X(kBase2Lo, "BASE2_LO", 0x090, kRw, 0, 0xFFFFFFFF, "region 2 base, low half")                                    \
  X(kBase2Hi, "BASE2_HI", 0x094, kRw, 0, 0xFFFFFFFF, "region 2 base, high half")                                   \
  X(kBase3Lo, "BASE3_LO", 0x098, kRw, 0, 0xFFFFFFFF, "region 3 base, low half")                                    \
  X(kBase3Hi, "BASE3_HI", 0x09C, kRw, 0, 0xFFFFFFFF, "region 3 base, high half")                                   \
  X(kBase4Lo, "BASE4_LO", 0x0A0, kRw, 0, 0xFFFFFFFF, "region 4 base, low half")                                    \
  X(kBase4Hi, "BASE4_HI", 0x0A4, kRw, 0, 0xFFFFFFFF, "region 4 base, high half")                                   \
  X(kBase5Lo, "BASE5_LO", 0x0A8, kRw, 0, 0xFFFFFFFF, "region 5 base, low half")                                    \
  X(kBase5Hi, "BASE5_HI", 0x0AC, kRw, 0, 0xFFFFFFFF, "region 5 base, high half")                                   \
  X(kBase6Lo, "BASE6_LO", 0x0B0, kRw, 0, 0xFFFFFFFF, "region 6 base, low half")                                    \
  X(kBase6Hi, "BASE6_HI", 0x0B4, kRw, 0, 0xFFFFFFFF, "region 6 base, high half")                                   \
  X(kBase7Lo, "BASE7_LO", 0x0B8, kRw, 0, 0xFFFFFFFF, "region 7 base, low half")                                    \
  X(kBase7Hi, "BASE7_HI", 0x0BC, kRw, 0, 0xFFFFFFFF, "region 7 base, high half")                                   \
  X(kSize0, "SIZE0", 0x0C0, kRw, 0, 0xFFFFFFFF, "region 0 length in bytes; region n at 0x0C0 + 4n; an access beyond it faults") \
  X(kSize1, "SIZE1", 0x0C4, kRw, 0, 0xFFFFFFFF, "region 1 length in bytes")                                        \
  X(kSize2, "SIZE2", 0x0C8, kRw, 0, 0xFFFFFFFF, "region 2 length in bytes")                                        \
  X(kSize3, "SIZE3", 0x0CC, kRw, 0, 0xFFFFFFFF, "region 3 length in bytes")                                        \
  X(kSize4, "SIZE4", 0x0D0, kRw, 0, 0xFFFFFFFF, "region 4 length in bytes")                                        \
  X(kSize5, "SIZE5", 0x0D4, kRw, 0, 0xFFFFFFFF, "region 5 length in bytes")                                        \
  X(kSize6, "SIZE6", 0x0D8, kRw, 0, 0xFFFFFFFF, "region 6 length in bytes")                                        \
  X(kSize7, "SIZE7", 0x0DC, kRw, 0, 0xFFFFFFFF, "region 7 length in bytes")                                        \
  X(kPmuCyclesLo, "PMU_CYCLES_LO", 0x100, kRo, 0, 0xFFFFFFFF, "cycles of the last job, low half")                  \
  X(kPmuCyclesHi, "PMU_CYCLES_HI", 0x104, kRo, 0, 0xFFFFFFFF, "high half")                                         \
  X(kPmuMacActive, "PMU_MAC_ACTIVE", 0x108, kRo, 0, 0xFFFFFFFF, "cycles the MAC array worked in the last job")     \
  X(kPmuLoadActive, "PMU_LOAD_ACTIVE", 0x10C, kRo, 0, 0xFFFFFFFF, "cycles the load queue worked")                  \
  X(kPmuStoreActive, "PMU_STORE_ACTIVE", 0x110, kRo, 0, 0xFFFFFFFF, "cycles the store queue worked")

#define DEPUTY_DMA_REGISTERS(X)                                                                                    \
  X(kId, "ID", 0x00, kRo, 0x44504401, 0xFFFFFFFF, "'DPD' and the version")                                         \
  X(kStatus, "STATUS", 0x04, kRo, 0, 0x0000FF07, "bit 0 running, 1 done, 2 error; 15:8 error cause (DmaError)")    \
  X(kCmd, "CMD", 0x08, kWo, 0, 0x00000001, "bit 0: run the descriptor chain; ignored while running")               \
  X(kReset, "RESET", 0x0C, kWo, 0, 0x00000001, "bit 0: abort and clear every register")                            \
  X(kDescLo, "DESC_LO", 0x10, kRw, 0, 0xFFFFFFFC, "address of the first descriptor, low half")                     \
  X(kDescHi, "DESC_HI", 0x14, kRw, 0, 0xFFFFFFFF, "high half")                                                     \
  X(kIrqStatus, "IRQ_STATUS", 0x18, kW1c, 0, 0x00000003, "bit 0 chain done, 1 chain failed")                       \
  X(kIrqEnable, "IRQ_ENABLE", 0x1C, kRw, 0, 0x00000003, "which IRQ_STATUS bits raise the interrupt line")          \
  X(kErrAddrLo, "ERR_ADDR_LO", 0x20, kRo, 0, 0xFFFFFFFF, "bus address of the fault, low half")                     \
  X(kErrAddrHi, "ERR_ADDR_HI", 0x24, kRo, 0, 0xFFFFFFFF, "high half")                                              \
  X(kProgress, "PROGRESS", 0x28, kRo, 0, 0xFFFFFFFF, "descriptors completed since CMD")

#define DEPUTY_INTC_REGISTERS(X)                                                                                   \
  X(kId, "ID", 0x00, kRo, 0x44504901, 0xFFFFFFFF, "'DPI' and the version")                                         \
  X(kRaw, "RAW", 0x04, kRo, 0, 0xFFFFFFFF, "level of each interrupt line")                                         \
  X(kPending, "PENDING", 0x08, kW1c, 0, 0xFFFFFFFF, "latched rising edges of enabled lines")                       \
  X(kEnable, "ENABLE", 0x0C, kRw, 0, 0xFFFFFFFF, "which lines may interrupt the host")                             \
  X(kEnableSet, "ENABLE_SET", 0x10, kW1s, 0, 0xFFFFFFFF, "sets bits of ENABLE; reads ENABLE")                      \
  X(kEnableClear, "ENABLE_CLEAR", 0x14, kWo, 0, 0xFFFFFFFF, "clears bits of ENABLE")                               \
  X(kForce, "FORCE", 0x18, kWo, 0, 0xFFFFFFFF, "sets bits of PENDING, for testing a handler")

#define DEPUTY_REGISTER_CONSTANT(constant, name, offset, access, reset, mask, doc) \
  inline constexpr std::uint32_t constant = offset;
namespace npu_reg {
DEPUTY_NPU_REGISTERS(DEPUTY_REGISTER_CONSTANT)
}
namespace dma_reg {
DEPUTY_DMA_REGISTERS(DEPUTY_REGISTER_CONSTANT)
}
namespace intc_reg {
DEPUTY_INTC_REGISTERS(DEPUTY_REGISTER_CONSTANT)
}
#undef DEPUTY_REGISTER_CONSTANT

std::span<const RegisterInfo> npu_registers();
std::span<const RegisterInfo> dma_registers();
std::span<const RegisterInfo> intc_registers();

/// STATUS[15:8] of the NPU.
enum class NpuError : std::uint8_t {
  kNone = 0,
  kTruncated = 1,      ///< the stream ends inside an instruction or without END
  kUnknownOpcode = 2,
  kBadLength = 3,
  kBadField = 4,
  kBadWait = 5,        ///< a wait names an instruction that is not earlier in the stream
  kSpmBounds = 6,      ///< an instruction touches bytes outside the scratchpad
  kRegionBounds = 7,   ///< a transfer leaves its region
  kBus = 8,            ///< the interconnect or a memory answered with an error
  kAccumulators = 9,   ///< acc_keep or acc_hold beyond the accumulators
  kUnsupported = 10,   ///< a combination of fields the datapath has no circuit for
};
std::string_view npu_error_text(NpuError error);

/// STATUS[15:8] of the DMA engine.
enum class DmaError : std::uint8_t { kNone = 0, kBadDescriptor = 1, kBus = 2 };
std::string_view dma_error_text(DmaError error);

inline constexpr std::uint32_t kStatusRunning = 1, kStatusDone = 2, kStatusError = 4;
inline constexpr std::uint32_t kIrqDone = 1, kIrqFailed = 2;

}  // namespace deputy::arch
