// What the checkers of the memory plan know: every byte that an operator computes has a number of
// its own, and for every tensor it is known which numbers must lie at which addresses. Derived from
// the graph and the views alone; shares nothing with the planners.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arch/executable.h"
#include "arch/isa.h"
#include "delegate/codegen/views.h"
#include "delegate/fusion/kernel.h"
#include "delegate/ir/graph.h"

namespace deputy::delegate {

/// A stretch of a region: byte address + i holds the byte of number `number` + i.
struct Piece {
  std::uint64_t address = 0;
  std::uint32_t number = 0;  ///< modulo 2^32
  std::uint64_t bytes = 0;
};

class TensorBytes {
 public:
  /// Bytes begin, begin + 1, ... of a tensor in C order belong to value, value + 1, ...
  struct Run {
    std::uint64_t begin = 0, value = 0, bytes = 0;
  };
  using Runs = std::vector<Run>;  // by begin

  /// All arguments must outlive this.
  TensorBytes(const Graph& graph, const std::vector<TensorView>& views,
              const std::vector<Action>& actions);

  /// Where the bytes of a stored tensor must be; not ordered. Of a ring: the ring's bytes, numbered
  /// in their first lap.
  std::vector<Piece> pieces(TensorId id) const;
  /// Those of them that the tensor's operator computes itself: all, or none where it is an alias or
  /// a view, or those that a CONCATENATION does not find in their place.
  std::vector<Piece> computed(TensorId id) const;

  /// The numbers of a tensor's bytes, in C order.
  const Runs& numbers(TensorId id) const;
  /// The tensor that a number was given to; kNoTensor for 0.
  TensorId owner_id(std::uint32_t number) const;

  /// The operator that computes a tensor or -1; whether some action runs it.
  std::ptrdiff_t producer(TensorId id) const { return producer_[index(id)]; }
  bool runs(std::size_t op) const { return action_of_[op] >= 0; }
  std::ptrdiff_t action_of(std::size_t op) const { return action_of_[op]; }
  /// Whether any byte of the tensor is computed by this action.
  bool computed_in(TensorId id, std::ptrdiff_t action) const;

  bool in_arena(TensorId id) const;
  arch::Region region(TensorId id) const { return view(id).at.region; }
  const TensorView& view(TensorId id) const { return views_[index(id)]; }
  std::uint32_t first_number(TensorId id) const {
    return static_cast<std::uint32_t>(first_[index(id)]);
  }
  /// The tensor a number belongs to, as text.
  std::string owner(std::uint32_t number) const;

 private:
  static std::size_t index(TensorId id) { return static_cast<std::size_t>(id); }
  Runs addresses(TensorId id) const;
  Runs inherited(TensorId id, const Op& op, bool runs) const;
  template <class Visit>
  static void overlaps(const Runs& runs, std::uint64_t begin, std::uint64_t bytes, Visit&& visit);
  static void add_copied(Runs& out, const Runs& from, std::uint64_t from_begin,
                         std::uint64_t to_begin, std::uint64_t bytes);
  bool is_own(TensorId id, std::uint32_t number) const;
  bool share_bytes(TensorId a, TensorId b) const;

  const Graph& graph_;
  const std::vector<TensorView>& views_;
  std::vector<std::uint64_t> first_;                  // by tensor: its first number
  std::vector<std::ptrdiff_t> producer_;              // by tensor
  std::vector<std::ptrdiff_t> action_of_;             // by operator; -1: no work
  mutable std::vector<std::optional<Runs>> numbers_;  // by tensor, when first asked for
};

/// Whose byte lies at every address of the arenas and external regions.
class ByteOwners {
 public:
  explicit ByteOwners(const arch::Executable& executable);
  /// False when the piece leaves its region.
  bool write(arch::Region region, const Piece& piece);
  /// The bytes, inside the region, are nobody's any more.
  void forget(arch::Region region, std::uint64_t address, std::uint64_t bytes);
  /// The number at the first byte that differs from the piece's, or nullopt.
  std::optional<std::uint32_t> differs(arch::Region region, const Piece& piece) const;
  bool inside(arch::Region region, std::uint64_t address, std::uint64_t bytes) const;
  std::uint32_t at(arch::Region region, std::uint64_t address) const {
    return numbers_[index(region)][address];
  }

 private:
  static std::size_t index(arch::Region region) { return static_cast<std::size_t>(region); }
  std::array<std::vector<std::uint32_t>, arch::kRegionCount> numbers_;  // 0: nobody's
};

}  // namespace deputy::delegate
