#include "soc/host_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <systemc>

#include "base/check.h"
#include "sim/time.h"

namespace deputy::soc {
namespace {

constexpr std::size_t kInWords = 20;

std::uint64_t now_ps() { return sim::to_ps(sc_core::sc_time_stamp()); }
// A writer's mark: its id + 1 above (0: the host) and the time, which has room for 20 hours of
// simulated time.
std::uint64_t mark(std::uint64_t writer) { return now_ps() << 8 | (writer + 1); }
std::string microseconds(std::uint64_t ps) {
  return fmt::format("{}.{:06} us", ps / 1'000'000, ps % 1'000'000);
}

}  // namespace

HostCache::HostCache(const HostParams& config, Memory& sram, Memory& dram, bool functional)
    : sram_(sram, static_cast<std::uint64_t>(config.cache_line_bytes), functional),
      dram_(dram, static_cast<std::uint64_t>(config.cache_line_bytes), functional),
      evicts_(config.evict_seed != 0),
      random_(static_cast<std::uint32_t>(config.evict_seed)) {}

std::uint8_t* HostCache::allocated(std::uint64_t address, std::uint64_t bytes) {
  buffers_[address] = bytes;
  at(address).zero(address, bytes);
  return at(address).view(address);
}

// --- The CPU
// -------------------------------------------------------------------------------------------------

void HostCache::touch(const MemoryTouch& touch) {
  if (touch.bytes == 0) return;
  CacheLines& lines = at(touch.address);
  const std::uint64_t to = touch.address + touch.bytes;
  const std::uint64_t first = lines.line(touch.address), last = lines.line(to - 1);
  const bool stale = lines.any_stale(first, last);
  if (!touch.write && !stale) return;
  const std::uint64_t host = mark(0);
  for (std::uint64_t l = first; l <= last; ++l) {
    if (!touch.write) {
      // What it wrote itself it sees; that it shares the line was told when it wrote.
      if (lines.stale(l) && !lines.dirty(l)) report(kMissingInvalidate, lines, l, "host");
      continue;
    }
    if (stale && lines.stale(l)) {
      if (lines.address(l) >= touch.address && lines.end(l) <= to)
        lines.overwritten(l);
      else
        report(kFalseSharing, lines, l, "host");
    }
    lines.set_dirty(l);
    lines.set_writer(l, host);
  }
}

void HostCache::clean(std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0) return;
  CacheLines& lines = at(address);
  const std::uint64_t first = lines.line(address), last = lines.line(address + bytes - 1);
  if (!lines.any_stale(first, last)) return lines.write_back_fresh(first, last);
  for (std::uint64_t l = first; l <= last; ++l) {
    const bool told = lines.dirty(l);
    if (!told && !lines.changed(l, lines.address(l), lines.end(l))) continue;
    if (!told && lines.stale(l) && lines.keeps_old(l)) report(kFalseSharing, lines, l, "host");
    lines.write_back(l);
  }
}

void HostCache::invalidate(std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0) return;
  CacheLines& lines = at(address);
  for (std::uint64_t l = lines.line(address); l <= lines.line(address + bytes - 1); ++l) {
    if (lines.dirty(l) || lines.changed(l, lines.address(l), lines.end(l)))
      report(kLostWrite, lines, l, "host");
    lines.reload(l);
  }
}

// --- The other initiators
// ------------------------------------------------------------------------------------------

void HostCache::access(int id, const std::string& name, std::uint64_t address, std::uint64_t bytes,
                       bool write) {
  CacheLines& lines = at(address);
  if (evicts_) evict(lines);
  write ? this->write(id, name, lines, address, address + bytes)
        : read(name, lines, address, address + bytes);
}

void HostCache::read(const std::string& name, CacheLines& lines, std::uint64_t from,
                     std::uint64_t to) {
  const std::uint64_t first = lines.line(from), last = lines.line(to - 1);
  if (!lines.any_dirty(first, last) && !lines.any_stale(first, last) &&
      !lines.changed_fresh(from, to))
    return;
  for (std::uint64_t l = first; l <= last; ++l)
    if (lines.dirty(l) ||
        lines.changed(l, std::max(from, lines.address(l)), std::min(to, lines.end(l))))
      report(kMissingClean, lines, l, name);
}

void HostCache::write(int id, const std::string& name, CacheLines& lines, std::uint64_t from,
                      std::uint64_t to) {
  const auto index = static_cast<std::size_t>(id) + 1;
  DEPUTY_CHECK(index < 255, "more initiators than a writer's mark can name");
  if (names_.size() <= index) names_.resize(index + 1);
  if (names_[index].empty()) names_[index] = name;
  const std::uint64_t writer = mark(index);
  for (std::uint64_t l = lines.line(from); l <= lines.line(to - 1); ++l) {
    const bool told = lines.dirty(l);
    if (told || lines.changed(l, lines.address(l), lines.end(l))) {
      report(kFalseSharing, lines, l, name);
      if (!told) lines.set_dirty(l);
    }
    lines.make_stale(l);
    lines.set_writer(l, writer);
  }
}

// Which lines a cache needs room for, and when, software cannot know: any dirty line may go at any
// time.
void HostCache::evict(CacheLines& lines) {
  constexpr std::uint64_t kOneIn = 4;
  if (random_() % kOneIn != 0) return;
  const std::uint64_t line = lines.any_of_dirty(random_());
  if (line < lines.lines()) lines.write_back(line);
}

// --- Reports
// -------------------------------------------------------------------------------------------------

std::string HostCache::place(const CacheLines& lines, std::uint64_t line) const {
  const std::uint64_t address = lines.address(line);
  const std::string text = fmt::format("line {:#x}", address);
  auto buffer =
      buffers_.lower_bound(lines.end(line));  // the last that begins before the line's end
  if (buffer == buffers_.begin()) return text + " of no buffer";
  --buffer;
  const auto& [base, bytes] = *buffer;
  if (base + bytes <= address) return text + " of no buffer";
  if (base > address)
    return fmt::format("{}, which holds the start of buffer {:#x} ({} bytes)", text, base, bytes);
  return fmt::format("{} at {:#x} + {} of {} bytes", text, base, address - base, bytes);
}

std::string HostCache::writer(const CacheLines& lines, std::uint64_t line, bool unannounced) const {
  if (unannounced) return "the host, by stores that it did not announce";
  const std::uint64_t last = lines.writer(line);
  if (last == 0) return "nobody";
  return fmt::format("{} at {}", names_[(last & 0xFF) - 1], microseconds(last >> 8));
}

void HostCache::report(Mistake mistake, const CacheLines& lines, std::uint64_t line,
                       const std::string& who) {
  if (!reported_.emplace(mistake, lines.address(line)).second) return;
  ++counts_[mistake];
  if (findings_.size() >= kInWords) return;
  constexpr std::pair<const char*, const char*> kWords[kMistakes] = {
      {"missing clean", "reads"},
      {"missing invalidate", "reads"},
      {"false sharing", "writes"},
      {"lost write", "invalidates"}};
  // A line that is not marked dirty, but looked it; the host's own part of false sharing names the
  // other.
  const bool unannounced = !lines.dirty(line) && mistake != kMissingInvalidate &&
                           !(mistake == kFalseSharing && who == "host");
  const auto& [name, verb] = kWords[mistake];
  findings_.push_back(fmt::format("{}: at {} {} {} {}; written last by {}", name,
                                  microseconds(now_ps()), who, verb, place(lines, line),
                                  writer(lines, line, unannounced)));
}

}  // namespace deputy::soc
