#include "host_runtime/hal/queue_driver.h"

#include <bit>
#include <cstring>
#include <vector>

#include "base/check.h"

namespace deputy::host_runtime {
namespace reg = arch::queue_reg;
using base::Error;
using base::ErrorKind;

namespace {
constexpr std::uint32_t kAllInterrupts = 0xF0F, kEnable = 1;
constexpr std::uint32_t kRetry = 1, kSkip = 2, kAbort = 4;
}  // namespace

QueueDriver::~QueueDriver() {
  for (std::uint32_t ring = 0; ring < arch::kRings; ++ring) close(ring);
}

base::Status QueueDriver::probe() {
  if (port_.read32(base_ + reg::kId) != arch::queue_registers()[0].reset)
    return Error{ErrorKind::kHardwareFault, "queue", "the ID register is not a queue manager's",
                 "no queue manager of this version is at its address"};
  port_.write32(base_ + reg::kReset, 1);
  port_.write32(base_ + reg::kIrqEnable, kAllInterrupts);
  intc_.enable(line_);
  return {};
}

base::Status QueueDriver::open(std::uint32_t ring, std::uint32_t entries, std::uint32_t priority,
                               std::uint32_t context) {
  Ring& r = rings_[ring];
  DEPUTY_CHECK(!r.open, "the ring is open");
  DEPUTY_CHECK(std::has_single_bit(entries) && entries <= 0x8000 && priority < 4 &&
                   context < arch::kContexts,
               "a ring has a power of two of entries, four priorities and the IOMMU's contexts");
  // Whole pages, so that nothing else lies beside what the queue manager reads.
  DEPUTY_ASSIGN(r.memory,
                port_.alloc(MemoryKind::kDram, std::uint64_t{entries} * arch::kQueueEntryBytes,
                            arch::kPageBytes));
  r.open = true, r.entries = entries;
  r.config = kEnable | priority << 4 | context << 8;
  r.first = r.finished = 0;
  enable(ring);
  return {};
}

// HEAD and TAIL begin at 0 again: entry number `first` will be the ring's entry 0.
void QueueDriver::enable(std::uint32_t ring) {
  Ring& r = rings_[ring];
  r.first = r.finished, r.tail = 0;
  port_.write32(at(reg::kRing0BaseLo, ring), static_cast<std::uint32_t>(r.memory.address));
  port_.write32(at(reg::kRing0BaseHi, ring), static_cast<std::uint32_t>(r.memory.address >> 32));
  port_.write32(at(reg::kRing0Entries, ring), r.entries);
  port_.write32(at(reg::kRing0Config, ring), r.config);
}

void QueueDriver::close(std::uint32_t ring) {
  Ring& r = rings_[ring];
  if (!r.open) return;
  port_.write32(at(reg::kRing0Config, ring), 0);
  port_.free(r.memory);
  r = {};
}

void QueueDriver::write_entry(Ring& ring, std::uint32_t index, const arch::QueueEntry& entry) {
  std::vector<std::uint32_t> words;
  arch::pack(entry, words);
  words.resize(arch::kQueueEntryBytes / 4);
  const std::uint64_t offset = std::uint64_t{index & (ring.entries - 1)} * arch::kQueueEntryBytes;
  // The entry is little-endian, as every host this runs on.
  static_assert(std::endian::native == std::endian::little);
  std::memcpy(ring.memory.host + offset, words.data(), arch::kQueueEntryBytes);
  const MemoryTouch touch{ring.memory.address + offset, arch::kQueueEntryBytes, true};
  port_.charge(CpuKernel::kCopy, touch.bytes, std::span(&touch, 1));
  port_.clean(touch.address, touch.bytes);
}

base::Result<std::uint64_t> QueueDriver::push(std::uint32_t ring, const arch::QueueEntry& entry) {
  Ring& r = rings_[ring];
  DEPUTY_CHECK(r.open, "the ring is not open");
  if (r.unfinished.size() == r.entries) finished(ring);
  if (r.unfinished.size() == r.entries)
    return Error{ErrorKind::kBusy, "queue", "the ring is full",
                 "wait for a fence of an earlier submission, then submit again"};
  write_entry(r, r.tail++, entry);
  r.unfinished.push_back(entry);
  ring_doorbell(ring);
  return r.finished + r.unfinished.size() - 1;
}

std::uint64_t QueueDriver::finished(std::uint32_t ring) {
  Ring& r = rings_[ring];
  const std::uint32_t head = port_.read32(at(reg::kRing0Head, ring));
  // 32 bits wrap: the distance from what was known is what counts. A HEAD that is not between that
  // and TAIL is no answer (a bus error reads as all ones).
  const auto known = static_cast<std::uint32_t>(r.finished - r.first);
  const std::uint32_t moved = head - known;
  if (moved <= r.unfinished.size()) {
    r.finished += moved;
    r.unfinished.erase(r.unfinished.begin(),
                       r.unfinished.begin() + static_cast<std::ptrdiff_t>(moved));
  }
  return r.finished;
}

arch::RingState QueueDriver::state(std::uint32_t ring) {
  return static_cast<arch::RingState>(port_.read32(at(reg::kRing0Status, ring)) & 7);
}

RingFault QueueDriver::fault(std::uint32_t ring) {
  RingFault out;
  out.cause = static_cast<arch::RingCause>(port_.read32(at(reg::kRing0Status, ring)) >> 8 & 0xFF);
  out.info = port_.read32(at(reg::kRing0ErrInfo, ring));
  out.address = port_.read32(at(reg::kRing0ErrAddrLo, ring)) |
                std::uint64_t{port_.read32(at(reg::kRing0ErrAddrHi, ring))} << 32;
  return out;
}

std::uint32_t QueueDriver::progress() { return port_.read32(base_ + reg::kProgress); }

int QueueDriver::running() {
  return static_cast<int>(port_.read32(base_ + reg::kStatus) & 0xF) - 1;
}

void QueueDriver::ring_doorbell(std::uint32_t ring) {
  port_.write32(at(reg::kRing0Tail, ring), rings_[ring].tail);
}

void QueueDriver::control(std::uint32_t ring, std::uint32_t bits) {
  port_.write32(at(reg::kRing0Ctrl, ring), bits);
}
void QueueDriver::retry(std::uint32_t ring) { control(ring, kRetry); }
void QueueDriver::retry_as(std::uint32_t ring, const arch::QueueEntry& entry) {
  Ring& r = rings_[ring];
  finished(ring);
  DEPUTY_CHECK(!r.unfinished.empty(), "a halted ring has a head entry");
  r.unfinished.front() = entry;
  write_entry(r, static_cast<std::uint32_t>(r.finished - r.first), entry);
  control(ring, kRetry);
}
void QueueDriver::skip(std::uint32_t ring) { control(ring, kSkip); }
void QueueDriver::abort(std::uint32_t ring) { control(ring, kAbort); }

std::uint64_t QueueDriver::stop(std::uint32_t ring) {
  port_.write32(at(reg::kRing0Config, ring), 0);
  return finished(ring);
}

void QueueDriver::begin_again(std::uint32_t ring) {
  Ring& r = rings_[ring];
  enable(ring);
  for (const arch::QueueEntry& entry : r.unfinished) write_entry(r, r.tail++, entry);
  if (r.tail != 0) ring_doorbell(ring);
}

bool QueueDriver::drop_head(std::uint32_t ring, std::uint64_t number) {
  Ring& r = rings_[ring];
  const bool there = stop(ring) == number && !r.unfinished.empty();
  if (there) {
    r.unfinished.pop_front();
    ++r.finished;
  }
  begin_again(ring);
  return there;
}

void QueueDriver::restart(std::uint32_t ring) {
  stop(ring);
  begin_again(ring);
}

void QueueDriver::reset() {
  // What ends while the others are looked at would run twice, so nothing may.
  for (std::uint32_t ring = 0; ring < arch::kRings; ++ring)
    if (rings_[ring].open) stop(ring);
  port_.write32(base_ + reg::kReset, 1);
  port_.write32(base_ + reg::kIrqEnable, kAllInterrupts);
  for (std::uint32_t ring = 0; ring < arch::kRings; ++ring)
    if (rings_[ring].open) begin_again(ring);
}

std::uint32_t QueueDriver::take_interrupts() { return intc_.take(line_, base_ + reg::kIrqStatus); }

}  // namespace deputy::host_runtime
