// A folder of compiled programs, named by what they depend on (compile_key.h). A defect of the
// cache never fails a compile: whatever cannot be read, believed or written is compiled, and a note
// says so.
//
//   entry   magic "DPTYCCE\0", u32 version, u32 name bytes, 32-byte key, u64 payload bytes, name,
//   payload,
//           SHA-256 over everything before it
//
// Entries are written under another name, made durable and renamed, so a reader sees a whole entry
// or none, from any number of processes. A reader marks an entry as used by its modification time;
// the least recently used go first when the folder grows over its limit. The digest detects
// accidents, not attackers: who can write the folder can write programs (docs/compiled_cache.md).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "api/compile_key.h"
#include "base/result.h"

namespace deputy::api {

inline constexpr std::uint32_t kCacheEntryVersion = 1;
inline constexpr std::uint64_t kCacheDefaultBytes = 256 << 20;

struct CacheEntry {
  std::string key;          ///< 64 hexadecimal digits
  std::string model;        ///< empty when the entry cannot be read
  std::uint64_t bytes = 0;  ///< of the file
  std::string problem;      ///< what is wrong with it; empty: nothing
};

class CompiledCache {
 public:
  /// `limit`: bytes of all entries together. The folder is created when something is stored.
  explicit CompiledCache(std::string folder, std::uint64_t limit = kCacheDefaultBytes)
      : folder_(std::move(folder)), limit_(limit) {}

  struct Found {
    bool hit = false;
    std::vector<std::uint8_t> payload;
    std::string problem;  ///< why an entry that is there was not believed; empty when there is none
  };
  /// Marks a hit as used.
  Found find(const Digest& key) const;

  /// Replaces what is there, then removes what is over the limit (never this entry). kIo.
  base::Status store(const Digest& key, const std::string& model,
                     std::span<const std::uint8_t> payload) const;

  /// Least recently used first, every entry read and verified. kIo when the folder cannot be read.
  base::Result<std::vector<CacheEntry>> list() const;

  struct Pruned {
    std::size_t entries = 0, leftovers = 0;  ///< leftovers: unfinished files of processes that died
    std::uint64_t bytes = 0;
  };
  /// Removes damaged entries and leftovers, then the least recently used until `limit` bytes
  /// remain.
  base::Result<Pruned> prune(std::uint64_t limit) const;

  const std::string& folder() const { return folder_; }

 private:
  std::string path(const std::string& key) const;
  base::Result<Pruned> shrink(std::uint64_t limit, const std::string& keep, bool damaged) const;

  std::string folder_;
  std::uint64_t limit_;
};

/// How a program came about.
struct CacheNote {
  std::string state =
      "off";  ///< off, hit, miss (compiled and stored), damaged or unwritable (compiled)
  std::string key, text;  ///< text: what the user should know; empty when all is as it should be
};
struct CompiledFile {
  std::vector<std::uint8_t> bytes;  ///< an executable file
  CacheNote cache;
};

/// The program of `parts` out of the cache, or from `compile` and then into it. `cache` may be
/// null. Errors are `compile`'s only.
base::Result<CompiledFile> compile_cached(
    const CompiledCache* cache, const KeyParts& parts,
    const std::function<base::Result<arch::Executable>()>& compile);

}  // namespace deputy::api
