// deputy cache
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "api/compiled_cache.h"
#include "tools/cli/common.h"
#include "tools/json_text.h"
#include "tools/table.h"

namespace deputy::tools {
namespace {

base::Status list(const api::CompiledCache& cache, bool verify, bool as_json) {
  DEPUTY_ASSIGN(const auto entries, cache.list());
  Table table({"key", "model", ">bytes", "state"});
  std::uint64_t bytes = 0;
  std::size_t damaged = 0;
  for (const api::CacheEntry& entry : entries) {
    bytes += entry.bytes, damaged += !entry.problem.empty();
    table.row({entry.key.substr(0, 12), entry.model.empty() ? "-" : entry.model,
               std::to_string(entry.bytes), entry.problem.empty() ? "good" : entry.problem});
  }
  if (as_json) {
    auto rows = nlohmann::ordered_json::array();
    for (const api::CacheEntry& e : entries)
      rows.push_back(
          {{"key", e.key}, {"model", e.model}, {"bytes", e.bytes}, {"problem", e.problem}});
    fmt::print("{}", json_text("deputy-cache-1",
                               {{"bytes", bytes}, {"damaged", damaged}, {"entries", rows}}));
  } else {
    if (!table.empty()) fmt::print("{}", table.text());
    fmt::print("  {} entries, {}, {} damaged; least recently used first\n", entries.size(),
               human_bytes(static_cast<double>(bytes)), damaged);
  }
  if (verify && damaged != 0)
    return base::Error{base::ErrorKind::kMismatch, cache.folder(),
                       fmt::format("{} damaged entries", damaged),
                       "a run compiles them again; 'deputy cache prune' removes them"};
  return {};
}

base::Status prune(const api::CompiledCache& cache, std::uint64_t limit, bool as_json) {
  DEPUTY_ASSIGN(const auto gone, cache.prune(limit));
  if (as_json)
    fmt::print("{}", json_text("deputy-cache-prune-1", {{"removed", gone.entries},
                                                        {"bytes", gone.bytes},
                                                        {"unfinished", gone.leftovers}}));
  else
    fmt::print("  removed {} entries, {}, and {} unfinished files\n", gone.entries,
               human_bytes(static_cast<double>(gone.bytes)), gone.leftovers);
  return {};
}

}  // namespace

int cache_command(const CommonOptions& common, const std::string& what, const std::string& folder,
                  bool json) {
  const api::CompiledCache cache(folder, common.cache_limit);
  return finish(what == "prune" ? prune(cache, common.cache_limit, json)
                                : list(cache, what == "verify", json));
}

}  // namespace deputy::tools
