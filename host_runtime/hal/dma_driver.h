// The DMA engine's driver: writes a chain of descriptors into shared memory, runs it, waits.
#pragma once

#include <cstdint>
#include <span>

#include "arch/dma_descriptor.h"
#include "base/result.h"
#include "deputy/hw_port.h"
#include "host_runtime/hal/intc_driver.h"

namespace deputy::host_runtime {

class DmaDriver {
 public:
  /// Both must outlive the driver.
  DmaDriver(HwPort& port, IntcDriver& intc) : port_(port), intc_(intc) {}
  ~DmaDriver();
  DmaDriver(const DmaDriver&) = delete;
  DmaDriver& operator=(const DmaDriver&) = delete;

  /// Checks the ID register, resets the engine and enables its interrupt.
  base::Status probe();
  base::Status reset();

  /// Copies by these descriptors, in order; their `next` is filled in here. Blocks until all are
  /// done or `deadline_ps` (absolute) passes. Cache maintenance of the copied bytes is the
  /// caller's. kHardwareFault: the engine's account; it has then been reset. kConfig: no memory for
  /// the descriptors.
  base::Status run(std::span<const arch::DmaDescriptor> descriptors, std::uint64_t deadline_ps);

 private:
  std::uint32_t read(std::uint32_t offset) const;
  void write(std::uint32_t offset, std::uint32_t value);
  base::Status reserve(std::uint64_t bytes);
  base::Error recovered(base::Error error);

  HwPort& port_;
  IntcDriver& intc_;
  SharedMemory chain_;  ///< the descriptors, kept for the next chain
};

}  // namespace deputy::host_runtime
