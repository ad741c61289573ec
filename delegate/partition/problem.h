// Placement as a problem of its own, free of graphs and engines: operators that each engine runs at
// a cost or not at all, values that cost something when they change engines, launches. Every cost
// is a whole number of one unit that the caller chooses (the compiler: picoseconds), so that no
// decision hangs on rounding.
//
// A partition (group) is a set of operators that one engine runs in one go. Groups run one after
// the other. An operator's group is at or after those of its producers and a group holds operators
// of one engine only, so the graph of groups cannot have a cycle.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace deputy::delegate {

using Cost = std::int64_t;
inline constexpr Cost kNotPossible = -1;

/// Engines are numbers from 0. Engine 0 is the host: it brings the graph's inputs, reads its
/// outputs, and the limits on partitions do not bind it.
inline constexpr std::size_t kHost = 0;
/// The compiler's other two.
inline constexpr std::size_t kNpu = 1, kDsp = 2;
inline constexpr std::size_t kMaxEngines = 3;
template <class T>
using PerEngine = std::array<T, kMaxEngines>;

struct PartitionOp {
  PerEngine<Cost> cost{kNotPossible, kNotPossible, kNotPossible};
  bool alias = false;  ///< runs nowhere: what it makes is what it reads, under another name; `cost`
                       ///< is not read
};

/// Data between operators. It is paid for once on every engine other than its producer's that reads
/// it.
struct PartitionValue {
  static constexpr std::size_t kOutside = std::numeric_limits<std::size_t>::max();
  std::size_t producer = kOutside;  ///< an operator, or kOutside: the host has it from the start
  std::vector<std::size_t>
      consumers;              ///< operators, all after the producer; an operator at most once
  bool read_outside = false;  ///< the host reads it at the end
  std::int64_t bytes = 0;
  PerEngine<Cost>
      conversion{};  ///< of its representation to that engine's, when it comes from another
};

/// Two operators that cost less when one group of `engine` runs both: the second is fused into the
/// first.
struct PartitionJoin {
  std::size_t a = 0, b = 0, engine = kHost;
  Cost saving = 0;
};

struct PartitionLimits {
  std::size_t min_ops = 1;  ///< operators, aliases not counted, in a partition off the host
  std::size_t max_partitions = std::numeric_limits<std::size_t>::max();  ///< off the host, together
};

struct PartitionProblem {
  std::size_t engines = 2;
  std::vector<PartitionOp> ops;  ///< in an order in which they could run
  std::vector<PartitionValue> values;
  std::vector<PartitionJoin> joins;
  PerEngine<Cost> launch{};                     ///< of one partition
  PerEngine<PerEngine<Cost>> boundary_value{};  ///< [from][to], one value
  PerEngine<PerEngine<Cost>> boundary_byte{};   ///< [from][to], one byte of it
  /// Share of the time that two neighbouring groups could run side by side which they do: 0 for a
  /// runtime that waits for each step before it starts the next.
  std::int64_t overlap_percent = 0;
  PartitionLimits limits;
};

struct PartitionGroup {
  std::size_t engine = kHost;
  std::vector<std::size_t> ops;  ///< ascending, without aliases
};

/// What a partition costs, by component.
struct PartitionCost {
  PerEngine<Cost> compute{};
  Cost launch = 0, boundary = 0, conversion = 0;
  Cost joined = 0;      ///< saved by joins
  Cost overlapped = 0;  ///< saved by running side by side
  Cost total() const {
    Cost sum = launch + boundary + conversion - joined - overlapped;
    for (const Cost c : compute) sum += c;
    return sum;
  }
};

struct Partition {
  std::vector<std::size_t> engine;  ///< of every operator; kHost for aliases
  std::vector<PartitionGroup> groups;
  std::vector<std::size_t> order;  ///< all operators, aliases too, in execution order
  PartitionCost cost;
};

}  // namespace deputy::delegate
