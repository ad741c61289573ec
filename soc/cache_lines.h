// What the CPU sees of one memory, cache line by cache line, beside what the memory holds.
//
// A line is dirty when the CPU has written it and nothing has taken it to the memory yet, stale
// when another initiator has written the memory since the CPU's view was taken. The view is as
// large as the memory, as if the cache held every line: what a real cache may still show, this one
// shows.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "soc/memory.h"

namespace deputy::soc {

class CacheLines {
 public:
  /// `bytes`: the view has bytes of its own; else the CPU's mapping is the memory itself, and there
  /// are flags only. `memory` must outlive this.
  CacheLines(Memory& memory, std::uint64_t line_bytes, bool bytes);

  bool holds(std::uint64_t address) const {
    return address >= base_ && address - base_ < memory_.bytes();
  }
  /// The CPU's mapping.
  std::uint8_t* view(std::uint64_t address) {
    return (view_ ? view_.get() : memory_.host_pointer(base_)) + (address - base_);
  }

  std::uint64_t line(std::uint64_t address) const { return (address - base_) / line_bytes_; }
  std::uint64_t lines() const { return line(base_ + memory_.bytes() - 1) + 1; }
  std::uint64_t address(std::uint64_t line) const { return base_ + line * line_bytes_; }
  std::uint64_t end(std::uint64_t line) const;  ///< its last byte's address + 1

  /// Flags of single lines, and whether any line of [first, last] has one.
  bool dirty(std::uint64_t line) const { return get(dirty_, line); }
  bool stale(std::uint64_t line) const { return get(stale_, line); }
  bool any_dirty(std::uint64_t first, std::uint64_t last) const { return any(dirty_, first, last); }
  bool any_stale(std::uint64_t first, std::uint64_t last) const { return any(stale_, first, last); }
  void set_dirty(std::uint64_t line) { dirty_[line / 64] |= bit(line); }
  /// The CPU has written the whole line: what the memory holds no longer matters to it.
  void overwritten(std::uint64_t line) { stale_[line / 64] &= ~bit(line); }
  /// One of the lines marked dirty, each as likely as another when `number` is; lines() if there
  /// are none.
  std::uint64_t any_of_dirty(std::uint64_t number) const;

  /// Who wrote the line last, and when: any number but 0; 0 when nobody has told.
  std::uint64_t writer(std::uint64_t line) const { return writer_[line]; }
  void set_writer(std::uint64_t line, std::uint64_t writer) { writer_[line] = writer; }

  /// Whether the CPU's view of [from, to) of one line is not what it last shared with the memory:
  /// stores that nobody announced. False without bytes.
  bool changed(std::uint64_t line, std::uint64_t from, std::uint64_t to) const;
  /// The same for lines of which none is stale.
  bool changed_fresh(std::uint64_t from, std::uint64_t to) const;
  /// Of a stale line: whether a byte that the other initiator changed is still the old one in the
  /// CPU's view.
  bool keeps_old(std::uint64_t line) const;

  /// Before the memory's bytes change: the view keeps the old ones.
  void make_stale(std::uint64_t line);
  /// The view becomes the memory's contents, or the reverse; the line is neither dirty nor stale
  /// then.
  void write_back(std::uint64_t line);
  void reload(std::uint64_t line);
  /// write_back() of lines of which none is stale.
  void write_back_fresh(std::uint64_t first, std::uint64_t last);
  /// Both become zero; lines wholly inside are neither dirty nor stale then, and nobody has written
  /// them.
  void zero(std::uint64_t address, std::uint64_t bytes);
  /// Both have these bytes of the memory, whatever else the line is.
  void agree(std::uint64_t address, std::uint64_t bytes);

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  template <class T>
  using Lazy = std::unique_ptr<T[], Free>;  ///< calloc: pages that nothing touches cost nothing
  template <class T>
  static Lazy<T> lazy(std::uint64_t count);

  static std::uint64_t bit(std::uint64_t line) { return std::uint64_t{1} << line % 64; }
  static bool get(const Lazy<std::uint64_t>& flags, std::uint64_t line) {
    return (flags[line / 64] & bit(line)) != 0;
  }
  static bool any(const Lazy<std::uint64_t>& flags, std::uint64_t first, std::uint64_t last);
  void settled(std::uint64_t line);

  Memory& memory_;
  std::uint64_t base_, line_bytes_;
  Lazy<std::uint8_t> view_;  ///< null: flags only
  Lazy<std::uint8_t> old_;   ///< of stale lines: what the CPU's view was when they became stale
  Lazy<std::uint64_t> dirty_, stale_;
  Lazy<std::uint64_t> writer_;
};

}  // namespace deputy::soc
