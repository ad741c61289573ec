// The CPU's cache, which is not coherent with the other initiators unless software cleans and
// invalidates: what is forgotten shows as wrong bytes, and is found here. See docs/coherence.md.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "deputy/hw_port.h"
#include "soc/cache_lines.h"
#include "soc/memory.h"
#include "soc/soc_config.h"

namespace deputy::soc {

class HostCache {
 public:
  enum Mistake : std::uint8_t {
    kMissingClean,       ///< another initiator reads a line that the CPU has written
    kMissingInvalidate,  ///< the CPU reads a line that another initiator has written
    kFalseSharing,       ///< both write one line: what is evicted or cleaned last wins
    kLostWrite,          ///< an invalidate discards what the CPU has written
    kMistakes
  };

  /// The memories must outlive this. Not `functional`: flags only, the CPU's mapping is the memory.
  HostCache(const HostParams& config, Memory& sram, Memory& dram, bool functional);

  /// A buffer for reports, zeroed for everybody; answers the CPU's mapping.
  std::uint8_t* allocated(std::uint64_t address, std::uint64_t bytes);
  void freed(std::uint64_t address) { buffers_.erase(address); }

  // What the CPU does. All ranges lie in one memory.
  void touch(const MemoryTouch& touch);
  /// After a word was written past the cache.
  void wrote_uncached(std::uint64_t address, std::uint64_t bytes) {
    at(address).agree(address, bytes);
  }
  void clean(std::uint64_t address, std::uint64_t bytes);
  void invalidate(std::uint64_t address, std::uint64_t bytes);

  /// Before the memory serves a transaction of another initiator than the host; `id` is below 255
  /// and always the same for a `name`.
  void access(int id, const std::string& name, std::uint64_t address, std::uint64_t bytes,
              bool write);

  /// Lines with a mistake, each counted once.
  std::uint64_t count(Mistake mistake) const { return counts_[mistake]; }
  /// The first 20 in words.
  const std::vector<std::string>& findings() const { return findings_; }

 private:
  CacheLines& at(std::uint64_t address) { return dram_.holds(address) ? dram_ : sram_; }
  void read(const std::string& name, CacheLines& lines, std::uint64_t from, std::uint64_t to);
  void write(int id, const std::string& name, CacheLines& lines, std::uint64_t from,
             std::uint64_t to);
  void evict(CacheLines& lines);
  void report(Mistake mistake, const CacheLines& lines, std::uint64_t line, const std::string& who);
  std::string writer(const CacheLines& lines, std::uint64_t line, bool unannounced) const;
  std::string place(const CacheLines& lines, std::uint64_t line) const;

  CacheLines sram_, dram_;
  bool evicts_;
  std::mt19937 random_;
  std::map<std::uint64_t, std::uint64_t> buffers_;  ///< address -> bytes
  std::vector<std::string> names_{"host"};          ///< of writers, by id + 1
  std::array<std::uint64_t, kMistakes> counts_{};
  std::set<std::pair<Mistake, std::uint64_t>> reported_;
  std::vector<std::string> findings_;
};

}  // namespace deputy::soc
