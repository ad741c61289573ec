#include "host_runtime/hal/sensor_driver.h"

namespace deputy::host_runtime {
namespace reg = arch::sensor_reg;
using base::Error;
using base::ErrorKind;

namespace {
constexpr std::uint64_t at(std::uint32_t offset) { return arch::kSensorBase + offset; }
}  // namespace

base::Status SensorDriver::probe() {
  if (port_.read32(at(reg::kId)) != arch::sensor_registers()[0].reset)
    return Error{ErrorKind::kHardwareFault, "sensor", "the ID register is not a sensor's",
                 "no sensor of this version is at its address"};
  return {};
}

base::Status SensorDriver::start(const SensorSetup& s) {
  if (s.count == 0 || s.count > 255 || s.watermark == 0 || s.watermark > s.count)
    return Error{ErrorKind::kUsage, "sensor",
                 "a ring has 1 to 255 buffers, and the watermark is one to all of them", ""};
  if (s.base % 64 != 0 || s.stride % 64 != 0 || s.frame_bytes == 0 || s.stride < s.frame_bytes)
    return Error{ErrorKind::kUsage, "sensor", "buffers are 64-byte aligned and hold a frame each",
                 ""};
  DEPUTY_TRY(probe());
  port_.write32(at(reg::kReset), 1);
  const std::uint32_t values[][2] = {
      {reg::kBaseLo, static_cast<std::uint32_t>(s.base)},
      {reg::kBaseHi, static_cast<std::uint32_t>(s.base >> 32)},
      {reg::kCount, s.count},
      {reg::kStride, s.stride},
      {reg::kFrameBytes, s.frame_bytes},
      {reg::kPeriod, s.period_ns},
      {reg::kFormat, s.twos_complement ? 1u : 0u},
      {reg::kSeed, s.seed},
      {reg::kWatermark, s.watermark},
      {reg::kTimeline, s.timeline < 0 ? 0 : 1u << 31 | static_cast<std::uint32_t>(s.timeline)},
      {reg::kCtrl, 1}};
  for (const auto& [offset, value] : values) port_.write32(at(offset), value);
  return {};
}

void SensorDriver::stop() {
  port_.write32(at(reg::kReset), 1);
  intc_.disable(arch::IrqLine::kSensor);
}

std::uint32_t SensorDriver::head() { return port_.read32(at(reg::kHead)); }
std::uint32_t SensorDriver::dropped() { return port_.read32(at(reg::kDropped)); }
std::uint32_t SensorDriver::missed() { return port_.read32(at(reg::kMissed)); }
void SensorDriver::release(std::uint32_t tail) { port_.write32(at(reg::kTail), tail); }

void SensorDriver::enable_interrupts(std::uint32_t causes) {
  port_.write32(at(reg::kIrqEnable), causes);
  causes ? intc_.enable(arch::IrqLine::kSensor) : intc_.disable(arch::IrqLine::kSensor);
}
std::uint32_t SensorDriver::take_interrupts() {
  return intc_.take(arch::IrqLine::kSensor, at(reg::kIrqStatus));
}

std::uint64_t SensorDriver::error_address() {
  return port_.read32(at(reg::kErrAddrLo)) | std::uint64_t{port_.read32(at(reg::kErrAddrHi))} << 32;
}

}  // namespace deputy::host_runtime
