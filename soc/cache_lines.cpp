#include "soc/cache_lines.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"

namespace deputy::soc {

template <class T>
CacheLines::Lazy<T> CacheLines::lazy(std::uint64_t count) {
  Lazy<T> out(static_cast<T*>(std::calloc(count, sizeof(T))));
  DEPUTY_CHECK(out, "out of memory for the caches of a simulated memory");
  return out;
}

CacheLines::CacheLines(Memory& memory, std::uint64_t line_bytes, bool bytes)
    : memory_(memory), base_(memory.base()), line_bytes_(line_bytes) {
  if (bytes) view_ = lazy<std::uint8_t>(memory.bytes()), old_ = lazy<std::uint8_t>(memory.bytes());
  dirty_ = lazy<std::uint64_t>(lines() / 64 + 1);
  stale_ = lazy<std::uint64_t>(lines() / 64 + 1);
  writer_ = lazy<std::uint64_t>(lines());
}

std::uint64_t CacheLines::end(std::uint64_t line) const {
  return std::min(base_ + (line + 1) * line_bytes_, base_ + memory_.bytes());
}

bool CacheLines::any(const Lazy<std::uint64_t>& flags, std::uint64_t first, std::uint64_t last) {
  const std::uint64_t head = ~std::uint64_t{0} << first % 64,
                      tail = ~std::uint64_t{0} >> (63 - last % 64);
  std::uint64_t word = first / 64;
  if (word == last / 64) return (flags[word] & head & tail) != 0;
  if ((flags[word] & head) != 0 || (flags[last / 64] & tail) != 0) return true;
  while (++word < last / 64)
    if (flags[word] != 0) return true;
  return false;
}

std::uint64_t CacheLines::any_of_dirty(std::uint64_t number) const {
  const std::uint64_t words = (lines() + 63) / 64;
  std::uint64_t all = 0;
  for (std::uint64_t i = 0; i < words; ++i)
    all += static_cast<std::uint64_t>(std::popcount(dirty_[i]));
  if (all == 0) return lines();
  std::uint64_t before = number % all, i = 0;
  for (; before >= static_cast<std::uint64_t>(std::popcount(dirty_[i])); ++i)
    before -= static_cast<std::uint64_t>(std::popcount(dirty_[i]));
  std::uint64_t word = dirty_[i];
  while (before-- > 0) word &= word - 1;
  return i * 64 + static_cast<std::uint64_t>(std::countr_zero(word));
}

bool CacheLines::changed(std::uint64_t line, std::uint64_t from, std::uint64_t to) const {
  if (!stale(line)) return changed_fresh(from, to);
  return view_ &&
         std::memcmp(view_.get() + (from - base_), old_.get() + (from - base_), to - from) != 0;
}

bool CacheLines::changed_fresh(std::uint64_t from, std::uint64_t to) const {
  return view_ &&
         std::memcmp(view_.get() + (from - base_), memory_.host_pointer(from), to - from) != 0;
}

bool CacheLines::keeps_old(std::uint64_t line) const {
  if (!view_) return false;
  const std::uint8_t* memory = memory_.host_pointer(base_);
  for (std::uint64_t i = address(line) - base_; i < end(line) - base_; ++i)
    if (view_[i] == old_[i] && memory[i] != old_[i]) return true;
  return false;
}

void CacheLines::make_stale(std::uint64_t line) {
  if (stale(line)) return;
  stale_[line / 64] |= bit(line);
  const std::uint64_t at = address(line);
  if (view_) std::memcpy(old_.get() + (at - base_), memory_.host_pointer(at), end(line) - at);
}

void CacheLines::settled(std::uint64_t line) {
  dirty_[line / 64] &= ~bit(line);
  stale_[line / 64] &= ~bit(line);
}

void CacheLines::write_back(std::uint64_t line) {
  const std::uint64_t at = address(line);
  if (view_) std::memcpy(memory_.host_pointer(at), view_.get() + (at - base_), end(line) - at);
  settled(line);
}

void CacheLines::reload(std::uint64_t line) {
  const std::uint64_t at = address(line);
  if (view_) std::memcpy(view_.get() + (at - base_), memory_.host_pointer(at), end(line) - at);
  settled(line);
}

void CacheLines::write_back_fresh(std::uint64_t first, std::uint64_t last) {
  const std::uint64_t at = address(first);
  if (view_) std::memcpy(memory_.host_pointer(at), view_.get() + (at - base_), end(last) - at);
  if (!any_dirty(first, last)) return;
  for (std::uint64_t l = first; l <= last; ++l) settled(l);
}

void CacheLines::zero(std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0) return;
  std::memset(memory_.host_pointer(address), 0, bytes);
  agree(address, bytes);
  for (std::uint64_t l = line(address); l <= line(address + bytes - 1); ++l)
    if (this->address(l) >= address && end(l) <= address + bytes) settled(l), writer_[l] = 0;
}

// Only the edges can be of lines that stay stale, but old bytes matter to no other line.
void CacheLines::agree(std::uint64_t address, std::uint64_t bytes) {
  if (!view_ || bytes == 0) return;
  std::memcpy(view_.get() + (address - base_), memory_.host_pointer(address), bytes);
  for (std::uint64_t l = line(address); l <= line(address + bytes - 1); ++l) {
    if (!stale(l)) continue;
    const std::uint64_t from = std::max(address, this->address(l)),
                        to = std::min(address + bytes, end(l));
    std::memcpy(old_.get() + (from - base_), memory_.host_pointer(from), to - from);
  }
}

}  // namespace deputy::soc
