// The IOMMU's driver: page tables in shared memory, one address space per context, faults told in
// words.
//
// After probe() a context without tables is refused everything; context 0 is never translated.
// Tables are written by the CPU and cleaned, level by level from the leaves up, so the hardware
// never follows a half-written one. The driver does not know what the engines run: unmap() and
// close() are for ranges that no job still uses.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "arch/queue_entry.h"
#include "arch/registers.h"
#include "deputy/hw_port.h"
#include "host_runtime/hal/intc_driver.h"

namespace deputy::host_runtime {

/// The first access that the IOMMU refused since the last take_fault().
struct IommuFault {
  std::uint32_t address = 0;  ///< that the engine asked for, low 32 bits
  arch::IommuInitiator initiator{};
  std::uint32_t context = 0;
  bool write = false;
};

class IommuDriver {
 public:
  /// Both must outlive the driver.
  IommuDriver(HwPort& port, IntcDriver& intc) : port_(port), intc_(intc) {}
  /// Closes every context.
  ~IommuDriver();
  IommuDriver(const IommuDriver&) = delete;
  IommuDriver& operator=(const IommuDriver&) = delete;

  /// Checks the ID register, closes whatever was open, refuses contexts without tables, clears the
  /// fault and enables the interrupt (arch::IrqLine::kIommu). kHardwareFault when something else
  /// answers.
  base::Status probe();

  /// An empty address space in context 1 to arch::kContexts - 1. kUsage: no such context, or it is
  /// open; else no memory for its tables.
  base::Status open(std::uint32_t context);

  /// Maps [iova, iova + bytes) to `physical` on. All three are multiples of arch::kPageBytes, the
  /// range lies below 4 GiB and nothing in it is mapped yet; otherwise kUsage, and nothing has
  /// changed. No page is mapped either when there is no memory for the tables.
  base::Status map(std::uint32_t context, std::uint64_t iova, std::uint64_t physical,
                   std::uint64_t bytes, bool writable);
  /// The engines see the memory at its bus address.
  base::Status map(std::uint32_t context, const SharedMemory& memory, bool writable) {
    return map(context, memory.address, memory.address, memory.bytes, writable);
  }

  /// Takes the range away and invalidates the context. Every page must be mapped, otherwise kUsage
  /// and nothing has changed.
  base::Status unmap(std::uint32_t context, std::uint64_t iova, std::uint64_t bytes);

  /// Makes the hardware forget the cached translations of a context; unmap() and close() do it
  /// themselves.
  void invalidate(std::uint32_t context);

  /// Ends the address space and frees its tables. No effect when the context is not open.
  void close(std::uint32_t context);

  /// The recorded fault, once: hardware and interrupt are then ready for the next.
  std::optional<IommuFault> take_fault();

 private:
  struct Space {
    SharedMemory root;                 ///< bytes 0: not open
    std::vector<SharedMemory> second;  ///< by first-level index; bytes 0: none
  };
  std::uint32_t read(std::uint32_t offset) const { return port_.read32(arch::kIommuBase + offset); }
  void write(std::uint32_t offset, std::uint32_t value) {
    port_.write32(arch::kIommuBase + offset, value);
  }
  base::Result<Space*> space_of(std::uint32_t context);
  static base::Status check_range(std::uint64_t iova, std::uint64_t bytes);
  /// Second-level tables for the range, linked into the root once all are there.
  base::Status reserve(Space& space, std::uint64_t iova, std::uint64_t bytes);
  base::Result<SharedMemory> new_table();
  /// The page's entry; nullptr without a second-level table.
  static std::uint8_t* entry(const Space& space, std::uint64_t iova);
  /// Writes the entries of a range, `first` for the first page, each next one kPageBytes more, 0:
  /// all 0; and cleans.
  void fill(const Space& space, std::uint64_t iova, std::uint64_t bytes, std::uint32_t first);

  HwPort& port_;
  IntcDriver& intc_;
  std::array<Space, arch::kContexts> spaces_;
};

}  // namespace deputy::host_runtime
