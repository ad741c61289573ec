#include "host_runtime/hal/dma_driver.h"

#include <fmt/format.h>

#include "arch/memory_map.h"
#include "arch/registers.h"

namespace deputy::host_runtime {
namespace {
namespace reg = arch::dma_reg;
using base::Error;

constexpr int kResetPolls = 1000;
constexpr std::uint64_t kDescriptorAlign = 64;

Error hardware_fault(std::string message, std::string remedy) {
  return {base::ErrorKind::kHardwareFault, "dma", std::move(message), std::move(remedy)};
}
}  // namespace

DmaDriver::~DmaDriver() {
  if (chain_.bytes != 0) port_.free(chain_);
}

std::uint32_t DmaDriver::read(std::uint32_t offset) const {
  return port_.read32(arch::kDmaBase + offset);
}
void DmaDriver::write(std::uint32_t offset, std::uint32_t value) {
  port_.write32(arch::kDmaBase + offset, value);
}

base::Status DmaDriver::probe() {
  const std::uint32_t expected = arch::dma_registers()[0].reset;
  if (const std::uint32_t id = read(reg::kId); id != expected)
    return hardware_fault(fmt::format("ID reads {:#010x} instead of {:#010x}", id, expected),
                          "no DMA engine of this version is at its address");
  DEPUTY_TRY(reset());
  intc_.enable(arch::IrqLine::kDma);
  return {};
}

base::Status DmaDriver::reset() {
  write(reg::kReset, 1);
  std::uint32_t status = read(reg::kStatus);
  for (int poll = 0; poll < kResetPolls && status != 0; ++poll) status = read(reg::kStatus);
  if (status != 0)
    return hardware_fault(fmt::format("STATUS still reads {:#x} after a reset", status),
                          "the engine does not answer");
  write(reg::kIrqEnable, arch::kIrqDone | arch::kIrqFailed);
  intc_.acknowledge(arch::IrqLine::kDma);
  return {};
}

base::Status DmaDriver::reserve(std::uint64_t bytes) {
  if (chain_.bytes >= bytes) return {};
  if (chain_.bytes != 0) port_.free(chain_);
  chain_ = {};
  DEPUTY_ASSIGN(chain_, port_.alloc(MemoryKind::kDram, bytes, kDescriptorAlign));
  return {};
}

base::Status DmaDriver::run(std::span<const arch::DmaDescriptor> descriptors,
                            std::uint64_t deadline_ps) {
  if (descriptors.empty()) return {};
  const std::uint64_t each =
      (static_cast<std::uint64_t>(arch::packed_words<arch::DmaDescriptor>()) * 4 +
       kDescriptorAlign - 1) /
      kDescriptorAlign * kDescriptorAlign;
  DEPUTY_TRY(reserve(each * descriptors.size()));
  for (std::size_t i = 0; i < descriptors.size(); ++i) {
    arch::DmaDescriptor d = descriptors[i];
    d.next = i + 1 < descriptors.size() ? chain_.address + each * (i + 1) : 0;
    if (const char* bad = arch::first_bad_field(d))
      return Error{base::ErrorKind::kUnsupported, "dma",
                   fmt::format("descriptor {}: {} does not fit its field", i, bad),
                   "split the copy"};
    std::vector<std::uint32_t> words;
    arch::pack(d, words);
    std::uint8_t* to = chain_.host + each * i;
    for (const std::uint32_t word : words)
      for (int shift = 0; shift < 32; shift += 8) *to++ = static_cast<std::uint8_t>(word >> shift);
  }
  port_.clean(chain_.address, each * descriptors.size());
  write(reg::kDescLo, static_cast<std::uint32_t>(chain_.address));
  write(reg::kDescHi, static_cast<std::uint32_t>(chain_.address >> 32));
  write(reg::kCmd, 1);

  auto causes = intc_.wait(arch::IrqLine::kDma, arch::kDmaBase + reg::kIrqStatus, deadline_ps);
  if (!causes.ok()) return recovered(causes.error());
  const std::uint32_t status = read(reg::kStatus), progress = read(reg::kProgress);
  if (*causes == 0)
    return recovered(
        hardware_fault(fmt::format("DMA time-out: {} of {} descriptors completed, STATUS {:#x}{}",
                                   progress, descriptors.size(), status,
                                   status & arch::kStatusRunning
                                       ? ""
                                       : ": the chain has ended, but its interrupt never came"),
                       "the engine was reset; the destination's bytes are not valid"));
  const std::uint32_t mask = arch::kStatusRunning | arch::kStatusDone | arch::kStatusError;
  if ((status & mask) != arch::kStatusDone || (*causes & arch::kIrqFailed)) {
    const std::uint64_t address = read(reg::kErrAddrLo) | std::uint64_t{read(reg::kErrAddrHi)}
                                                              << 32;
    return recovered(hardware_fault(
        fmt::format("DMA fault: {}; descriptor {} of {}, bus address {:#x}",
                    arch::dma_error_text(static_cast<arch::DmaError>(status >> 8 & 0xFF)), progress,
                    descriptors.size(), address),
        "the engine was reset; the destination's bytes are not valid"));
  }
  return {};
}

Error DmaDriver::recovered(Error error) {
  if (const base::Status status = reset(); !status.ok())
    error.message += "; then " + status.error().message;
  return error;
}

}  // namespace deputy::host_runtime
