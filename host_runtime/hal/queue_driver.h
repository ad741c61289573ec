// The driver of one engine's queue manager: rings in shared memory, doorbells, and what a halted
// ring has to say. The hardware is described in docs/queues.md, the entry in arch/queue_entry.h.
#pragma once

#include <array>
#include <cstdint>
#include <deque>

#include "arch/queue_entry.h"
#include "arch/registers.h"
#include "base/result.h"
#include "deputy/hw_port.h"
#include "host_runtime/hal/intc_driver.h"

namespace deputy::host_runtime {

/// Why a ring halted, as its registers tell.
struct RingFault {
  arch::RingCause cause = arch::RingCause::kNone;
  std::uint32_t info = 0;  ///< RINGn_ERR_INFO: 7:0 opcode, 23:8 tag, 31:24 the engine's own cause
  std::uint64_t address = 0;
};

class QueueDriver {
 public:
  /// `base`: the queue manager's registers. Port and controller must outlive the driver.
  QueueDriver(HwPort& port, IntcDriver& intc, std::uint64_t base, arch::IrqLine line)
      : port_(port), intc_(intc), base_(base), line_(line) {}
  ~QueueDriver();
  QueueDriver(const QueueDriver&) = delete;
  QueueDriver& operator=(const QueueDriver&) = delete;

  /// kHardwareFault when no queue manager answers. Engine and rings are reset, interrupts on.
  base::Status probe();

  /// Allocates and enables a ring; priority 0 to 3, the highest first. `context`: the IOMMU's.
  base::Status open(std::uint32_t ring, std::uint32_t entries, std::uint32_t priority,
                    std::uint32_t context);
  /// Drops what is in it, running or not; no timeline changes.
  void close(std::uint32_t ring);
  bool is_open(std::uint32_t ring) const { return rings_[ring].open; }

  /// Writes an entry behind the others and rings the doorbell. Answers its number in this ring,
  /// which counts from 0 over the ring's life. kBusy: the ring is full.
  base::Result<std::uint64_t> push(std::uint32_t ring, const arch::QueueEntry& entry);

  /// Reads HEAD: entries with a number below this have finished.
  std::uint64_t finished(std::uint32_t ring);
  /// Entries that had not finished when finished() was last called; the first is the head.
  const std::deque<arch::QueueEntry>& unfinished(std::uint32_t ring) const {
    return rings_[ring].unfinished;
  }

  arch::RingState state(std::uint32_t ring);
  RingFault fault(std::uint32_t ring);
  /// The engine's sign of life: changes whenever a part of the running job has completed.
  std::uint32_t progress();
  /// The ring whose job the engine runs, or -1.
  int running();

  /// Writes TAIL again, for a doorbell that may not have arrived.
  void ring_doorbell(std::uint32_t ring);
  /// Of a halted ring: runs the head entry again, as `entry` if given instead of as it was.
  void retry(std::uint32_t ring);
  void retry_as(std::uint32_t ring, const arch::QueueEntry& entry);
  /// Of a halted ring: the head entry's signals fail, and the ring goes on.
  void skip(std::uint32_t ring);
  /// Takes the head entry, number `number`, out of the ring, running or not; its signals do
  /// nothing. The others stay. False when it has finished meanwhile.
  bool drop_head(std::uint32_t ring, std::uint64_t number);
  /// Stops the job this ring runs, if any; the ring halts.
  void abort(std::uint32_t ring);
  /// Disables the ring, enables it again and gives it its unfinished entries.
  void restart(std::uint32_t ring);
  /// Resets the engine and every ring, and gives each ring its unfinished entries again.
  void reset();

  /// Acknowledges what was raised: bits 3:0 an entry of ring n has finished, 11:8 ring n halted.
  std::uint32_t take_interrupts();

 private:
  struct Ring {
    bool open = false;
    SharedMemory memory;
    std::uint32_t entries = 0, config = 0;
    std::uint32_t tail = 0;      ///< as in TAIL
    std::uint64_t first = 0;     ///< the number of the entry that HEAD 0 meant
    std::uint64_t finished = 0;  ///< numbers below this are known to have finished
    std::deque<arch::QueueEntry> unfinished;
  };
  std::uint64_t at(std::uint32_t ring0_register, std::uint32_t ring) const {
    return base_ + ring0_register + ring * arch::kRingStride;
  }
  void write_entry(Ring& ring, std::uint32_t index, const arch::QueueEntry& entry);
  void enable(std::uint32_t ring);
  /// Nothing of the ring finishes from here on; HEAD stays. Answers finished().
  std::uint64_t stop(std::uint32_t ring);
  /// The unfinished entries from the ring's first place on.
  void begin_again(std::uint32_t ring);
  void control(std::uint32_t ring, std::uint32_t bits);

  HwPort& port_;
  IntcDriver& intc_;
  std::uint64_t base_;
  arch::IrqLine line_;
  std::array<Ring, arch::kRings> rings_;
};

}  // namespace deputy::host_runtime
