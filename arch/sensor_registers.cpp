#include "arch/sensor_registers.h"

namespace deputy::arch {
namespace {
#define DEPUTY_REGISTER_ROW(constant, name, offset, access, reset, mask, doc) \
  {name, offset, Access::access, reset, mask, doc},
constexpr RegisterInfo kSensor[] = {DEPUTY_SENSOR_REGISTERS(DEPUTY_REGISTER_ROW)};
#undef DEPUTY_REGISTER_ROW
}  // namespace

std::span<const RegisterInfo> sensor_registers() { return kSensor; }

}  // namespace deputy::arch
