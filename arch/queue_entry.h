// An entry of a queue manager's ring: one job with what it waits for and what it signals. Entries
// lie in shared memory as packed little-endian words (bitpack.h), padded with zeros to
// kQueueEntryBytes.
//
// The queue manager takes the entries of a ring in order. Entry by entry it waits until every
// timeline of `wait` has reached its value, gives the job to the engine when no ring of higher
// priority has one ready (equal priorities take turns), signals every timeline of `signal` when the
// job's last byte is in memory, and moves HEAD. When a timeline it waits for fails, the job is not
// run and its own signals fail.
#pragma once

#include <cstdint>

#include "arch/bitpack.h"
#include "arch/isa.h"
#include "base/fields.h"

namespace deputy::arch {

inline constexpr std::uint32_t kQueueEntryBytes = 256;
inline constexpr int kEntryWaits = 4, kEntrySignals = 2;

enum class EntryKind : std::uint8_t {
  kFence = 0,  ///< waits and signals, no work
  kJob = 1,    ///< NPU: a command stream at `address`; DMA: a descriptor chain; DSP: a list of
               ///< commands (dsp_job.h)
};

/// A point on a timeline; unused when `used` is 0.
struct TimelinePoint {
  std::uint8_t used = 0, timeline = 0;
  std::uint64_t value = 0;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.used, Field{.name = "used", .doc = "1: this point counts", .bits = 1});
    v(s.timeline, Field{.name = "timeline", .doc = "which timeline", .bits = 8, .max = 15});
    // All 64 bits count; first_bad_field() reads a field's value as signed.
    v(s.value, Field{.name = "value",
                     .doc = "value to reach or to set",
                     .bits = 64,
                     .is_signed = true,
                     .min = -9.3e18,
                     .max = 9.3e18});
  }
};

struct QueueEntry {
  std::uint8_t kind = 0, irq = 0, fail_fast = 0;
  std::uint32_t job = 0, bytes = 0;
  std::uint64_t address = 0;
  TimelinePoint wait[kEntryWaits], signal[kEntrySignals];
  std::uint64_t region_base[kRegionCount] = {};
  std::uint32_t region_bytes[kRegionCount] = {};
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.kind, Field{.name = "kind", .doc = "0 fence only, 1 job", .bits = 4, .max = 1});
    v(s.irq,
      Field{.name = "irq", .doc = "1: set IRQ_STATUS of the ring when it has finished", .bits = 1});
    v(s.fail_fast, Field{.name = "fail_fast",
                         .doc = "1: a fault fails the signals at once instead of halting the ring",
                         .bits = 1});
    v(s.job, Field{.name = "job", .doc = "the driver's number of the job", .bits = 32});
    v(s.bytes, Field{.name = "bytes",
                     .doc = "length of the command stream or list",
                     .unit = "bytes",
                     .bits = 32});
    v(s.address,
      Field{.name = "address", .doc = "command stream, list or first descriptor", .bits = 48});
    for (auto& point : s.wait) TimelinePoint::fields(point, v);
    for (auto& point : s.signal) TimelinePoint::fields(point, v);
    for (auto& base : s.region_base)
      v(base, Field{.name = "region_base", .doc = "base of a region (NPU, DSP)", .bits = 48});
    for (auto& bytes : s.region_bytes)
      v(bytes,
        Field{.name = "region_bytes", .doc = "its length (NPU, DSP)", .unit = "bytes", .bits = 32});
  }
};

/// A level of an IOMMU page table is kPageTableEntries 32-bit entries, 4 KiB aligned; two levels
/// translate 32 bits: 31:22 index the first, 21:12 the second. Entry: 31:12 address, bit 1 writable
/// (second level), bit 0 valid.
inline constexpr std::uint32_t kPageBytes = 4096, kPageTableEntries = 1024;
inline constexpr std::uint32_t kPageValid = 1, kPageWritable = 2;

}  // namespace deputy::arch
