#include "api/cache_entry.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/compiled_cache.h"
#include "arch/byte_io.h"

namespace deputy::api {
namespace {

constexpr std::uint8_t kMagic[8] = {'D', 'P', 'T', 'Y', 'C', 'C', 'E', 0};
constexpr std::size_t kHeaderBytes = 56, kDigestBytes = 32;

EntryView bad(std::string what) {
  EntryView out;
  out.problem = std::move(what);
  return out;
}

}  // namespace

std::vector<std::uint8_t> format_entry(const Digest& key, const std::string& model,
                                       std::span<const std::uint8_t> payload) {
  arch::ByteWriter writer;
  writer.append(kMagic);
  writer.put(kCacheEntryVersion);
  writer.put(static_cast<std::uint32_t>(model.size()));
  writer.append(key);
  writer.put(std::uint64_t{payload.size()});
  writer.append({reinterpret_cast<const std::uint8_t*>(model.data()), model.size()});
  writer.append(payload);
  const Digest digest = sha256(writer.bytes());
  writer.append(digest);
  return std::move(writer.bytes());
}

EntryView parse_entry(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < kHeaderBytes + kDigestBytes)
    return bad(fmt::format("{} bytes are too short for an entry", bytes.size()));
  if (!std::equal(std::begin(kMagic), std::end(kMagic), bytes.begin()))
    return bad("it does not begin with DPTYCCE");
  arch::ByteReader reader(bytes.subspan(sizeof kMagic, kHeaderBytes - sizeof kMagic));
  if (const auto version = reader.get<std::uint32_t>(); version != kCacheEntryVersion)
    return bad(fmt::format("version {}, this build reads version {}", version, kCacheEntryVersion));
  const auto name_bytes = reader.get<std::uint32_t>();
  EntryView out;
  for (std::uint8_t& byte : out.key) byte = reader.get<std::uint8_t>();
  const auto payload_bytes = reader.get<std::uint64_t>();
  const std::uint64_t room = bytes.size() - kHeaderBytes - kDigestBytes;
  if (name_bytes > room || payload_bytes != room - name_bytes)
    return bad(
        fmt::format("{} bytes do not hold the {} that it names", bytes.size(), payload_bytes));
  const Digest digest = sha256(bytes.first(bytes.size() - kDigestBytes));
  if (!std::equal(digest.begin(), digest.end(), bytes.end() - kDigestBytes))
    return bad("its SHA-256 does not match");
  const auto name = bytes.subspan(kHeaderBytes, name_bytes);
  out.model.assign(name.begin(), name.end());
  out.payload = bytes.subspan(kHeaderBytes + name_bytes, static_cast<std::size_t>(payload_bytes));
  return out;
}

}  // namespace deputy::api
