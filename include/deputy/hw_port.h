// The one door between the software and the hardware. The runtime and the drivers see nothing else:
// the simulator, the fake of the unit tests and a memory-mapped device all implement this.
//
// Everything that blocks does so inside a call documented as blocking or taking time. In simulation
// the host program is a SystemC thread, so these calls are where simulated time passes, and the
// only places where one host thread makes way for another: code between two calls is not
// interrupted. On hardware it is, so what threads share is held under lock(). A program uses no
// other threads and locks than the port's.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/cpu_kernel.h"
#include "base/result.h"

namespace deputy {

enum class MemoryKind : std::uint8_t { kSram, kDram };

/// A block of shared memory, owned by whoever allocated it until free(). `host` is the CPU's
/// mapping.
struct SharedMemory {
  std::uint64_t address = 0;  ///< bus address, what an engine is given
  std::uint64_t bytes = 0;
  std::uint8_t* host = nullptr;
};

/// Bytes of shared memory that CPU work reads or writes; they become bus traffic.
struct MemoryTouch {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  bool write = false;
};

/// A host thread of this port; the thread that the program starts in is 0.
using ThreadId = std::uint32_t;

class HwPort {
 public:
  virtual ~HwPort() = default;

  /// Register access by absolute bus address, 32 bits. Takes time. A bus error (nobody at that
  /// address) reads as 0xFFFFFFFF and ignores writes; it counts in the port's bus_errors().
  virtual std::uint32_t read32(std::uint64_t address) = 0;
  virtual void write32(std::uint64_t address, std::uint32_t value) = 0;
  virtual std::uint64_t bus_errors() const = 0;

  /// Allocates shared memory, zeroed; `align` is a power of two. Fails when the memory is full.
  /// Takes no time.
  virtual base::Result<SharedMemory> alloc(MemoryKind kind, std::uint64_t bytes,
                                           std::uint64_t align) = 0;
  virtual void free(const SharedMemory& memory) = 0;

  /// Cache maintenance before an engine reads (clean) and before the CPU reads (invalidate). Takes
  /// time.
  virtual void clean(std::uint64_t address, std::uint64_t bytes) = 0;
  virtual void invalidate(std::uint64_t address, std::uint64_t bytes) = 0;

  /// Tells that the CPU is about to read or write these bytes by plain loads and stores through the
  /// mapping. Takes no time and is no traffic: only a simulator, which cannot see them otherwise,
  /// needs it (docs/coherence.md). Touches of charge() tell the same.
  virtual void announce(const MemoryTouch& touch) { (void)touch; }

  /// Blocks until an interrupt line of `lines` (bit n: arch::IrqLine n) is pending or the deadline
  /// (absolute, now_ps() scale) passes; answers the pending ones. 0: a time-out, or wake_waiters()
  /// was called meanwhile, or another host thread was faster: look again at what was waited for.
  /// Does not acknowledge: the driver does, at the device and the controller.
  virtual std::uint32_t wait_irqs(std::uint32_t lines, std::uint64_t deadline_ps) = 0;
  /// The same for one line, through everything but a time-out (false).
  bool wait_irq(std::uint32_t line, std::uint64_t deadline_ps) {
    do {
      if (wait_irqs(1u << line, deadline_ps) != 0) return true;
    } while (now_ps() < deadline_ps);
    return false;
  }
  /// Makes every other host thread that is inside wait_irqs() return. What they wait for may have
  /// been taken from the device and acknowledged by this thread.
  virtual void wake_waiters() = 0;

  /// Blocks until `time_ps` (absolute); returns at once when it has passed. Waking up takes time.
  virtual void sleep_until(std::uint64_t time_ps) = 0;

  /// Starts another host thread. It begins when the CPU is free for it, and must be joined before
  /// the program returns. `body` owns what it needs or refers to what outlives the thread.
  virtual ThreadId start_thread(std::function<void()> body) = 0;
  /// The calling thread.
  virtual ThreadId current_thread() = 0;
  /// Blocks until the thread's body has returned; once per thread, never the calling thread itself.
  virtual void join(ThreadId thread) = 0;

  /// The one lock of the runtime: blocks until it is the caller's, in the order of asking. Not
  /// recursive. It may be held over calls that block.
  virtual void lock() = 0;
  virtual void unlock() = 0;

  /// Time since the port came up, in picoseconds.
  virtual std::uint64_t now_ps() = 0;

  /// Charges CPU work: compute cycles by kernel kind and amount, and its memory traffic. Takes
  /// time.
  virtual void charge(CpuKernel kernel, std::uint64_t amount,
                      std::span<const MemoryTouch> touches) = 0;

  /// False when only time is simulated: data need not be computed or copied, every charge still
  /// counts.
  virtual bool functional() const = 0;
};

}  // namespace deputy
