// What driver-level cases share: all drivers of one board, a block of memory, and small jobs whose
// results are known.
#pragma once

#include <catch2/catch.hpp>
#include <vector>

#include "arch/queue_entry.h"
#include "host_runtime/hal/npu_driver.h"
#include "host_runtime/hal/queue_driver.h"
#include "host_runtime/hal/sync_driver.h"
#include "tests/conformance/registry.h"

namespace deputy::conformance {

using Bytes = std::vector<std::uint8_t>;
constexpr std::uint64_t kUs = 1'000'000, kMs = 1'000 * kUs;
constexpr std::uint32_t kJobBytes = 256;

/// What an NPU job does to each byte: x * mul + add, mul odd. Two of them do not commute, so bytes
/// tell their order.
struct Affine {
  std::uint32_t mul = 3, add = 1;
  std::uint8_t operator()(std::uint8_t x) const { return static_cast<std::uint8_t>(x * mul + add); }
  Bytes operator()(Bytes bytes) const {
    for (auto& b : bytes) b = (*this)(b);
    return bytes;
  }
};
/// The 256-byte table that a LUT instruction needs for it.
Bytes lut_table(const Affine& f);
Bytes ramp(int start, std::size_t bytes = kJobBytes);
/// A stream: kJobBytes at `from` of region `in`, through the table at `table` of region `tables`,
/// to `to` of region `out`.
std::vector<std::uint32_t> map_stream(std::uint8_t tables, std::uint64_t table, std::uint8_t in,
                                      std::uint64_t from, std::uint8_t out, std::uint64_t to,
                                      std::uint16_t tag);

inline arch::TimelinePoint point(std::uint32_t timeline, std::uint64_t value) {
  return {1, static_cast<std::uint8_t>(timeline), value};
}
inline arch::QueueEntry fence_entry() { return {}; }
inline sim::FaultPlan faults(std::initializer_list<sim::Fault> list) { return {list}; }

class Rig {
 public:
  explicit Rig(HwPort& port);
  ~Rig() { port.free(memory); }

  void put(std::uint64_t offset, const Bytes& bytes);
  Bytes get(std::uint64_t offset, std::size_t bytes = kJobBytes);
  /// memory[to] = f(memory[from]), kJobBytes each.
  arch::QueueEntry npu_job(std::uint64_t from, std::uint64_t to, const Affine& f);
  /// A job that leaves its region at the store and is refused there.
  arch::QueueEntry bad_npu_job(std::uint64_t from);
  arch::QueueEntry dma_job(std::uint64_t from, std::uint64_t to, std::uint32_t bytes = kJobBytes);
  /// A copy to where nobody is.
  arch::QueueEntry bad_dma_job(std::uint64_t from);
  /// Sleeps until the timeline reaches the value (true) or fails or `limit_ps` has passed (false).
  bool wait(std::uint32_t timeline, std::uint64_t value, std::uint64_t limit_ps = 10 * kMs);
  void rest(std::uint64_t ps) { port.sleep_until(port.now_ps() + ps); }
  /// Until the ring has halted; false after 10 ms.
  bool halted(host_runtime::QueueDriver& queue, std::uint32_t ring);
  std::uint32_t pending() { return port.read32(arch::kIntcBase + arch::intc_reg::kPending); }

  HwPort& port;
  host_runtime::IntcDriver intc;
  host_runtime::SyncDriver sync;
  host_runtime::QueueDriver npu, dma;
  SharedMemory memory;

 private:
  std::uint64_t place(const std::vector<std::uint32_t>& words);
  std::uint64_t next_ = 0x40000;  ///< streams, tables and descriptors go behind the data
};

/// Runs `program` on a fresh board with its drivers ready.
void on_rig(PortUnderTest& board, const sim::FaultPlan& faults,
            const std::function<void(Rig&)>& program);
inline void on_rig(PortUnderTest& board, const std::function<void(Rig&)>& program) {
  on_rig(board, {}, program);
}

}  // namespace deputy::conformance
