#include "host_runtime/runtime/coherence.h"

#include <algorithm>

#include "base/check.h"

namespace deputy::host_runtime {
namespace {
std::uint64_t line_begin(std::uint64_t address) { return address / kCacheLine * kCacheLine; }
std::uint64_t line_end(std::uint64_t address) { return line_begin(address + kCacheLine - 1); }
}  // namespace

void Coherence::before_cpu_read(std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0) return;
  settle(line_begin(address), line_end(address + bytes), State::kEngineWrote);
  port_.announce({address, bytes, false});
}

void Coherence::before_cpu_write(std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0) return;
  const std::uint64_t begin = line_begin(address), end = line_end(address + bytes);
  // Only the lines at the edges keep bytes from before.
  if (begin != address) settle(begin, begin + kCacheLine, State::kEngineWrote);
  if (end != address + bytes) settle(end - kCacheLine, end, State::kEngineWrote);
  set(begin, end, State::kCpuWrote);
  port_.announce({address, bytes, true});
}

void Coherence::before_engine(std::uint64_t address, std::uint64_t bytes) {
  if (bytes != 0) settle(line_begin(address), line_end(address + bytes), State::kCpuWrote);
}

void Coherence::after_engine_write(std::uint64_t address, std::uint64_t bytes) {
  if (bytes != 0) set(line_begin(address), line_end(address + bytes), State::kEngineWrote);
}

void Coherence::add_uncached(std::uint64_t address, std::uint64_t bytes) {
  settle(address, address + bytes, State::kCpuWrote);
  settle(address, address + bytes, State::kEngineWrote);
  uncached_.emplace_back(address, address + bytes);
}

void Coherence::take_uncached(std::uint64_t address, std::uint64_t bytes) {
  const auto it = std::ranges::find(uncached_, std::pair(address, address + bytes));
  DEPUTY_CHECK(it != uncached_.end(), "uncached memory that was never added");
  uncached_.erase(it);
}

template <class Visit>
void Coherence::each_cached(std::uint64_t begin, std::uint64_t end, Visit visit) const {
  while (begin < end) {
    // Cached as far as `stop`, and perhaps again from `next`.
    std::uint64_t stop = end, next = end;
    for (const auto& [from, to] : uncached_)
      if (to > begin && from < stop) stop = std::max(from, begin), next = to;
    if (begin < stop) visit(begin, stop);
    begin = next;
  }
}

void Coherence::split(std::uint64_t address) {
  auto range = ranges_.lower_bound(address);
  if (range == ranges_.begin()) return;
  --range;
  if (range->second.end <= address) return;
  const Range upper = range->second;
  range->second.end = address;
  ranges_.emplace(address, upper);
}

void Coherence::settle(std::uint64_t begin, std::uint64_t end, State state) {
  each_cached(begin, end,
              [&](std::uint64_t from, std::uint64_t to) { settle_cached(from, to, state); });
}

void Coherence::settle_cached(std::uint64_t begin, std::uint64_t end, State state) {
  split(begin);
  split(end);
  for (auto range = ranges_.lower_bound(begin); range != ranges_.end() && range->first < end;) {
    if (range->second.state != state) {
      ++range;
      continue;
    }
    // Neighbours are one block of maintenance.
    const std::uint64_t from = range->first;
    std::uint64_t to = from;
    while (range != ranges_.end() && range->first == to && range->first < end &&
           range->second.state == state) {
      to = range->second.end;
      range = ranges_.erase(range);
    }
    state == State::kCpuWrote ? port_.clean(from, to - from) : port_.invalidate(from, to - from);
  }
}

void Coherence::set(std::uint64_t begin, std::uint64_t end, State state) {
  each_cached(begin, end, [&](std::uint64_t from, std::uint64_t to) {
    split(from);
    split(to);
    ranges_.erase(ranges_.lower_bound(from), ranges_.lower_bound(to));
    ranges_[from] = {to, state};
  });
}

}  // namespace deputy::host_runtime
