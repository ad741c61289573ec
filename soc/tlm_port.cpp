#include "soc/tlm_port.h"

#include <fmt/format.h>
#include <tlm.h>

#include <cstring>

#include "arch/host_timing.h"
#include "base/check.h"
#include "sim/process.h"

namespace deputy::soc {
namespace {

constexpr std::string_view kRegisters = "register access", kInterrupt = "interrupt entry";

// What a trace calls it.
std::string_view kernel_text(CpuKernel kernel) {
  constexpr std::string_view kNames[] = {"integer MACs",   "float MACs", "elementwise",
                                         "transcendental", "copy",       "control"};
  static_assert(std::size(kNames) == kCpuKernelCount);
  return kNames[static_cast<std::size_t>(kernel)];
}

}  // namespace

TlmPort::TlmPort(const HostConfig& config, sim::BusInitiator& bus, Intc& intc, Memory& sram,
                 Memory& dram, bool functional)
    : config_(config),
      clock_(config.clock_mhz),
      bus_(bus),
      intc_(intc),
      sram_(sram),
      dram_(dram),
      sram_heap_(sram.base(), sram.bytes()),
      dram_heap_(dram.base(), dram.bytes()),
      threads_(clock_.cycles(static_cast<std::uint64_t>(config.context_switch)),
               sc_core::sc_time(config.time_slice_us, sc_core::SC_US), busy_),
      functional_(functional) {}

void TlmPort::spend(std::uint64_t cycles, std::string_view what) {
  if (threads_.stopped()) return;
  threads_.enter();
  if (cycles == 0) return;
  const sc_core::sc_time t = clock_.cycles(cycles);
  const std::uint64_t start = now_ps();
  ++working_;
  threads_.work(t);
  --working_;
  worked(start, sim::to_ps(t), what);
}

void TlmPort::worked(std::uint64_t start_ps, std::uint64_t busy_ps, std::string_view what,
                     std::uint64_t bytes) {
  busy_ps_ += busy_ps;
  const std::uint64_t now = sim::to_ps(sc_core::sc_time_stamp());
  busy_.add(start_ps, now, busy_ps);
  if (trace_ && now > start_ps)
    trace_->extend(track_, {start_ps, now, start_ps, what, -1, 0, bytes});
  gate_.end(now);
}

void TlmPort::power_up() {
  if (threads_.stopped() || working_ > 0) return;
  if (const std::uint64_t ps = gate_.begin(now_ps())) sim::wait_for(sim::from_ps(ps));
}

bool TlmPort::access32(std::uint64_t address, std::uint32_t& value, bool write) {
  if (threads_.stopped()) return false;
  spend(static_cast<std::uint64_t>(config_.register_access), kRegisters);
  if (address % 4 != 0) {  // the CPU's own alignment fault: nothing goes to the bus
    ++bus_errors_;
    return false;
  }
  const std::uint64_t start = now_ps();
  if (memory_at(address, 4)) {
    bus_.issue(address, reinterpret_cast<std::uint8_t*>(&value), 4, write);
    if (write && cache_) cache_->wrote_uncached(address, 4);
    bus_.drain();
    worked(start, now_ps() - start, kRegisters);
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
  worked(start, now_ps() - start, kRegisters);
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

base::Result<SharedMemory> TlmPort::alloc(MemoryKind kind, std::uint64_t bytes,
                                          std::uint64_t align) {
  const bool sram = kind == MemoryKind::kSram;
  Memory& memory = sram ? sram_ : dram_;
  Heap& heap = sram ? sram_heap_ : dram_heap_;
  DEPUTY_CHECK(align != 0 && (align & (align - 1)) == 0, "alignment is not a power of two");
  const auto address = heap.alloc(bytes, align);
  if (!address)
    return base::Error{
        base::ErrorKind::kConfig, sram ? "sram" : "dram",
        fmt::format("{} bytes do not fit: {} of {} bytes are free", bytes, heap.free_bytes(),
                    memory.bytes()),
        fmt::format("raise {}.bytes or choose a smaller model", sram ? "sram" : "dram")};
  if (cache_) return SharedMemory{*address, bytes, cache_->allocated(*address, bytes)};
  SharedMemory out{*address, bytes, memory.host_pointer(*address)};
  std::memset(out.host, 0, bytes);
  return out;
}

void TlmPort::free(const SharedMemory& memory) {
  if (cache_) cache_->freed(memory.address);
  DEPUTY_CHECK(sram_heap_.free(memory.address) || dram_heap_.free(memory.address),
               "freeing memory that is not allocated");
}

void TlmPort::maintain(std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0) return;
  maintained_lines_ += arch::maintained_lines(config_, address, bytes);
  spend(arch::maintenance_cycles(config_, address, bytes), "cache maintenance");
}

// Either takes effect at its end. Maintenance of what is no memory has none.
void TlmPort::clean(std::uint64_t address, std::uint64_t bytes) {
  maintain(address, bytes);
  if (cache_ && !threads_.stopped() && memory_at(address, bytes)) cache_->clean(address, bytes);
}
void TlmPort::invalidate(std::uint64_t address, std::uint64_t bytes) {
  maintain(address, bytes);
  if (cache_ && !threads_.stopped() && memory_at(address, bytes))
    cache_->invalidate(address, bytes);
}

void TlmPort::announce(const MemoryTouch& touch) {
  DEPUTY_CHECK(memory_at(touch.address, touch.bytes),
               "the CPU is to touch memory that does not exist");
  if (cache_ && !threads_.stopped()) cache_->touch(touch);
}

// A deadline 53 days ahead or more is none: sc_time sums must not overflow, and a simulation in
// which nothing else can happen ends instead of leaping there.
template <class Events>
void TlmPort::wait_on(const Events& events, std::uint64_t deadline_ps) {
  const std::uint64_t ahead = deadline_ps - now_ps();
  if (ahead >= std::uint64_t{1} << 62)
    sim::wait_on(events);
  else
    sim::wait_on(events, sim::from_ps(ahead));
}

std::uint32_t TlmPort::wait_irqs(std::uint32_t lines, std::uint64_t deadline_ps) {
  if (threads_.stopped()) return 0;
  const auto pending = [&] { return intc_.pending() & lines; };
  const auto over = [&, wakes = wakes_] {
    return pending() != 0 || wakes != wakes_ || now_ps() >= deadline_ps;
  };
  if (!over()) {
    threads_.leave("waits for interrupt lines, mask", lines);
    while (!over()) wait_on(intc_.raised() | woken_, deadline_ps);
    power_up();
    pending() ? threads_.enter_woken() : threads_.enter();
  }
  if (pending() == 0) return 0;
  spend(arch::interrupt_cycles(config_), kInterrupt);
  return pending();
}

void TlmPort::wake_waiters() {
  ++wakes_;
  woken_.notify(sc_core::SC_ZERO_TIME);
}

void TlmPort::sleep_until(std::uint64_t time_ps) {
  if (threads_.stopped() || now_ps() >= time_ps) return;
  threads_.leave("sleeps until picosecond", time_ps);
  while (now_ps() < time_ps) wait_on(never_, time_ps);
  power_up();
  threads_.enter_woken();
  spend(arch::interrupt_cycles(config_), kInterrupt);
}

// While the program is torn down every deadline has passed.
std::uint64_t TlmPort::now_ps() {
  return threads_.stopped() ? ~std::uint64_t{0} : sim::to_ps(sc_core::sc_time_stamp());
}

Memory* TlmPort::memory_at(std::uint64_t address, std::uint64_t bytes) {
  for (Memory* m : {&sram_, &dram_})
    if (address >= m->base() && address - m->base() <= m->bytes() &&
        bytes <= m->bytes() - (address - m->base()))
      return m;
  return nullptr;
}

void TlmPort::charge(CpuKernel kernel, std::uint64_t amount, std::span<const MemoryTouch> touches) {
  if (threads_.stopped()) return;
  threads_.enter();
  const std::uint64_t start = now_ps();
  std::uint64_t away = 0;  // other threads had the core
  std::uint64_t touched = 0;
  for (const MemoryTouch& touch : touches) announce(touch), touched += touch.bytes;
  for (const MemoryTouch& touch : touches) {
    for (std::uint64_t at = touch.address, left = touch.bytes; left > 0;) {
      const std::uint64_t n = std::min<std::uint64_t>(
          {left, static_cast<std::uint64_t>(config_.chunk_bytes), 4096 - at % 4096});
      bus_.issue(at, nullptr, static_cast<std::uint32_t>(n), touch.write);
      away += sim::to_ps(threads_.make_way([&] { bus_.drain(); }));
      at += n;
      left -= n;
    }
  }
  bus_.drain();
  const std::uint64_t moving = now_ps() - start - away;
  worked(start, moving, kernel_text(kernel), touched);
  const std::uint64_t computing = arch::host_cycles(config_, kernel, amount) * clock_.period_ps();
  if (computing > moving) {
    const std::uint64_t then = now_ps();
    threads_.work(sim::from_ps(computing - moving));
    worked(then, computing - moving, kernel_text(kernel));
  }
}

}  // namespace deputy::soc
