// Where things are on the bus.
#pragma once

#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>

namespace deputy::arch {

struct MemoryRange {
  const char* name;
  std::uint64_t base;
  std::uint64_t size;  ///< the largest the map leaves room for; the YAML may configure less
  const char* doc;
};
inline constexpr MemoryRange kMemoryMap[] = {
    {"sram", 0x20000000, 0x10000000, "shared on-chip SRAM"},
    {"npu", 0x40000000, 0x1000, "NPU registers"},
    {"dma", 0x40010000, 0x1000, "DMA registers"},
    {"intc", 0x40020000, 0x1000, "interrupt controller registers"},
    {"npu.queue", 0x40030000, 0x1000, "the NPU's queue manager"},
    {"dma.queue", 0x40040000, 0x1000, "the DMA engine's queue manager"},
    {"sync", 0x40050000, 0x1000, "sync unit: timelines"},
    {"iommu", 0x40060000, 0x1000, "IOMMU registers"},
    {"ecc", 0x40070000, 0x1000, "error counters of the memory controllers"},
    {"sensor", 0x40080000, 0x1000, "a camera or other source of frames"},
    {"dsp", 0x40090000, 0x1000, "DSP registers; on SoCs that have one"},
    {"dsp.queue", 0x400A0000, 0x1000, "the DSP's queue manager"},
    {"dram", 0x80000000, 0x80000000, "external DRAM"},
};
inline constexpr const MemoryRange& kSramRange = kMemoryMap[0];
inline constexpr const MemoryRange& kDramRange = kMemoryMap[12];
inline constexpr std::uint64_t kSramBase = kSramRange.base;
inline constexpr std::uint64_t kNpuBase = kMemoryMap[1].base;
inline constexpr std::uint64_t kDmaBase = kMemoryMap[2].base;
inline constexpr std::uint64_t kIntcBase = kMemoryMap[3].base;
inline constexpr std::uint64_t kNpuQueueBase = kMemoryMap[4].base;
inline constexpr std::uint64_t kDmaQueueBase = kMemoryMap[5].base;
inline constexpr std::uint64_t kSyncBase = kMemoryMap[6].base;
inline constexpr std::uint64_t kIommuBase = kMemoryMap[7].base;
inline constexpr std::uint64_t kEccBase = kMemoryMap[8].base;
inline constexpr std::uint64_t kSensorBase = kMemoryMap[9].base;
inline constexpr std::uint64_t kDspBase = kMemoryMap[10].base;
inline constexpr std::uint64_t kDspQueueBase = kMemoryMap[11].base;
inline constexpr std::uint64_t kDramBase = kDramRange.base;

/// Interrupt lines into the controller.
enum class IrqLine : std::uint32_t {
  kNpu = 0,
  kDma = 1,
  kNpuQueue = 2,
  kDmaQueue = 3,
  kSync = 4,
  kIommu = 5,
  kEcc = 6,
  kSensor = 7,
  kDsp = 8,
  kDspQueue = 9
};

/// "npu", "dma.queue", ...; empty for a line that nothing drives.
constexpr std::string_view irq_line_name(IrqLine line) {
  constexpr std::string_view kNames[] = {"npu",   "dma", "npu.queue", "dma.queue", "sync",
                                         "iommu", "ecc", "sensor",    "dsp",       "dsp.queue"};
  const auto i = static_cast<std::size_t>(line);
  return i < std::size(kNames) ? kNames[i] : std::string_view{};
}

/// What the compiler binds to the NPU's base registers.
enum class Region : std::uint8_t {
  kConstants = 0,  ///< weights, parameters, tables, constant tensors: read only
  kFastArena = 1,  ///< tensors in the shared SRAM
  kSlowArena = 2,  ///< tensors in DRAM
  kExternal0 = 3,  ///< graph inputs and outputs in memory of their own, one tensor a region
  kExternal1 = 4,
  kExternal2 = 5,
  kExternal3 = 6,
  kExternal4 = 7,
};
inline constexpr int kMaxExternalRegions = 5;
constexpr bool is_external(Region region) { return region >= Region::kExternal0; }
constexpr int external_index(Region region) {
  return static_cast<int>(region) - static_cast<int>(Region::kExternal0);
}
constexpr Region external_region(int index) {
  return static_cast<Region>(static_cast<int>(Region::kExternal0) + index);
}

}  // namespace deputy::arch
