#include "soc/tlm_port.h"

#include <fmt/format.h>
#include <tlm.h>

#include <cstring>

#include "arch/host_timing.h"
#include "base/check.h"
#include "sim/process.h"

namespace deputy::soc {

TlmPort::TlmPort(const HostConfig& config, sim::BusInitiator& bus, Intc& intc, Memory& sram, Memory& dram,
                 bool functional)
    : config_(config),
      clock_(config.clock_mhz),
      bus_(bus),
      intc_(intc),
      sram_(sram),
      dram_(dram),
      sram_heap_(sram.base(), sram.bytes()),
      dram_heap_(dram.base(), dram.bytes()),
      functional_(functional) {}

void TlmPort::spend(std::uint64_t cycles) {
  if (cycles == 0) return;
  const sc_core::sc_time t = clock_.cycles(cycles);
  busy_ps_ += sim::to_ps(t);
  sim::wait_for(t);
}

bool TlmPort::access32(std::uint64_t address, std::uint32_t& value, bool write) {
  spend(static_cast<std::uint64_t>(config_.register_access));
  if (address % 4 != 0) {  // the CPU's own alignment fault: nothing goes to the bus
    ++bus_errors_;
    return false;
  }
  const std::uint64_t start = now_ps();
  if (memory_at(address, 4)) {
    bus_.issue(address, reinterpret_cast<std::uint8_t*>(&value), 4, write);
    bus_.drain();
    busy_ps_ += now_ps() - start;
    return true;
  }
  tlm::tlm_generic_payload payload;
  payload.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  payload.set_address(address);
  payload.set_data_ptr(reinterpret_cast<std::uint8_t*>(&value));
  payload.set_data_length(4);
  payload.set_streaming_width(4);
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  bus_.socket->b_transport(payload, delay);
  if (delay > sc_core::SC_ZERO_TIME) sim::wait_for(delay);
  busy_ps_ += now_ps() - start;
  if (payload.get_response_status() == tlm::TLM_OK_RESPONSE) return true;
  ++bus_errors_;
  return false;
}

std::uint32_t TlmPort::read32(std::uint64_t address) {
  ++register_reads_;
  std::uint32_t value = 0;
  return access32(address, value, false) ? value : 0xFFFFFFFFu;
}

void TlmPort::write32(std::uint64_t address, std::uint32_t value) {
  ++register_writes_;
  access32(address, value, true);
}

base::Result<SharedMemory> TlmPort::alloc(MemoryKind kind, std::uint64_t bytes, std::uint64_t align) {
  const bool sram = kind == MemoryKind::kSram;
  Memory& memory = sram ? sram_ : dram_;
  Heap& heap = sram ? sram_heap_ : dram_heap_;
  DEPUTY_CHECK(align != 0 && (align & (align - 1)) == 0, "alignment is not a power of two");
  const auto address = heap.alloc(bytes, align);
  if (!address)
    return base::Error{base::ErrorKind::kConfig, sram ? "sram" : "dram",
                       fmt::format("{} bytes do not fit: {} of {} bytes are free", bytes, heap.free_bytes(), memory.bytes()),
                       fmt::format("raise {}.bytes or choose a smaller model", sram ? "sram" : "dram")};
  SharedMemory out{*address, bytes, memory.host_pointer(*address)};
  std::memset(out.host, 0, bytes);
  return out;
}

void TlmPort::free(const SharedMemory& memory) {
  DEPUTY_CHECK(sram_heap_.free(memory.address) || dram_heap_.free(memory.address), "freeing memory that is not allocated");
}

void TlmPort::maintain(std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0) return;
  maintained_lines_ += arch::maintained_lines(config_, address, bytes);
  spend(arch::maintenance_cycles(config_, address, bytes));
}
void TlmPort::clean(std::uint64_t address, std::uint64_t bytes) { maintain(address, bytes); }
void TlmPort::invalidate(std::uint64_t address, std::uint64_t bytes) { maintain(address, bytes); }

std::uint32_t TlmPort::wait_irqs(std::uint32_t lines, std::uint64_t deadline_ps) {
  const std::uint64_t wakes = wakes_;
  while ((intc_.pending() & lines) == 0) {
    const std::uint64_t now = now_ps();
    if (now >= deadline_ps || wakes != wakes_) return 0;
    // A deadline 53 days ahead or more is none: sc_time sums must not overflow, and a simulation in which nothing
    // else can happen ends instead of leaping there.
    if (deadline_ps - now >= std::uint64_t{1} << 62)
      sim::wait_on(intc_.raised() | woken_);
    else
      sim::wait_on(intc_.raised() | woken_, sim::from_ps(deadline_ps - now));
  }
  spend(arch::interrupt_cycles(config_));
  return intc_.pending() & lines;
}

void TlmPort::wake_waiters() {
  ++wakes_;
  woken_.notify(sc_core::SC_ZERO_TIME);
}

std::uint64_t TlmPort::now_ps() { return sim::to_ps(sc_core::sc_time_stamp()); }

Memory* TlmPort::memory_at(std::uint64_t address, std::uint64_t bytes) {
  for (Memory* m : {&sram_, &dram_})
    if (address >= m->base() && address - m->base() <= m->bytes() && bytes <= m->bytes() - (address - m->base())) return m;
  return nullptr;
}

void TlmPort::charge(CpuKernel kernel, std::uint64_t amount, std::span<const MemoryTouch> touches) {
  const std::uint64_t start = now_ps();
  for (const MemoryTouch& touch : touches) {
    DEPUTY_CHECK(memory_at(touch.address, touch.bytes), "CPU work touches memory that does not exist");
    for (std::uint64_t at = touch.address, left = touch.bytes; left > 0;) {
      const std::uint64_t n = std::min<std::uint64_t>({left, static_cast<std::uint64_t>(config_.chunk_bytes), 4096 - at % 4096});
      bus_.issue(at, nullptr, static_cast<std::uint32_t>(n), touch.write);
      at += n;
      left -= n;
    }
  }
  bus_.drain();
  const std::uint64_t moving = now_ps() - start;
  busy_ps_ += moving;
  const std::uint64_t computing = arch::host_cycles(config_, kernel, amount) * clock_.period_ps();
  if (computing > moving) {
    busy_ps_ += computing - moving;
    sim::wait_for(sim::from_ps(computing - moving));
  }
}

}  // namespace deputy::soc
