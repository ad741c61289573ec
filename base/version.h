// Versions compare by number, part by part: 1.10 comes after 1.9.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace deputy::base {

struct Version {
  std::vector<std::uint32_t> parts;

  /// "1.10.2": one to four numbers without signs or blanks. kConfig names `where`.
  static Result<Version> parse(const std::string& text, const std::string& where);
  std::string text() const;
  /// Missing parts are 0: 1.9 equals 1.9.0.
  std::strong_ordering operator<=>(const Version& other) const;
  bool operator==(const Version& other) const { return (*this <=> other) == 0; }
};

/// Both ends belong to it; an absent end is open.
struct VersionRange {
  std::optional<Version> low, high;

  /// "1.2..1.10", "1.2..", "..1.10" or "1.2" (that version alone). kConfig: not of that form, or
  /// empty.
  static Result<VersionRange> parse(const std::string& text, const std::string& where);
  bool contains(const Version& version) const;
  bool meets(const VersionRange& other) const;  ///< some version lies in both
  std::string text() const;                     ///< "any" when both ends are open
};

}  // namespace deputy::base
