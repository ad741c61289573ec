// Who wrote each cache line of shared memory last, so that exactly the needed cache maintenance is
// done: a line the CPU wrote is cleaned before an engine reads or overwrites it (a later eviction
// would undo the engine's write), a line an engine wrote is invalidated before the CPU reads it or
// writes a part of it.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "deputy/hw_port.h"

namespace deputy::host_runtime {

inline constexpr std::uint64_t kCacheLine =
    64;  ///< the largest line of a host this runtime supports

class Coherence {
 public:
  /// `port` must outlive this. All calls may take time, for the maintenance.
  explicit Coherence(HwPort& port) : port_(port) {}

  void before_cpu_read(std::uint64_t address, std::uint64_t bytes);
  void before_cpu_write(std::uint64_t address, std::uint64_t bytes);
  /// Before a job that reads or writes these bytes.
  void before_engine(std::uint64_t address, std::uint64_t bytes);
  /// After a job that may have written these bytes.
  void after_engine_write(std::uint64_t address, std::uint64_t bytes);

  /// The CPU sees these whole lines past its cache, until take_uncached() with the same: nothing is
  /// to be maintained there. Lines that it still holds from another mapping are settled now.
  void add_uncached(std::uint64_t address, std::uint64_t bytes);
  void take_uncached(std::uint64_t address, std::uint64_t bytes);

 private:
  enum class State : std::uint8_t { kCpuWrote, kEngineWrote };
  struct Range {
    std::uint64_t end;
    State state;
  };
  /// Maintains the lines of [begin, end) in `state` and forgets them.
  void settle(std::uint64_t begin, std::uint64_t end, State state);
  void set(std::uint64_t begin, std::uint64_t end, State state);
  /// The parts of [begin, end) that the CPU caches.
  template <class Visit>
  void each_cached(std::uint64_t begin, std::uint64_t end, Visit visit) const;
  void settle_cached(std::uint64_t begin, std::uint64_t end, State state);
  /// Makes no range cross `address`.
  void split(std::uint64_t address);

  HwPort& port_;
  std::map<std::uint64_t, Range>
      ranges_;  ///< by begin; whole lines, disjoint; a line in none is clean
  std::vector<std::pair<std::uint64_t, std::uint64_t>> uncached_;  ///< begin and end; may overlap
};

}  // namespace deputy::host_runtime
