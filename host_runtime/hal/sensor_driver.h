// The driver of the device that produces frames: sets its ring up, starts and stops it, releases
// buffers.
#pragma once

#include <cstdint>

#include "arch/sensor_registers.h"
#include "base/result.h"
#include "deputy/hw_port.h"
#include "host_runtime/hal/intc_driver.h"

namespace deputy::host_runtime {

struct SensorSetup {
  std::uint64_t base = 0;    ///< bus address of the first buffer, a multiple of 64
  std::uint32_t count = 0;   ///< buffers, 1 to 255
  std::uint32_t stride = 0;  ///< bytes from one buffer to the next, a multiple of 64
  std::uint32_t frame_bytes = 0;
  std::uint32_t period_ns = 0;  ///< 0: as fast as buffers become free, and none is ever dropped
  bool twos_complement = true;  ///< else offset binary
  std::uint32_t seed = 1;
  std::uint32_t watermark = 1;
  int timeline = -1;  ///< of the sync unit, signalled with the number of frames so far; -1: none
};

class SensorDriver {
 public:
  /// Both must outlive the driver.
  SensorDriver(HwPort& port, IntcDriver& intc) : port_(port), intc_(intc) {}

  /// kHardwareFault when no sensor answers.
  base::Status probe();
  /// Resets the device, sets it up and starts it. kUsage: a value that the registers cannot hold.
  base::Status start(const SensorSetup& setup);
  /// At once: the frame that is being written stays as it is.
  void stop();

  std::uint32_t head();
  std::uint32_t dropped();
  std::uint32_t missed();
  /// Frames before number `tail` are the device's again.
  void release(std::uint32_t tail);

  /// Causes of IRQ_STATUS that interrupt the host from now on.
  void enable_interrupts(std::uint32_t causes);
  /// Acknowledges and answers the causes.
  std::uint32_t take_interrupts();
  /// Where a bus error stopped it.
  std::uint64_t error_address();

 private:
  HwPort& port_;
  IntcDriver& intc_;
};

}  // namespace deputy::host_runtime
