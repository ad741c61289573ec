#include "base/version.h"

#include <algorithm>
#include <charconv>

namespace deputy::base {
namespace {
Error bad(const std::string& where, const std::string& text, const char* what, const char* remedy) {
  return {ErrorKind::kConfig, where, "'" + text + "' " + what, remedy};
}
}  // namespace

Result<Version> Version::parse(const std::string& text, const std::string& where) {
  Version out;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    std::uint32_t part = 0;
    const auto [next, ec] = std::from_chars(at, end, part);
    if (ec != std::errc() || out.parts.size() == 4)
      return bad(where, text, "is not a version",
                 "write numbers with dots between them, for example 1.10");
    out.parts.push_back(part);
    if (next == end) return out;
    if (*next != '.')
      return bad(where, text, "is not a version",
                 "write numbers with dots between them, for example 1.10");
    at = next + 1;
  }
}

std::string Version::text() const {
  std::string out;
  for (const std::uint32_t part : parts) out += (out.empty() ? "" : ".") + std::to_string(part);
  return out;
}

std::strong_ordering Version::operator<=>(const Version& other) const {
  for (std::size_t i = 0; i < std::max(parts.size(), other.parts.size()); ++i) {
    const std::uint32_t a = i < parts.size() ? parts[i] : 0,
                        b = i < other.parts.size() ? other.parts[i] : 0;
    if (a != b) return a <=> b;
  }
  return std::strong_ordering::equal;
}

Result<VersionRange> VersionRange::parse(const std::string& text, const std::string& where) {
  VersionRange out;
  const std::size_t dots = text.find("..");
  const std::string low = text.substr(0, dots),
                    high = dots == std::string::npos ? low : text.substr(dots + 2);
  if (low.empty() && high.empty())
    return bad(where, text, "names no version", "leave the key out where every version is meant");
  if (!low.empty()) {
    DEPUTY_ASSIGN(out.low, Version::parse(low, where));
  }
  if (!high.empty()) {
    DEPUTY_ASSIGN(out.high, Version::parse(high, where));
  }
  if (out.low && out.high && *out.low > *out.high)
    return bad(where, text, "is an empty range",
               "write the lower version first; versions compare by number, 1.9 before 1.10");
  return out;
}

bool VersionRange::contains(const Version& version) const {
  return (!low || *low <= version) && (!high || version <= *high);
}

bool VersionRange::meets(const VersionRange& other) const {
  const bool before = high && other.low && *high < *other.low;
  const bool after = low && other.high && *other.high < *low;
  return !before && !after;
}

std::string VersionRange::text() const {
  if (!low && !high) return "any";
  if (low && high && *low == *high) return low->text();
  return (low ? low->text() : "") + ".." + (high ? high->text() : "");
}

}  // namespace deputy::base
