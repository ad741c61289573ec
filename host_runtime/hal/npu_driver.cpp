#include "host_runtime/hal/npu_driver.h"

#include <fmt/format.h>

#include "arch/memory_map.h"
#include "arch/registers.h"
#include "base/check.h"

namespace deputy::host_runtime {
namespace {
namespace reg = arch::npu_reg;
using base::Error;
using base::ErrorKind;

constexpr int kResetPolls = 1000;
// After a time-out: how long to look whether the job still moves.
constexpr std::uint64_t kProgressWindowPs = 1'000'000'000;

Error hardware_fault(std::string message, std::string remedy) {
  return {ErrorKind::kHardwareFault, "npu", std::move(message), std::move(remedy)};
}
}  // namespace

std::uint32_t NpuDriver::read(std::uint32_t offset) const {
  return port_.read32(arch::kNpuBase + offset);
}
void NpuDriver::write(std::uint32_t offset, std::uint32_t value) {
  port_.write32(arch::kNpuBase + offset, value);
}
void NpuDriver::write64(std::uint32_t low_offset, std::uint64_t value) {
  write(low_offset, static_cast<std::uint32_t>(value));
  write(low_offset + 4, static_cast<std::uint32_t>(value >> 32));
}

base::Status NpuDriver::probe() {
  const std::uint32_t expected = arch::npu_registers()[0].reset;
  if (const std::uint32_t id = read(reg::kId); id != expected)
    return hardware_fault(fmt::format("ID reads {:#010x} instead of {:#010x}", id, expected),
                          "no NPU of this instruction-set version is at its address");
  DEPUTY_TRY(reset());
  intc_.enable(arch::IrqLine::kNpu);
  return {};
}

base::Status NpuDriver::check_target(const arch::NpuConfig& target,
                                     const std::string& program) const {
  const std::uint32_t config0 = read(reg::kConfig0);
  const auto byte = [&](int index) {
    return static_cast<std::int64_t>(config0 >> (8 * index) & 0xFF);
  };
  const struct {
    const char* name;
    std::int64_t compiled, present;
  } fields[] = {
      {"npu.mac.oc_lanes", target.mac.oc_lanes, byte(0) + 1},
      {"npu.mac.ic_lanes", target.mac.ic_lanes, byte(1) + 1},
      {"npu.mac.pixels", target.mac.pixels, byte(2) + 1},
      {"npu.mac.dw_taps", target.mac.dw_taps, byte(3)},
      {"npu.spm.bytes", target.spm.bytes, read(reg::kConfig1)},
      {"npu.mac.accumulators", target.mac.accumulators, read(reg::kConfig2)},
  };
  for (const auto& f : fields)
    if (f.compiled != f.present)
      return Error{
          ErrorKind::kConfig, program,
          fmt::format("compiled for {} = {}, but this NPU has {}", f.name, f.compiled, f.present),
          "compile the model for this SoC's configuration"};
  return {};
}

base::Status NpuDriver::reset() {
  submitted_ = false;
  write(reg::kReset, 1);
  std::uint32_t status = read(reg::kStatus);
  for (int poll = 0; poll < kResetPolls && status != 0; ++poll) status = read(reg::kStatus);
  if (status != 0)
    return hardware_fault(fmt::format("STATUS still reads {:#x} after a reset", status),
                          "the engine does not answer");
  program_regions();
  write(reg::kIrqEnable, arch::kIrqDone | arch::kIrqFailed);
  intc_.acknowledge(arch::IrqLine::kNpu);
  return {};
}

void NpuDriver::bind(int region, std::uint64_t address, std::uint64_t bytes) {
  DEPUTY_CHECK(region >= 0 && region < arch::kRegionCount, "no such region");
  DEPUTY_CHECK(bytes <= 0xFFFFFFFF, "a region's size is a 32-bit register");
  bindings_[static_cast<std::size_t>(region)] = {address, bytes};
}

void NpuDriver::program_regions() {
  for (std::uint32_t region = 0; region < bindings_.size(); ++region) {
    const Binding& b = bindings_[region];
    if (b.bytes == 0) continue;
    write64(reg::kBase0Lo + 8 * region, b.address);
    write(reg::kSize0 + 4 * region, static_cast<std::uint32_t>(b.bytes));
  }
}

base::Status NpuDriver::submit(std::uint64_t address, std::uint64_t bytes) {
  fault_tag_.reset();
  DEPUTY_CHECK(!submitted_, "submitted a job before the last one was waited for");
  DEPUTY_CHECK(address % 4 == 0 && bytes % 4 == 0 && bytes <= 0xFFFFFFFF,
               "command streams are whole words");
  if (const std::uint32_t status = read(reg::kStatus); status & arch::kStatusRunning)
    return recovered(hardware_fault(
        fmt::format("the engine is running a job nobody submitted (STATUS {:#x})", status),
        "it was reset; run again"));
  // Another driver of this engine may have bound its own memory since the last job.
  program_regions();
  write64(reg::kQBaseLo, address);
  write(reg::kQSize, static_cast<std::uint32_t>(bytes));
  write(reg::kCmd, 1);
  submitted_ = true;
  return {};
}

base::Status NpuDriver::wait(std::uint64_t deadline_ps) {
  DEPUTY_CHECK(submitted_, "waited for a job that was not submitted");
  auto causes = intc_.wait(arch::IrqLine::kNpu, arch::kNpuBase + reg::kIrqStatus, deadline_ps);
  if (!causes.ok()) return recovered(causes.error());
  if (*causes == 0) return recovered(time_out());
  const std::uint32_t status = read(reg::kStatus);
  const std::uint32_t mask = arch::kStatusRunning | arch::kStatusDone | arch::kStatusError;
  if ((status & mask) != arch::kStatusDone || (*causes & arch::kIrqFailed))
    return recovered(fault(status));
  submitted_ = false;
  return {};
}

Error NpuDriver::fault(std::uint32_t status) {
  if (!(status & arch::kStatusError))
    return hardware_fault(
        fmt::format("NPU interrupt without an end of the job: STATUS reads {:#x}", status),
        "the engine was reset; run again");
  const auto cause = static_cast<arch::NpuError>(status >> 8 & 0xFF);
  const std::uint32_t info = read(reg::kErrInfo), tag = info >> 8 & 0xFFFF;
  fault_tag_ = tag;
  const std::uint64_t address = read(reg::kErrAddrLo) | std::uint64_t{read(reg::kErrAddrHi)} << 32;
  const char* what = cause == arch::NpuError::kBus ? "bus address" : "stream offset";
  return hardware_fault(
      fmt::format("NPU fault: {}; op tag {} {}, {} {:#x}, {} instructions completed",
                  arch::npu_error_text(cause), tag,
                  arch::opcode_name(static_cast<std::uint8_t>(info)), what, address,
                  read(reg::kProgress)),
      "the engine was reset; the outputs of this run are not valid");
}

Error NpuDriver::time_out() {
  const std::uint32_t status = read(reg::kStatus), progress = read(reg::kProgress),
                      consumed = read(reg::kQRead);
  const std::string where =
      fmt::format("{} instructions completed, {} bytes of the stream read", progress, consumed);
  if (!(status & arch::kStatusRunning)) {
    const char* end = status & arch::kStatusError  ? "failed"
                      : status & arch::kStatusDone ? "done"
                                                   : "not there any more";
    return hardware_fault(
        fmt::format("NPU time-out: the job is {} (STATUS {:#x}), but its interrupt never came; {}",
                    end, status, where),
        "an interrupt was lost; the engine was reset");
  }
  // Not to see it end, only to see it move.
  port_.wait_irq(static_cast<std::uint32_t>(arch::IrqLine::kNpu),
                 port_.now_ps() + kProgressWindowPs);
  const std::uint32_t later = read(reg::kProgress);
  if (later != progress || read(reg::kQRead) != consumed)
    return hardware_fault(
        fmt::format("NPU time-out: the job was still moving ({}, {} a little later)", where, later),
        "it is slower than its deadline allows; the engine was reset");
  return hardware_fault(
      fmt::format("NPU time-out: the job hangs, PROGRESS does not move ({})", where),
      "the engine was reset; the outputs of this run are not valid");
}

Error NpuDriver::recovered(Error error) {
  if (const base::Status status = reset(); !status.ok())
    error.message += "; then " + status.error().message;
  return error;
}

}  // namespace deputy::host_runtime
