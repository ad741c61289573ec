// Rings and timelines of the fake port: the rules of docs/queues.md without time.
#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>

#include "host_runtime/ports/fake_port.h"

namespace deputy::host_runtime {
namespace queue = arch::queue_reg;
namespace sync = arch::sync_reg;
using arch::RingCause, arch::RingState, arch::SyncFailure;

namespace {
std::uint32_t ring_at(std::uint32_t ring0_register, std::uint32_t ring) {
  return ring0_register + ring * arch::kRingStride;
}
std::uint32_t of(std::uint32_t timeline0_register, std::uint32_t timeline) {
  return timeline0_register + timeline * arch::kTimelineStride;
}
}  // namespace

// --- Timelines
// -------------------------------------------------------------------------------------------------

void FakePort::signal(std::uint32_t timeline, std::uint64_t value) {
  Timeline& t = timelines_[timeline];
  if (t.failure != 0) return;
  if (value <= t.value)
    return fail(timeline, static_cast<std::uint32_t>(SyncFailure::kNotIncreasing));
  t.value = value;
}

void FakePort::fail(std::uint32_t timeline, std::uint32_t failure) {
  if (timelines_[timeline].failure == 0) timelines_[timeline].failure = failure;
}

// The registers that follow from the timelines.
void FakePort::publish_timelines() {
  arch::RegisterFile& file = devices_[kSync];
  for (std::uint32_t t = 0; t < arch::kTimelineCount; ++t) {
    const Timeline& timeline = timelines_[t];
    file.set(of(sync::kTimeline0ValueLo, t), static_cast<std::uint32_t>(timeline.value));
    file.set(of(sync::kTimeline0ValueHi, t), static_cast<std::uint32_t>(timeline.value >> 32));
    file.set(of(sync::kTimeline0Fail, t), timeline.failure);
    const std::uint64_t threshold = file.get(of(sync::kTimeline0WaitLo, t)) |
                                    std::uint64_t{file.get(of(sync::kTimeline0WaitHi, t))} << 32;
    if ((file.get(sync::kIrqEnable) >> t & 1) &&
        (timeline.value >= threshold || timeline.failure != 0))
      file.set(sync::kIrqStatus, file.get(sync::kIrqStatus) | 1u << t);
  }
}

void FakePort::write_sync(std::uint32_t offset, std::uint32_t value) {
  arch::RegisterFile& file = devices_[kSync];
  for (std::uint32_t t = 0; t < arch::kTimelineCount; ++t) {
    if (offset == of(sync::kTimeline0SignalHi, t))
      signal(t, std::uint64_t{value} << 32 | file.get(of(sync::kTimeline0SignalLo, t)));
    if (offset == of(sync::kTimeline0FailSet, t)) fail(t, value & 0xFF);
    if (offset == sync::kClear && (value >> t & 1)) {
      timelines_[t] = {};
      for (const std::uint32_t status : {sync::kIrqEnable, sync::kIrqStatus})
        file.set(status, file.get(status) & ~(1u << t));
    }
  }
  run_queues();
}

// --- Rings
// -------------------------------------------------------------------------------------------------

void FakePort::write_queue(Device q, std::uint32_t offset, std::uint32_t value,
                           std::uint32_t before) {
  arch::RegisterFile& file = devices_[q];
  const auto state = [&](std::uint32_t ring) {
    return static_cast<RingState>(file.get(ring_at(queue::kRing0Status, ring)) & 7);
  };
  const auto set_state = [&](std::uint32_t ring, RingState s) {
    file.set(ring_at(queue::kRing0Status, ring), static_cast<std::uint32_t>(s));
  };
  if (offset == queue::kReset && (value & 1)) {
    file.reset();
    stop_job(q);
  }
  for (std::uint32_t ring = 0; ring < arch::kRings; ++ring) {
    const bool runs = running_.contains(q) && running_.at(q).ring == ring;
    if (offset == ring_at(queue::kRing0Config, ring) && ((value ^ before) & 1)) {
      if (runs) stop_job(q);
      if (value & 1)
        file.set(ring_at(queue::kRing0Head, ring), 0),
            file.set(ring_at(queue::kRing0Tail, ring), 0);
      set_state(ring, value & 1 ? RingState::kIdle : RingState::kOff);
      if ((value & 1) && !std::has_single_bit(file.get(ring_at(queue::kRing0Entries, ring))))
        halt(q, ring, static_cast<std::uint32_t>(RingCause::kBadEntry), 0);
    }
    if (offset == ring_at(queue::kRing0Ctrl, ring)) {
      if ((value & 4) && runs) {
        stop_job(q);
        halt(q, ring, static_cast<std::uint32_t>(RingCause::kAborted), 0);
      }
      if (state(ring) == RingState::kHalted && (value & 3)) {
        set_state(ring, RingState::kWaiting);
        arch::QueueEntry entry;
        if ((value & 2) && file.get(ring_at(queue::kRing0Head, ring)) !=
                               file.get(ring_at(queue::kRing0Tail, ring))) {
          // What cannot be read has nothing to fail.
          if (!read_head(q, ring, entry)) entry = {};
          set_state(ring, RingState::kWaiting);
          end_entry(q, ring, entry, false, static_cast<std::uint32_t>(SyncFailure::kJobFailed));
        }
      }
    }
    if (offset == ring_at(queue::kRing0Tail, ring) && state(ring) != RingState::kOff &&
        state(ring) != RingState::kHalted &&
        value - file.get(ring_at(queue::kRing0Head, ring)) >
            file.get(ring_at(queue::kRing0Entries, ring)))
      halt(q, ring, static_cast<std::uint32_t>(RingCause::kOverflow), 0);
  }
  run_queues();
}

void FakePort::stop_job(Device q) {
  running_.erase(q);
  devices_[q].set(queue::kStatus, 0);
  reset_device(q == kNpuQueue ? kNpu : kDma);
}

// False when that halted the ring.
bool FakePort::read_head(Device q, std::uint32_t ring, arch::QueueEntry& entry) {
  arch::RegisterFile& file = devices_[q];
  const std::uint64_t index = file.get(ring_at(queue::kRing0Head, ring)) &
                              (file.get(ring_at(queue::kRing0Entries, ring)) - 1);
  const std::uint64_t base = file.get(ring_at(queue::kRing0BaseLo, ring)) |
                             std::uint64_t{file.get(ring_at(queue::kRing0BaseHi, ring))} << 32;
  std::array<std::uint32_t, arch::kQueueEntryBytes / 4> words{};
  const std::uint64_t address = base + index * arch::kQueueEntryBytes;
  const std::uint8_t* bytes = at(address, arch::kQueueEntryBytes);
  if (!bytes) return halt(q, ring, static_cast<std::uint32_t>(RingCause::kBus), 0, address), false;
  std::memcpy(words.data(), bytes, arch::kQueueEntryBytes);
  entry = arch::unpack<arch::QueueEntry>(words);
  if (arch::first_bad_field(entry))
    return halt(q, ring, static_cast<std::uint32_t>(RingCause::kBadEntry), 0, address), false;
  return true;
}

// A fence of one queue may be what the other waits for.
void FakePort::run_queues() {
  for (bool moved = true; moved;) {
    moved = false;
    for (const Device q : {kNpuQueue, kDmaQueue}) moved = run_queue(q) || moved;
  }
}

bool FakePort::run_queue(Device q) {
  bool ever = false;
  for (bool moved = true; moved; ever = ever || moved) {
    moved = false;
    // The highest priority; equals from the ring after the one that had the engine last.
    const std::uint32_t last = last_ring_.contains(q) ? last_ring_.at(q) : arch::kRings - 1;
    std::array<std::uint32_t, arch::kRings> order;
    for (std::uint32_t i = 0; i < arch::kRings; ++i) order[i] = (last + 1 + i) % arch::kRings;
    std::ranges::stable_sort(order, std::greater{}, [&](std::uint32_t ring) {
      return devices_[q].get(ring_at(queue::kRing0Config, ring)) >> 4 & 3;
    });
    for (const std::uint32_t ring : order) moved = run_head(q, ring) || moved;
  }
  return ever;
}

// True when the head entry is over.
bool FakePort::run_head(Device q, std::uint32_t ring) {
  arch::RegisterFile& file = devices_[q];
  const auto state = static_cast<RingState>(file.get(ring_at(queue::kRing0Status, ring)) & 7);
  if (state != RingState::kIdle && state != RingState::kWaiting) return false;
  const bool empty =
      file.get(ring_at(queue::kRing0Head, ring)) == file.get(ring_at(queue::kRing0Tail, ring));
  file.set(ring_at(queue::kRing0Status, ring),
           static_cast<std::uint32_t>(empty ? RingState::kIdle : RingState::kWaiting));
  if (empty) return false;
  arch::QueueEntry entry;
  if (!read_head(q, ring, entry)) return true;
  bool reached = true;
  for (const arch::TimelinePoint& point : entry.wait) {
    if (!point.used || timelines_[point.timeline].value >= point.value) continue;
    if (timelines_[point.timeline].failure != 0) {
      end_entry(q, ring, entry, false, static_cast<std::uint32_t>(SyncFailure::kUpstream));
      return true;
    }
    reached = false;
  }
  if (!reached) return false;
  if (entry.kind == static_cast<std::uint8_t>(arch::EntryKind::kFence)) {
    end_entry(q, ring, entry, true, 0);
    return true;
  }
  if (!running_.contains(q)) start_job(q, ring, entry);
  return false;
}

void FakePort::start_job(Device q, std::uint32_t ring, const arch::QueueEntry& entry) {
  running_.insert_or_assign(q, Running{ring, entry});
  last_ring_[q] = ring;
  devices_[q].set(ring_at(queue::kRing0Status, ring),
                  static_cast<std::uint32_t>(RingState::kRunning));
  devices_[q].set(queue::kStatus, ring + 1);
  const bool npu = q == kNpuQueue;
  const Device engine = npu ? kNpu : kDma;
  arch::RegisterFile& file = devices_[engine];
  const auto set64 = [&](std::uint32_t offset, std::uint64_t value) {
    file.set(offset, static_cast<std::uint32_t>(value));
    file.set(offset + 4, static_cast<std::uint32_t>(value >> 32));
  };
  if (npu) {
    set64(arch::npu_reg::kQBaseLo, entry.address);
    file.set(arch::npu_reg::kQSize, entry.bytes);
    for (std::uint32_t r = 0; r < arch::kRegionCount; ++r) {
      set64(arch::npu_reg::kBase0Lo + 8 * r, entry.region_base[r]);
      file.set(arch::npu_reg::kSize0 + 4 * r, entry.region_bytes[r]);
    }
  } else {
    set64(arch::dma_reg::kDescLo, entry.address);
  }
  file.set(npu ? arch::npu_reg::kStatus : arch::dma_reg::kStatus, arch::kStatusRunning);
  if (const auto hook = hooks_.find({engine, npu ? arch::npu_reg::kCmd : arch::dma_reg::kCmd});
      hook != hooks_.end())
    hook->second(1);
}

// False when the engine's job did not come from a ring.
bool FakePort::end_job(Device engine, std::uint32_t error) {
  const Device q = engine == kNpu ? kNpuQueue : kDmaQueue;
  if (!running_.contains(q)) return false;
  const Running job = running_.at(q);
  running_.erase(q);
  devices_[q].set(queue::kStatus, 0);
  devices_[engine].set(engine == kNpu ? arch::npu_reg::kStatus : arch::dma_reg::kStatus,
                       error == 0 ? arch::kStatusDone : arch::kStatusError | error << 8);
  const std::uint32_t info =
      engine == kNpu ? devices_[kNpu].get(arch::npu_reg::kErrInfo) & 0xFFFFFF : 0;
  if (error == 0)
    end_entry(q, job.ring, job.entry, true, 0);
  else if (job.entry.fail_fast)
    end_entry(q, job.ring, job.entry, false, static_cast<std::uint32_t>(SyncFailure::kJobFailed));
  else
    halt(q, job.ring, static_cast<std::uint32_t>(RingCause::kEngineFault), info | error << 24,
         devices_[engine].get(engine == kNpu ? arch::npu_reg::kErrAddrLo
                                             : arch::dma_reg::kErrAddrLo));
  run_queues();
  return true;
}

void FakePort::end_entry(Device q, std::uint32_t ring, const arch::QueueEntry& entry, bool success,
                         std::uint32_t failure) {
  arch::RegisterFile& file = devices_[q];
  file.set(ring_at(queue::kRing0Head, ring), file.get(ring_at(queue::kRing0Head, ring)) + 1);
  file.set(ring_at(queue::kRing0Status, ring), static_cast<std::uint32_t>(RingState::kWaiting));
  for (const arch::TimelinePoint& point : entry.signal)
    if (point.used) success ? signal(point.timeline, point.value) : fail(point.timeline, failure);
  if (entry.irq) file.set(queue::kIrqStatus, file.get(queue::kIrqStatus) | 1u << ring);
}

void FakePort::halt(Device q, std::uint32_t ring, std::uint32_t cause, std::uint32_t info,
                    std::uint64_t address) {
  arch::RegisterFile& file = devices_[q];
  file.set(ring_at(queue::kRing0Status, ring),
           static_cast<std::uint32_t>(RingState::kHalted) | cause << 8);
  file.set(ring_at(queue::kRing0ErrInfo, ring), info);
  file.set(ring_at(queue::kRing0ErrAddrLo, ring), static_cast<std::uint32_t>(address));
  file.set(ring_at(queue::kRing0ErrAddrHi, ring), static_cast<std::uint32_t>(address >> 32));
  file.set(queue::kIrqStatus, file.get(queue::kIrqStatus) | 1u << (8 + ring));
}

}  // namespace deputy::host_runtime
