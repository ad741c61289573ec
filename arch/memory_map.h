// Where things are on the bus.
#pragma once

#include <cstdint>
#include <span>

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
    {"dram", 0x80000000, 0x80000000, "external DRAM"},
};
inline constexpr std::uint64_t kSramBase = kMemoryMap[0].base;
inline constexpr std::uint64_t kNpuBase = kMemoryMap[1].base;
inline constexpr std::uint64_t kDmaBase = kMemoryMap[2].base;
inline constexpr std::uint64_t kIntcBase = kMemoryMap[3].base;
inline constexpr std::uint64_t kDramBase = kMemoryMap[4].base;

/// Interrupt lines into the controller.
enum class IrqLine : std::uint32_t { kNpu = 0, kDma = 1 };

/// What the compiler binds to the NPU's base registers.
enum class Region : std::uint8_t {
  kConstants = 0,  ///< weights, parameters, tables, constant tensors: read only
  kFastArena = 1,  ///< tensors in the shared SRAM
  kSlowArena = 2,  ///< tensors in DRAM
};

}  // namespace deputy::arch
