#include "host_runtime/hal/intc_driver.h"

#include "arch/registers.h"
#include "host_runtime/hal/text.h"

namespace deputy::host_runtime {
namespace {
namespace reg = arch::intc_reg;
constexpr std::uint64_t at(std::uint32_t offset) { return arch::kIntcBase + offset; }
std::uint32_t bit(arch::IrqLine line) { return 1u << static_cast<std::uint32_t>(line); }

// A healthy device has at most one cause more by the time the first is acknowledged.
constexpr int kServiceRounds = 8;
}  // namespace

base::Status IntcDriver::probe() {
  const std::uint32_t expected = arch::intc_registers()[0].reset;
  if (const std::uint32_t id = port_.read32(at(reg::kId)); id != expected)
    return base::Error{base::ErrorKind::kHardwareFault, "intc",
                       "ID reads " + hex(id) + " instead of " + hex(expected),
                       "no interrupt controller of this version is at its address"};
  return {};
}

void IntcDriver::enable(arch::IrqLine line) {
  acknowledge(line);
  port_.write32(at(reg::kEnableSet), bit(line));
}
void IntcDriver::disable(arch::IrqLine line) { port_.write32(at(reg::kEnableClear), bit(line)); }
bool IntcDriver::pending(arch::IrqLine line) {
  return (port_.read32(at(reg::kPending)) & bit(line)) != 0;
}
void IntcDriver::acknowledge(arch::IrqLine line) { port_.write32(at(reg::kPending), bit(line)); }

std::uint32_t IntcDriver::take(arch::IrqLine line, std::uint64_t irq_status) {
  std::uint32_t causes = 0;
  for (int round = 0; round < kServiceRounds; ++round) {
    const std::uint32_t now = port_.read32(irq_status);
    if (now != 0) port_.write32(irq_status, now);
    if (now != 0 || round == 0) acknowledge(line);
    if (now == 0) break;
    causes |= now;
  }
  return causes;
}

}  // namespace deputy::host_runtime
