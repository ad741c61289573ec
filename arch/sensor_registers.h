// The registers of the sensor, a source of frames beside the engines. It writes frames into a ring
// of buffers in shared memory by its own bus master, docs/runtime_costs.md.
#pragma once

#include "arch/memory_map.h"
#include "arch/registers.h"

namespace deputy::arch {

#define DEPUTY_SENSOR_REGISTERS(X)                                                               \
  X(kId, "ID", 0x00, kRo, 0x44504601, 0xFFFFFFFF, "'DPF' and the version")                       \
  X(kCtrl, "CTRL", 0x04, kRw, 0, 0x00000001, "bit 0 run; the first frame begins when it is set") \
  X(kReset, "RESET", 0x08, kWo, 0, 0x00000001, "bit 0: stop at once and clear every register")   \
  X(kIrqStatus, "IRQ_STATUS", 0x0C, kW1c, 0, 0x00000007,                                         \
    "bit 0 HEAD - TAIL has reached WATERMARK, 1 a frame was dropped, 2 a bus error stopped it")  \
  X(kIrqEnable, "IRQ_ENABLE", 0x10, kRw, 0, 0x00000007,                                          \
    "which IRQ_STATUS bits raise the interrupt line")                                            \
  X(kBaseLo, "BASE_LO", 0x14, kRw, 0, 0xFFFFFFC0, "first buffer, low half; 64-byte aligned")     \
  X(kBaseHi, "BASE_HI", 0x18, kRw, 0, 0xFFFFFFFF, "high half")                                   \
  X(kCount, "COUNT", 0x1C, kRw, 0, 0x000000FF, "buffers in the ring")                            \
  X(kStride, "STRIDE", 0x20, kRw, 0, 0xFFFFFFC0, "bytes from one buffer to the next")            \
  X(kFrameBytes, "FRAME_BYTES", 0x24, kRw, 0, 0x7FFFFFFF, "bytes of a frame")                    \
  X(kPeriod, "PERIOD", 0x28, kRw, 0, 0xFFFFFFFF,                                                 \
    "ns from one frame's begin to the next one's; a frame that finds no free buffer then is "    \
    "dropped. 0: each as soon as a buffer is free")                                              \
  X(kFormat, "FORMAT", 0x2C, kRw, 0, 0x00000001,                                                 \
    "bit 0: samples in two's complement; else offset binary")                                    \
  X(kSeed, "SEED", 0x30, kRw, 1, 0xFFFFFFFF, "of the frames' contents")                          \
  X(kWatermark, "WATERMARK", 0x34, kRw, 1, 0x000000FF,                                           \
    "frames that must wait for the host before it is interrupted")                               \
  X(kTimeline, "TIMELINE", 0x38, kRw, 0, 0x8000000F,                                             \
    "bit 31: signal timeline 3:0 with HEAD when a frame is in memory")                           \
  X(kHead, "HEAD", 0x3C, kRo, 0, 0xFFFFFFFF, "frames written; frame n is in buffer n mod COUNT") \
  X(kTail, "TAIL", 0x40, kRw, 0, 0xFFFFFFFF, "frames that the host has released")                \
  X(kDropped, "DROPPED", 0x44, kRo, 0, 0xFFFFFFFF, "frames for which there was no free buffer")  \
  X(kMissed, "MISSED", 0x50, kRo, 0, 0xFFFFFFFF,                                                 \
    "frames that the source did not deliver, or while another was on its way")                   \
  X(kErrAddrLo, "ERR_ADDR_LO", 0x48, kRo, 0, 0xFFFFFFFF, "address of the bus error, low half")   \
  X(kErrAddrHi, "ERR_ADDR_HI", 0x4C, kRo, 0, 0xFFFFFFFF, "high half")

namespace sensor_reg {
#define DEPUTY_REGISTER_CONSTANT(constant, name, offset, access, reset, mask, doc) \
  inline constexpr std::uint32_t constant = offset;
DEPUTY_SENSOR_REGISTERS(DEPUTY_REGISTER_CONSTANT)
#undef DEPUTY_REGISTER_CONSTANT
}  // namespace sensor_reg

inline constexpr std::uint32_t kSensorWatermark = 1, kSensorDropped = 2, kSensorFailed = 4;

std::span<const RegisterInfo> sensor_registers();

}  // namespace deputy::arch
