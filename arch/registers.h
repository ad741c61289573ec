// Register maps of the NPU, the DMA engine, the interrupt controller, the queue managers, the sync
// unit, the IOMMU and the error counters of the memories: one table each. Drivers use the constants
// (npu_reg::kCmd), models and the generic register test walk the RegisterInfo tables, the reference
// page prints them. All registers are 32 bits wide and word-aligned.
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
#define DEPUTY_NPU_REGISTERS(X)                                                                   \
  X(kId, "ID", 0x000, kRo, 0x44504E01, 0xFFFFFFFF, "'DPN' and the ISA version")                   \
  X(kStatus, "STATUS", 0x004, kRo, 0, 0x0000FF07,                                                 \
    "bit 0 running, 1 done, 2 error; 15:8 error cause (NpuError)")                                \
  X(kCmd, "CMD", 0x008, kWo, 0, 0x00000001,                                                       \
    "bit 0: start the job at QBASE; ignored while running")                                       \
  X(kReset, "RESET", 0x00C, kWo, 0, 0x00000001,                                                   \
    "bit 0: abort the job, clear the queues and every register")                                  \
  X(kQBaseLo, "QBASE_LO", 0x010, kRw, 0, 0xFFFFFFFC,                                              \
    "command stream address, low half; word-aligned")                                             \
  X(kQBaseHi, "QBASE_HI", 0x014, kRw, 0, 0xFFFFFFFF, "command stream address, high half")         \
  X(kQSize, "QSIZE", 0x018, kRw, 0, 0xFFFFFFFC, "command stream length in bytes")                 \
  X(kQRead, "QREAD", 0x01C, kRo, 0, 0xFFFFFFFF,                                                   \
    "bytes of the stream consumed by the command processor")                                      \
  X(kIrqStatus, "IRQ_STATUS", 0x020, kW1c, 0, 0x00000003, "bit 0 job done, 1 job failed")         \
  X(kIrqEnable, "IRQ_ENABLE", 0x024, kRw, 0, 0x00000003,                                          \
    "which IRQ_STATUS bits raise the interrupt line")                                             \
  X(kErrAddrLo, "ERR_ADDR_LO", 0x028, kRo, 0, 0xFFFFFFFF,                                         \
    "bus address or stream offset of the fault, low half")                                        \
  X(kErrAddrHi, "ERR_ADDR_HI", 0x02C, kRo, 0, 0xFFFFFFFF, "high half")                            \
  X(kErrInfo, "ERR_INFO", 0x030, kRo, 0, 0x00FFFFFF,                                              \
    "7:0 opcode, 23:8 tag of the faulting instruction")                                           \
  X(kProgress, "PROGRESS", 0x034, kRo, 0, 0xFFFFFFFF,                                             \
    "instructions completed since the job began")                                                 \
  X(kConfig0, "CONFIG0", 0x040, kRo, 0, 0xFFFFFFFF,                                               \
    "7:0 oc_lanes-1, 15:8 ic_lanes-1, 23:16 pixels-1, 31:24 dw_taps")                             \
  X(kConfig1, "CONFIG1", 0x044, kRo, 0, 0xFFFFFFFF, "scratchpad bytes")                           \
  X(kConfig2, "CONFIG2", 0x048, kRo, 0, 0xFFFFFFFF, "accumulators")                               \
  X(kRevision, "REVISION", 0x04C, kRo, 0x01000100, 0xFFFFFFFF,                                    \
    "31:16 hardware revision, 15:0 firmware; of each the major number in the upper byte")         \
  X(kBase0Lo, "BASE0_LO", 0x080, kRw, 0, 0xFFFFFFFF,                                              \
    "region 0 base, low half; region n at 0x080 + 8n")                                            \
  X(kBase0Hi, "BASE0_HI", 0x084, kRw, 0, 0xFFFFFFFF, "region 0 base, high half")                  \
  X(kBase1Lo, "BASE1_LO", 0x088, kRw, 0, 0xFFFFFFFF, "region 1 base, low half")                   \
  X(kBase1Hi, "BASE1_HI", 0x08C, kRw, 0, 0xFFFFFFFF, "region 1 base, high half")                  \
  X(kBase2Lo, "BASE2_LO", 0x090, kRw, 0, 0xFFFFFFFF, "region 2 base, low half")                   \
  X(kBase2Hi, "BASE2_HI", 0x094, kRw, 0, 0xFFFFFFFF, "region 2 base, high half")                  \
  X(kBase3Lo, "BASE3_LO", 0x098, kRw, 0, 0xFFFFFFFF, "region 3 base, low half")                   \
  X(kBase3Hi, "BASE3_HI", 0x09C, kRw, 0, 0xFFFFFFFF, "region 3 base, high half")                  \
  X(kBase4Lo, "BASE4_LO", 0x0A0, kRw, 0, 0xFFFFFFFF, "region 4 base, low half")                   \
  X(kBase4Hi, "BASE4_HI", 0x0A4, kRw, 0, 0xFFFFFFFF, "region 4 base, high half")                  \
  X(kBase5Lo, "BASE5_LO", 0x0A8, kRw, 0, 0xFFFFFFFF, "region 5 base, low half")                   \
  X(kBase5Hi, "BASE5_HI", 0x0AC, kRw, 0, 0xFFFFFFFF, "region 5 base, high half")                  \
  X(kBase6Lo, "BASE6_LO", 0x0B0, kRw, 0, 0xFFFFFFFF, "region 6 base, low half")                   \
  X(kBase6Hi, "BASE6_HI", 0x0B4, kRw, 0, 0xFFFFFFFF, "region 6 base, high half")                  \
  X(kBase7Lo, "BASE7_LO", 0x0B8, kRw, 0, 0xFFFFFFFF, "region 7 base, low half")                   \
  X(kBase7Hi, "BASE7_HI", 0x0BC, kRw, 0, 0xFFFFFFFF, "region 7 base, high half")                  \
  X(kSize0, "SIZE0", 0x0C0, kRw, 0, 0xFFFFFFFF,                                                   \
    "region 0 length in bytes; region n at 0x0C0 + 4n; an access beyond it faults")               \
  X(kSize1, "SIZE1", 0x0C4, kRw, 0, 0xFFFFFFFF, "region 1 length in bytes")                       \
  X(kSize2, "SIZE2", 0x0C8, kRw, 0, 0xFFFFFFFF, "region 2 length in bytes")                       \
  X(kSize3, "SIZE3", 0x0CC, kRw, 0, 0xFFFFFFFF, "region 3 length in bytes")                       \
  X(kSize4, "SIZE4", 0x0D0, kRw, 0, 0xFFFFFFFF, "region 4 length in bytes")                       \
  X(kSize5, "SIZE5", 0x0D4, kRw, 0, 0xFFFFFFFF, "region 5 length in bytes")                       \
  X(kSize6, "SIZE6", 0x0D8, kRw, 0, 0xFFFFFFFF, "region 6 length in bytes")                       \
  X(kSize7, "SIZE7", 0x0DC, kRw, 0, 0xFFFFFFFF, "region 7 length in bytes")                       \
  X(kPmuCyclesLo, "PMU_CYCLES_LO", 0x100, kRo, 0, 0xFFFFFFFF, "cycles of the last job, low half") \
  X(kPmuCyclesHi, "PMU_CYCLES_HI", 0x104, kRo, 0, 0xFFFFFFFF, "high half")                        \
  X(kPmuMacActive, "PMU_MAC_ACTIVE", 0x108, kRo, 0, 0xFFFFFFFF,                                   \
    "cycles the MAC array worked in the last job")                                                \
  X(kPmuLoadActive, "PMU_LOAD_ACTIVE", 0x10C, kRo, 0, 0xFFFFFFFF, "cycles the load queue worked") \
  X(kPmuStoreActive, "PMU_STORE_ACTIVE", 0x110, kRo, 0, 0xFFFFFFFF,                               \
    "cycles the store queue worked")                                                              \
  X(kPmuCtrl, "PMU_CTRL", 0x120, kRw, 0, 0x00000001,                                              \
    "bit 0: count; a job that ends meanwhile adds to every PMU_COUNT")                            \
  X(kPmuClear, "PMU_CLEAR", 0x124, kWo, 0, 0x0000000F, "bit n: PMU_COUNTn to 0")                  \
  X(kPmuEvent0, "PMU_EVENT0", 0x130, kRw, 0, 0x0000001F,                                          \
    "what PMU_COUNT0 counts (PmuEvent); n at 0x130 + 4n")                                         \
  X(kPmuEvent1, "PMU_EVENT1", 0x134, kRw, 0, 0x0000001F, "what PMU_COUNT1 counts")                \
  X(kPmuEvent2, "PMU_EVENT2", 0x138, kRw, 0, 0x0000001F, "what PMU_COUNT2 counts")                \
  X(kPmuEvent3, "PMU_EVENT3", 0x13C, kRw, 0, 0x0000001F, "what PMU_COUNT3 counts")                \
  X(kPmuCount0Lo, "PMU_COUNT0_LO", 0x140, kRo, 0, 0xFFFFFFFF,                                     \
    "event 0 in the jobs that have ended, low half; n at 0x140 + 8n")                             \
  X(kPmuCount0Hi, "PMU_COUNT0_HI", 0x144, kRo, 0, 0xFFFFFFFF, "high half")                        \
  X(kPmuCount1Lo, "PMU_COUNT1_LO", 0x148, kRo, 0, 0xFFFFFFFF, "event 1, low half")                \
  X(kPmuCount1Hi, "PMU_COUNT1_HI", 0x14C, kRo, 0, 0xFFFFFFFF, "high half")                        \
  X(kPmuCount2Lo, "PMU_COUNT2_LO", 0x150, kRo, 0, 0xFFFFFFFF, "event 2, low half")                \
  X(kPmuCount2Hi, "PMU_COUNT2_HI", 0x154, kRo, 0, 0xFFFFFFFF, "high half")                        \
  X(kPmuCount3Lo, "PMU_COUNT3_LO", 0x158, kRo, 0, 0xFFFFFFFF, "event 3, low half")                \
  X(kPmuCount3Hi, "PMU_COUNT3_HI", 0x15C, kRo, 0, 0xFFFFFFFF, "high half")

#define DEPUTY_DMA_REGISTERS(X)                                                                \
  X(kId, "ID", 0x00, kRo, 0x44504401, 0xFFFFFFFF, "'DPD' and the version")                     \
  X(kStatus, "STATUS", 0x04, kRo, 0, 0x0000FF07,                                               \
    "bit 0 running, 1 done, 2 error; 15:8 error cause (DmaError)")                             \
  X(kCmd, "CMD", 0x08, kWo, 0, 0x00000001,                                                     \
    "bit 0: run the descriptor chain; ignored while running")                                  \
  X(kReset, "RESET", 0x0C, kWo, 0, 0x00000001, "bit 0: abort and clear every register")        \
  X(kDescLo, "DESC_LO", 0x10, kRw, 0, 0xFFFFFFFC, "address of the first descriptor, low half") \
  X(kDescHi, "DESC_HI", 0x14, kRw, 0, 0xFFFFFFFF, "high half")                                 \
  X(kIrqStatus, "IRQ_STATUS", 0x18, kW1c, 0, 0x00000003, "bit 0 chain done, 1 chain failed")   \
  X(kIrqEnable, "IRQ_ENABLE", 0x1C, kRw, 0, 0x00000003,                                        \
    "which IRQ_STATUS bits raise the interrupt line")                                          \
  X(kErrAddrLo, "ERR_ADDR_LO", 0x20, kRo, 0, 0xFFFFFFFF, "bus address of the fault, low half") \
  X(kErrAddrHi, "ERR_ADDR_HI", 0x24, kRo, 0, 0xFFFFFFFF, "high half")                          \
  X(kProgress, "PROGRESS", 0x28, kRo, 0, 0xFFFFFFFF, "descriptors completed since CMD")

#define DEPUTY_INTC_REGISTERS(X)                                                              \
  X(kId, "ID", 0x00, kRo, 0x44504901, 0xFFFFFFFF, "'DPI' and the version")                    \
  X(kRaw, "RAW", 0x04, kRo, 0, 0xFFFFFFFF, "level of each interrupt line")                    \
  X(kPending, "PENDING", 0x08, kW1c, 0, 0xFFFFFFFF, "latched rising edges of enabled lines")  \
  X(kEnable, "ENABLE", 0x0C, kRw, 0, 0xFFFFFFFF, "which lines may interrupt the host")        \
  X(kEnableSet, "ENABLE_SET", 0x10, kW1s, 0, 0xFFFFFFFF, "sets bits of ENABLE; reads ENABLE") \
  X(kEnableClear, "ENABLE_CLEAR", 0x14, kWo, 0, 0xFFFFFFFF, "clears bits of ENABLE")          \
  X(kForce, "FORCE", 0x18, kWo, 0, 0xFFFFFFFF, "sets bits of PENDING, for testing a handler")

// A queue manager stands before each engine and feeds it jobs from rings in shared memory
// (queue_entry.h). HEAD and TAIL count entries and wrap at 2^32; entry i lies at BASE + i % ENTRIES
// * kQueueEntryBytes.
#define DEPUTY_RING_REGISTERS(X, N, O)                                                             \
  X(kRing##N##BaseLo, "RING" #N "_BASE_LO", O + 0x00, kRw, 0, 0xFFFFFF00,                          \
    "ring address, low half; 256-byte aligned")                                                    \
  X(kRing##N##BaseHi, "RING" #N "_BASE_HI", O + 0x04, kRw, 0, 0xFFFFFFFF,                          \
    "ring address, high half")                                                                     \
  X(kRing##N##Entries, "RING" #N "_ENTRIES", O + 0x08, kRw, 0, 0x0000FFFF,                         \
    "entries of the ring, a power of two")                                                         \
  X(kRing##N##Config, "RING" #N "_CONFIG", O + 0x0C, kRw, 0, 0x00000F31,                           \
    "bit 0 enable (a rising edge sets HEAD = TAIL = 0), 5:4 priority (3 first), 11:8 IOMMU "       \
    "context")                                                                                     \
  X(kRing##N##Tail, "RING" #N "_TAIL", O + 0x10, kRw, 0, 0xFFFFFFFF,                               \
    "doorbell: entries written by the driver; more than ENTRIES ahead of HEAD halts the ring")     \
  X(kRing##N##Head, "RING" #N "_HEAD", O + 0x14, kRo, 0, 0xFFFFFFFF, "entries finished")           \
  X(kRing##N##Ctrl, "RING" #N "_CTRL", O + 0x18, kWo, 0, 0x00000007,                               \
    "bit 0 retry the head entry of a halted ring, reading it again, 1 skip it: its signals fail, " \
    "2 abort the running job: the ring halts")                                                     \
  X(kRing##N##Status, "RING" #N "_STATUS", O + 0x1C, kRo, 0, 0x0000FFFF,                           \
    "2:0 RingState, 15:8 RingCause of the last halt")                                              \
  X(kRing##N##ErrInfo, "RING" #N "_ERR_INFO", O + 0x20, kRo, 0, 0xFFFFFFFF,                        \
    "the engine's own account: 7:0 opcode, 23:8 tag, 31:24 error cause")                           \
  X(kRing##N##ErrAddrLo, "RING" #N "_ERR_ADDR_LO", O + 0x24, kRo, 0, 0xFFFFFFFF,                   \
    "address of the fault, low half")                                                              \
  X(kRing##N##ErrAddrHi, "RING" #N "_ERR_ADDR_HI", O + 0x28, kRo, 0, 0xFFFFFFFF, "high half")
#define DEPUTY_QUEUE_REGISTERS(X)                                                    \
  X(kId, "ID", 0x00, kRo, 0x44505101, 0xFFFFFFFF, "'DPQ' and the version")           \
  X(kStatus, "STATUS", 0x04, kRo, 0, 0x0000000F,                                     \
    "3:0 the ring whose job the engine runs, plus 1; 0: none")                       \
  X(kIrqStatus, "IRQ_STATUS", 0x08, kW1c, 0, 0x00000F0F,                             \
    "3:0 an entry of ring n that asked for it has finished, 11:8 ring n has halted") \
  X(kIrqEnable, "IRQ_ENABLE", 0x0C, kRw, 0, 0x00000F0F,                              \
    "which IRQ_STATUS bits raise the interrupt line")                                \
  X(kReset, "RESET", 0x10, kWo, 0, 0x00000001,                                       \
    "bit 0: reset the engine and every ring; no timeline changes")                   \
  X(kProgress, "PROGRESS", 0x14, kRo, 0, 0xFFFFFFFF,                                 \
    "counts whatever the engine completes inside a job: stands still when it hangs") \
  DEPUTY_RING_REGISTERS(X, 0, 0x40)                                                  \
  DEPUTY_RING_REGISTERS(X, 1, 0x80)                                                  \
  DEPUTY_RING_REGISTERS(X, 2, 0xC0)                                                  \
  DEPUTY_RING_REGISTERS(X, 3, 0x100)
inline constexpr std::uint32_t kRings = 4, kRingStride = 0x40;

// The sync unit holds timelines: 64-bit counters that engines and the host signal and wait for.
#define DEPUTY_TIMELINE_REGISTERS(X, N, O)                                               \
  X(kTimeline##N##ValueLo, "TIMELINE" #N "_VALUE_LO", O + 0x00, kRo, 0, 0xFFFFFFFF,      \
    "value, low half; reading it latches VALUE_HI")                                      \
  X(kTimeline##N##ValueHi, "TIMELINE" #N "_VALUE_HI", O + 0x04, kRo, 0, 0xFFFFFFFF,      \
    "high half as of the last read of VALUE_LO")                                         \
  X(kTimeline##N##SignalLo, "TIMELINE" #N "_SIGNAL_LO", O + 0x08, kRw, 0, 0xFFFFFFFF,    \
    "low half of the value that SIGNAL_HI signals")                                      \
  X(kTimeline##N##SignalHi, "TIMELINE" #N "_SIGNAL_HI", O + 0x0C, kWo, 0, 0xFFFFFFFF,    \
    "high half; writing it signals. A value that is not above VALUE fails the timeline") \
  X(kTimeline##N##Fail, "TIMELINE" #N "_FAIL", O + 0x10, kRo, 0, 0x000000FF,             \
    "SyncFailure, sticky; 0: none. Write FAIL_SET to fail it")                           \
  X(kTimeline##N##FailSet, "TIMELINE" #N "_FAIL_SET", O + 0x14, kWo, 0, 0x000000FF,      \
    "fails the timeline with this code; the first failure stays")                        \
  X(kTimeline##N##WaitLo, "TIMELINE" #N "_WAIT_LO", O + 0x18, kRw, 0, 0xFFFFFFFF,        \
    "the host's threshold, low half")                                                    \
  X(kTimeline##N##WaitHi, "TIMELINE" #N "_WAIT_HI", O + 0x1C, kRw, 0, 0xFFFFFFFF,        \
    "high half; IRQ_STATUS bit n is set while armed and VALUE >= WAIT or failed")
// clang-format off
#define DEPUTY_SYNC_REGISTERS(X)                                                                  \
  X(kId, "ID", 0x00, kRo, 0x44505301, 0xFFFFFFFF, "'DPS' and the version")                        \
  X(kTimelines, "TIMELINES", 0x04, kRo, 16, 0xFFFFFFFF, "timelines there are")                    \
  X(kIrqStatus, "IRQ_STATUS", 0x08, kW1c, 0, 0x0000FFFF,                                          \
    "bit n: timeline n reached the host's threshold or failed while armed")                       \
  X(kIrqEnable, "IRQ_ENABLE", 0x0C, kRw, 0, 0x0000FFFF, "bit n arms the threshold of timeline n") \
  X(kClear, "CLEAR", 0x10, kWo, 0, 0x0000FFFF,                                                    \
    "bit n: timeline n to value 0, no failure, disarmed")                                         \
  DEPUTY_TIMELINE_REGISTERS(X, 0, 0x100)                                                          \
  DEPUTY_TIMELINE_REGISTERS(X, 1, 0x120)                                                          \
  DEPUTY_TIMELINE_REGISTERS(X, 2, 0x140)                                                          \
  DEPUTY_TIMELINE_REGISTERS(X, 3, 0x160)                                                          \
  DEPUTY_TIMELINE_REGISTERS(X, 4, 0x180)                                                          \
  DEPUTY_TIMELINE_REGISTERS(X, 5, 0x1A0)                                                          \
  DEPUTY_TIMELINE_REGISTERS(X, 6, 0x1C0)                                                          \
  DEPUTY_TIMELINE_REGISTERS(X, 7, 0x1E0)                                                          \
  DEPUTY_TIMELINE_REGISTERS(X, 8, 0x200)                                                          \
  DEPUTY_TIMELINE_REGISTERS(X, 9, 0x220)                                                          \
  DEPUTY_TIMELINE_REGISTERS(X, 10, 0x240)                                                         \
  DEPUTY_TIMELINE_REGISTERS(X, 11, 0x260)                                                         \
  DEPUTY_TIMELINE_REGISTERS(X, 12, 0x280)                                                         \
  DEPUTY_TIMELINE_REGISTERS(X, 13, 0x2A0)                                                         \
  DEPUTY_TIMELINE_REGISTERS(X, 14, 0x2C0)                                                         \
  DEPUTY_TIMELINE_REGISTERS(X, 15, 0x2E0)
// clang-format on
inline constexpr std::uint32_t kTimelineCount = 16, kTimelineStride = 0x20;

// The IOMMU translates what engines access, by the context of the ring their job came from. Context
// 0 and contexts that are not enabled while BYPASS is set pass untranslated.
#define DEPUTY_IOMMU_REGISTERS(X)                                                                \
  X(kId, "ID", 0x00, kRo, 0x44504D01, 0xFFFFFFFF, "'DPM' and the version")                       \
  X(kControl, "CONTROL", 0x04, kRw, 1, 0x00000001,                                               \
    "bit 0 BYPASS: contexts without a page table pass untranslated; else they fault")            \
  X(kInvalidate, "INVALIDATE", 0x08, kWo, 0, 0x0000FFFF,                                         \
    "bit n: forget the cached translations of context n")                                        \
  X(kIrqStatus, "IRQ_STATUS", 0x0C, kW1c, 0, 0x00000001, "bit 0 a fault was recorded")           \
  X(kIrqEnable, "IRQ_ENABLE", 0x10, kRw, 0, 0x00000001,                                          \
    "which IRQ_STATUS bits raise the interrupt line")                                            \
  X(kFault, "FAULT", 0x14, kRo, 0, 0x8000FF1F,                                                   \
    "of the first fault since it was cleared: bit 31 valid, 15:8 IommuInitiator, 4 write, 3:0 "  \
    "context")                                                                                   \
  X(kFaultAddr, "FAULT_ADDR", 0x18, kRo, 0, 0xFFFFFFFF,                                          \
    "the address that was asked for, low 32 bits")                                               \
  X(kFaultClear, "FAULT_CLEAR", 0x1C, kWo, 0, 0x00000001, "bit 0: ready for the next fault")     \
  X(kTable0, "TABLE0", 0x40, kRw, 0, 0xFFFFF001,                                                 \
    "page table of context 0 (unused); context n at 0x40 + 4n: bit 0 enabled, 31:12 address of " \
    "its first level")                                                                           \
  X(kTable1, "TABLE1", 0x44, kRw, 0, 0xFFFFF001, "page table of context 1")                      \
  X(kTable2, "TABLE2", 0x48, kRw, 0, 0xFFFFF001, "page table of context 2")                      \
  X(kTable3, "TABLE3", 0x4C, kRw, 0, 0xFFFFF001, "page table of context 3")                      \
  X(kTable4, "TABLE4", 0x50, kRw, 0, 0xFFFFF001, "page table of context 4")                      \
  X(kTable5, "TABLE5", 0x54, kRw, 0, 0xFFFFF001, "page table of context 5")                      \
  X(kTable6, "TABLE6", 0x58, kRw, 0, 0xFFFFF001, "page table of context 6")                      \
  X(kTable7, "TABLE7", 0x5C, kRw, 0, 0xFFFFF001, "page table of context 7")
inline constexpr std::uint32_t kContexts = 8;

/// FAULT[15:8]: the bus master whose transaction the IOMMU refused.
enum class IommuInitiator : std::uint8_t {
  kNpuCommand = 0,
  kNpuLoad = 1,
  kNpuStore = 2,
  kDmaRead = 3,
  kDmaWrite = 4,
  kDsp = 5
};
std::string_view iommu_initiator_text(IommuInitiator initiator);
// The memory controllers' error counters: bank 0 is SRAM, bank 1 DRAM. Counters stop at their
// largest value.
#define DEPUTY_ECC_BANK_REGISTERS(X, N, O, MEMORY)                                          \
  X(kBank##N##Corrected, "BANK" #N "_CORRECTED", O + 0x00, kRo, 0, 0xFFFFFFFF,              \
    MEMORY ": reads with one wrong bit, corrected")                                         \
  X(kBank##N##Uncorrected, "BANK" #N "_UNCORRECTED", O + 0x04, kRo, 0, 0xFFFFFFFF,          \
    MEMORY ": reads answered with an error")                                                \
  X(kBank##N##CorrectedAddr, "BANK" #N "_CORRECTED_ADDR", O + 0x08, kRo, 0, 0xFFFFFFFF,     \
    "address of the last corrected read")                                                   \
  X(kBank##N##UncorrectedAddr, "BANK" #N "_UNCORRECTED_ADDR", O + 0x0C, kRo, 0, 0xFFFFFFFF, \
    "address of the last read answered with an error")
#define DEPUTY_ECC_REGISTERS(X)                                                                \
  X(kId, "ID", 0x00, kRo, 0x44504501, 0xFFFFFFFF, "'DPE' and the version")                     \
  X(kIrqStatus, "IRQ_STATUS", 0x04, kW1c, 0, 0x00000303,                                       \
    "bit n: bank n had an uncorrected error, 8 + n: a corrected one")                          \
  X(kIrqEnable, "IRQ_ENABLE", 0x08, kRw, 0, 0x00000303,                                        \
    "which IRQ_STATUS bits raise the interrupt line")                                          \
  X(kClear, "CLEAR", 0x0C, kWo, 0, 0x00000003, "bit n: counters and addresses of bank n to 0") \
  DEPUTY_ECC_BANK_REGISTERS(X, 0, 0x20, "SRAM")                                                \
  DEPUTY_ECC_BANK_REGISTERS(X, 1, 0x40, "DRAM")
inline constexpr std::uint32_t kEccBanks = 2, kEccBankStride = 0x20;

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
namespace queue_reg {
DEPUTY_QUEUE_REGISTERS(DEPUTY_REGISTER_CONSTANT)
}
namespace sync_reg {
DEPUTY_SYNC_REGISTERS(DEPUTY_REGISTER_CONSTANT)
}
namespace iommu_reg {
DEPUTY_IOMMU_REGISTERS(DEPUTY_REGISTER_CONSTANT)
}
namespace ecc_reg {
DEPUTY_ECC_REGISTERS(DEPUTY_REGISTER_CONSTANT)
}
#undef DEPUTY_REGISTER_CONSTANT

std::span<const RegisterInfo> npu_registers();
std::span<const RegisterInfo> dma_registers();
std::span<const RegisterInfo> intc_registers();
std::span<const RegisterInfo> queue_registers();
std::span<const RegisterInfo> sync_registers();
std::span<const RegisterInfo> iommu_registers();
std::span<const RegisterInfo> ecc_registers();

// What PMU_EVENTn selects: X(constant, "NAME", number, "doc"). Each is a statistic of the report,
// or a sum of its operators.
#define DEPUTY_PMU_EVENTS(X)                                                               \
  X(kNone, "NONE", 0, "nothing")                                                           \
  X(kCycles, "CYCLES", 1, "cycles with a job running")                                     \
  X(kInstructions, "INSTRUCTIONS", 2, "instructions completed, END included")              \
  X(kMacActive, "MAC_ACTIVE", 3, "cycles the MAC array worked")                            \
  X(kComputeActive, "COMPUTE_ACTIVE", 4, "cycles the compute queue worked")                \
  X(kLoadActive, "LOAD_ACTIVE", 5, "cycles the load queue worked")                         \
  X(kStoreActive, "STORE_ACTIVE", 6, "cycles the store queue worked")                      \
  X(kStallLoad, "STALL_LOAD", 7, "cycles a compute instruction waited for a LOAD")         \
  X(kStallStore, "STALL_STORE", 8, "cycles a compute instruction waited for a STORE only") \
  X(kIdle, "IDLE", 9, "cycles the compute queue had no instruction")                       \
  X(kBytesRead, "BYTES_READ", 10, "bytes LOADs and LOADWs read, the latter compressed")    \
  X(kBytesWritten, "BYTES_WRITTEN", 11, "bytes STOREs wrote")                              \
  X(kCommandBytes, "COMMAND_BYTES", 12, "bytes of command streams read")
#define DEPUTY_PMU_EVENT(constant, name, number, doc) constant = number,
enum class PmuEvent : std::uint8_t { DEPUTY_PMU_EVENTS(DEPUTY_PMU_EVENT) };
#undef DEPUTY_PMU_EVENT
struct PmuEventInfo {
  const char* name;
  PmuEvent event;
  const char* doc;
};
std::span<const PmuEventInfo> pmu_events();
inline constexpr std::uint32_t kPmuCounters = 4;

/// STATUS[15:8] of the NPU.
enum class NpuError : std::uint8_t {
  kNone = 0,
  kTruncated = 1,  ///< the stream ends inside an instruction or without END
  kUnknownOpcode = 2,
  kBadLength = 3,
  kBadField = 4,
  kBadWait = 5,       ///< a wait names an instruction that is not earlier in the stream
  kSpmBounds = 6,     ///< an instruction touches bytes outside the scratchpad
  kRegionBounds = 7,  ///< a transfer leaves its region
  kBus = 8,           ///< the interconnect or a memory answered with an error
  kAccumulators = 9,  ///< acc_keep or acc_hold beyond the accumulators
  kUnsupported = 10,  ///< a combination of fields the datapath has no circuit for
  kCompression = 11,  ///< LOADW found a malformed code table or stream
  kParity = 12,       ///< a word of the command stream arrived with wrong parity
  kInternal = 13,     ///< the engine's own checks failed
};
std::string_view npu_error_text(NpuError error);

/// STATUS[15:8] of the DMA engine.
enum class DmaError : std::uint8_t {
  kNone = 0,
  kBadDescriptor = 1,
  kBus = 2,
  kParity = 3,    ///< a word of a descriptor arrived with wrong parity
  kInternal = 4,  ///< the engine's own checks failed
};
std::string_view dma_error_text(DmaError error);

/// RINGn_STATUS[2:0].
enum class RingState : std::uint8_t {
  kOff = 0,
  kIdle = 1,     ///< HEAD equals TAIL
  kWaiting = 2,  ///< the head entry waits for timelines or for the engine
  kRunning = 3,
  kHalted = 4,  ///< until the driver retries or skips the head entry
};
/// RINGn_STATUS[15:8].
enum class RingCause : std::uint8_t {
  kNone = 0,
  kEngineFault = 1,  ///< the job ended with a fault of the engine: ERR_INFO, ERR_ADDR
  kAborted = 2,      ///< by the driver
  kBadEntry = 3,     ///< a field out of range, or an unknown kind
  kBus = 4,          ///< the entry could not be read
  kOverflow = 5,     ///< the doorbell names more entries than the ring has
  kBusy = 6,         ///< the engine works on a job started through its own registers
  kParity = 7,       ///< a word of the entry arrived with wrong parity
};
std::string_view ring_cause_text(RingCause cause);

/// Why a timeline failed. Waits for values it had reached stay satisfied; all others fail at once.
enum class SyncFailure : std::uint8_t {
  kNone = 0,
  kJobFailed = 1,      ///< the job that should have signalled was skipped after a fault
  kUpstream = 2,       ///< a timeline that the job waited for failed
  kNotIncreasing = 3,  ///< a signal that does not exceed the value
  kCancelled = 4,      ///< by the host
  kDeadline = 5,       ///< the host's deadline passed
};
std::string_view sync_failure_text(SyncFailure failure);

inline constexpr std::uint32_t kStatusRunning = 1, kStatusDone = 2, kStatusError = 4;
inline constexpr std::uint32_t kIrqDone = 1, kIrqFailed = 2;

}  // namespace deputy::arch
