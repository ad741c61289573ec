// Constants that are copied from DRAM into free room of the fast arena before they are needed:
// while the DRAM has nothing else to do, piece by piece through a small buffer in the scratchpad.
// Their LOADs then read SRAM. This keeps the books of what is copied and where; the emitter decides
// when (emit_stream.h).
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "arch/isa.h"
#include "delegate/schedule/fast_room.h"
#include "delegate/schedule/section.h"

namespace deputy::delegate {

/// Contiguous bytes of the constants, as one instruction loads them.
struct ConstantRange {
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
  auto operator<=>(const ConstantRange&) const = default;
};
/// What a LOAD or LOADW reads of the constants; nullopt for other instructions and for strided
/// LOADs.
std::optional<ConstantRange> constant_range(const arch::Operation& op);

class Staging {
 public:
  /// `sections`: the program. `worth`: what may be copied.
  Staging(const std::vector<Section>& sections, FastRoom room,
          const std::set<ConstantRange>& worth);

  /// The next piece to copy when the program has come to instruction `at`; nullopt when nothing is
  /// worth it or fits.
  struct Piece {
    std::size_t item = 0;
    std::uint64_t from = 0, to = 0;  ///< in the constants, in the fast arena
    std::uint32_t bytes = 0;         ///< all that is left of the item; whoever copies may take less
    std::uint16_t tag = 0;
  };
  std::optional<Piece> next(std::size_t at);
  /// The piece that follows of an item being copied.
  std::optional<Piece> rest(std::size_t item) const;
  void sent(const Piece& piece);  ///< its LOAD has been emitted

  /// The item that instruction `at` loads, if it is one.
  std::optional<std::size_t> item_of(std::size_t at) const;
  bool copying(std::size_t item) const { return items_[item].state == State::kCopying; }
  /// Whether the item lies in the fast arena when instruction `at` loads it.
  bool staged(std::size_t item, std::size_t at) const {
    return items_[item].state == State::kStaged && at <= items_[item].until;
  }
  const ConstantRange& range(std::size_t item) const { return items_[item].range; }
  std::uint64_t place(std::size_t item) const { return items_[item].place; }
  /// Instruction `at`, a LOAD of the item, has been emitted.
  void loaded(std::size_t at) { loaded_.insert(at); }
  /// The item will not be copied to its end.
  void give_up(std::size_t item);
  std::uint64_t top() const { return room_.top(); }

 private:
  enum class State : std::uint8_t { kOutside, kCopying, kStaged };
  struct Item {
    ConstantRange range;
    std::uint16_t tag = 0;
    std::vector<std::size_t> uses;  // instructions, ascending
    State state = State::kOutside;
    std::uint64_t place = 0;
    std::uint32_t sent = 0;
    std::size_t until = 0;  // the last use that finds it
  };
  bool start(Item& item, std::size_t at, std::size_t use);

  FastRoom room_;
  std::vector<Item> items_;
  std::map<std::size_t, std::size_t> item_of_;  // by instruction
  std::set<std::size_t> loaded_;
  std::optional<std::size_t> current_;
};

}  // namespace deputy::delegate
