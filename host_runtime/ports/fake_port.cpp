#include "host_runtime/ports/fake_port.h"

#include <fmt/format.h>

#include <algorithm>

#include "arch/registers.h"
#include "base/check.h"

namespace deputy::host_runtime {
namespace {
namespace npu_reg = arch::npu_reg;
namespace dma_reg = arch::dma_reg;
namespace intc_reg = arch::intc_reg;

constexpr std::uint64_t kBases[] = {arch::kNpuBase,      arch::kDmaBase,      arch::kIntcBase,
                                    arch::kNpuQueueBase, arch::kDmaQueueBase, arch::kSyncBase};
constexpr std::uint64_t kDeviceBytes = 0x1000;
}  // namespace

FakePort::FakePort(const arch::NpuConfig& npu) : npu_(npu) {
  devices_.emplace_back(arch::npu_registers());
  devices_.emplace_back(arch::dma_registers());
  devices_.emplace_back(arch::intc_registers());
  devices_.emplace_back(arch::queue_registers());
  devices_.emplace_back(arch::queue_registers());
  devices_.emplace_back(arch::sync_registers());
  reset_device(kNpu);
}

void FakePort::after(std::uint64_t delay_ps, std::function<void()> event) {
  events_.emplace(now_ + delay_ps, Event{std::nullopt, std::move(event)});
}

void FakePort::after(Device engine, std::uint64_t delay_ps, std::function<void()> event) {
  events_.emplace(now_ + delay_ps, Event{engine, std::move(event)});
}

void FakePort::set(Device device, std::uint32_t offset, std::uint32_t value) {
  devices_[device].set(offset, value);
  update_lines();
}

void FakePort::finish(Device device, std::uint32_t error) {
  if (end_job(device, error)) return update_lines();
  const bool npu = device == kNpu;
  set(device, npu ? npu_reg::kStatus : dma_reg::kStatus,
      error == 0 ? arch::kStatusDone : arch::kStatusError | error << 8);
  set(device, npu ? npu_reg::kIrqStatus : dma_reg::kIrqStatus,
      error == 0 ? arch::kIrqDone : arch::kIrqFailed);
}

std::uint8_t* FakePort::at(std::uint64_t address, std::uint64_t bytes) {
  auto block = blocks_.upper_bound(address);
  if (block == blocks_.begin()) return nullptr;
  --block;
  const std::uint64_t offset = address - block->first;
  if (offset > block->second.size() || bytes > block->second.size() - offset) return nullptr;
  return block->second.data() + offset;
}

bool FakePort::find(std::uint64_t address, Place& place) {
  for (const Device device : {kNpu, kDma, kIntc, kNpuQueue, kDmaQueue, kSync}) {
    if (address < kBases[device] || address >= kBases[device] + kDeviceBytes) continue;
    place = {device, static_cast<std::uint32_t>(address - kBases[device])};
    if (devices_[device].find(place.offset)) return true;
  }
  ++bus_errors_;
  return false;
}

std::uint32_t FakePort::read32(std::uint64_t address) {
  run_events_until(now_ + kRegisterPs);
  Place place;
  if (!find(address, place)) return 0xFFFFFFFF;
  if (place.device == kIntc && place.offset == intc_reg::kEnableSet)
    place.offset = intc_reg::kEnable;
  return devices_[place.device].bus_read(place.offset);
}

void FakePort::write32(std::uint64_t address, std::uint32_t value) {
  run_events_until(now_ + kRegisterPs);
  Place place;
  if (!find(address, place)) return;
  const std::uint32_t before = devices_[place.device].get(place.offset);
  devices_[place.device].bus_write(place.offset, value);
  if (place.device == kNpuQueue || place.device == kDmaQueue) {
    write_queue(place.device, place.offset, value, before);
  } else if (place.device == kSync) {
    write_sync(place.offset, value);
  } else if (place.device == kIntc) {
    write_controller(place.offset, value);
  } else {
    const bool npu = place.device == kNpu;
    if (place.offset == (npu ? npu_reg::kReset : dma_reg::kReset) && (value & 1))
      reset_device(place.device);
    if (place.offset == (npu ? npu_reg::kCmd : dma_reg::kCmd) && (value & 1))
      devices_[place.device].set(npu ? npu_reg::kStatus : dma_reg::kStatus, arch::kStatusRunning);
  }
  if (const auto hook = hooks_.find({place.device, place.offset}); hook != hooks_.end())
    hook->second(value);
  update_lines();
}

void FakePort::write_controller(std::uint32_t offset, std::uint32_t value) {
  auto& intc = devices_[kIntc];
  const std::uint32_t enable = intc.get(intc_reg::kEnable);
  if (offset == intc_reg::kEnableSet) {
    intc.set(intc_reg::kEnable, enable | value);
    intc.set(intc_reg::kEnableSet, 0);
  }
  if (offset == intc_reg::kEnableClear) intc.set(intc_reg::kEnable, enable & ~value);
  if (offset == intc_reg::kForce)
    intc.set(intc_reg::kPending, intc.get(intc_reg::kPending) | value);
}

void FakePort::reset_device(Device device) {
  devices_[device].reset();
  std::erase_if(events_, [&](const auto& e) { return e.second.engine.value_or(device) == device; });
  if (device != kNpu) return;
  const auto& mac = npu_.mac;
  const auto bits = [](std::int32_t value, int shift) {
    return static_cast<std::uint32_t>(value) << shift;
  };
  devices_[kNpu].set(npu_reg::kConfig0, bits(mac.oc_lanes - 1, 0) | bits(mac.ic_lanes - 1, 8) |
                                            bits(mac.pixels - 1, 16) | bits(mac.dw_taps, 24));
  devices_[kNpu].set(npu_reg::kConfig1, static_cast<std::uint32_t>(npu_.spm.bytes));
  devices_[kNpu].set(npu_reg::kConfig2, static_cast<std::uint32_t>(mac.accumulators));
}

void FakePort::update_lines() {
  publish_timelines();
  const auto level = [&](Device device, std::uint32_t status, std::uint32_t enable) {
    return (devices_[device].get(status) & devices_[device].get(enable)) != 0 ? 1u : 0u;
  };
  auto& intc = devices_[kIntc];
  const std::uint32_t raw =
      level(kNpu, npu_reg::kIrqStatus, npu_reg::kIrqEnable)
          << static_cast<int>(arch::IrqLine::kNpu) |
      level(kDma, dma_reg::kIrqStatus, dma_reg::kIrqEnable)
          << static_cast<int>(arch::IrqLine::kDma) |
      level(kNpuQueue, arch::queue_reg::kIrqStatus, arch::queue_reg::kIrqEnable)
          << static_cast<int>(arch::IrqLine::kNpuQueue) |
      level(kDmaQueue, arch::queue_reg::kIrqStatus, arch::queue_reg::kIrqEnable)
          << static_cast<int>(arch::IrqLine::kDmaQueue) |
      level(kSync, arch::sync_reg::kIrqStatus, arch::sync_reg::kIrqEnable)
          << static_cast<int>(arch::IrqLine::kSync);
  std::uint32_t rising = raw & ~intc.get(intc_reg::kRaw) & intc.get(intc_reg::kEnable);
  if (rising != 0 && filter_) rising &= filter_(rising);
  intc.set(intc_reg::kRaw, raw);
  if (!lose_interrupts_) intc.set(intc_reg::kPending, intc.get(intc_reg::kPending) | rising);
}

void FakePort::run_events_until(std::uint64_t time) {
  while (!events_.empty() && events_.begin()->first <= time) {
    now_ = std::max(now_, events_.begin()->first);
    const auto event = std::move(events_.begin()->second.run);
    events_.erase(events_.begin());
    event();
  }
  now_ = std::max(now_, time);
}

bool FakePort::advance(std::optional<std::uint64_t> deadline_ps) {
  if (events_.empty() && !deadline_ps) return false;
  const std::uint64_t never = ~std::uint64_t{0};
  run_events_until(
      std::min(events_.empty() ? never : events_.begin()->first, deadline_ps.value_or(never)));
  return true;
}

std::uint32_t FakePort::wait_irqs(std::uint32_t lines, std::uint64_t deadline_ps) {
  const auto pending = [=, this] { return devices_[kIntc].get(intc_reg::kPending) & lines; };
  threads_.block([=, this, wakes = wakes_] { return pending() != 0 || wakes != wakes_; },
                 deadline_ps);
  return pending();
}

base::Result<SharedMemory> FakePort::alloc(MemoryKind kind, std::uint64_t bytes,
                                           std::uint64_t align) {
  const int k = static_cast<int>(kind);
  const auto& map = kind == MemoryKind::kSram ? arch::kSramRange : arch::kDramRange;
  const std::uint64_t address = (next_[k] + align - 1) / align * align;
  if (address - map.base > limit_[k] || bytes > limit_[k] - (address - map.base))
    return base::Error{
        base::ErrorKind::kConfig, map.name,
        fmt::format("{} bytes do not fit into what is left of {} bytes", bytes, limit_[k]),
        "use a larger memory or a smaller model"};
  // A byte more than asked for keeps two blocks from sharing an address when one is empty.
  next_[k] = address + bytes + 1;
  auto& block = blocks_[address];
  block.assign(bytes, 0);
  return SharedMemory{address, bytes, block.data()};
}

void FakePort::free(const SharedMemory& memory) {
  DEPUTY_CHECK(blocks_.erase(memory.address) == 1, "freed memory that was not allocated");
}

}  // namespace deputy::host_runtime
