// What is known to be wrong with certain hardware, firmware or drivers, from YAML files: operators
// that the NPU must not be given, and optimisations that must stay off. docs/quirks.md has the
// format.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/compile_key.h"
#include "api/op_features.h"
#include "base/result.h"
#include "base/version.h"

namespace deputy::api {

/// Whole numbers, both ends included; an absent end is open.
struct NumberRange {
  std::optional<std::int64_t> low, high;
  bool contains(std::int64_t value) const {
    return (!low || *low <= value) && (!high || value <= *high);
  }
  std::string text() const;
};

struct Quirk {
  std::string id;
  std::optional<arch::OpKind> op;           ///< none: any (workarounds only)
  std::vector<DType> types;                 ///< empty: every type
  std::map<std::string, NumberRange> when;  ///< by feature (op_features.h); all must hold
  base::VersionRange hardware, firmware, driver;
  std::string workaround;  ///< a switch of delegate::Optimisations; empty: deny
  std::string reason;
  std::string where;  ///< file:line
};

struct QuirkFile {
  std::string path;
  std::string sha256;  ///< of the file's bytes
  std::vector<Quirk> quirks;
};

/// kConfig with file:line and a remedy: unknown keys, operators, features, types or workarounds,
/// empty ranges, entries that overlap. `name` is what messages call the file.
base::Result<QuirkFile> parse_quirks(const std::string& text, const std::string& name);

/// kConfig when an entry of one file overlaps one of another.
base::Status check_overlap(const std::vector<QuirkFile>& files);

/// The text that parse_quirks reads back to equal entries.
std::string quirks_text(const std::vector<Quirk>& quirks, const std::string& comment);

bool concerns(const Quirk& quirk, const DeviceIdentity& device);

/// Whether the operator is one of the quirk's.
bool matches(const Quirk& quirk, const delegate::Graph& graph, const delegate::Op& op);

/// An entry that changed something.
struct AppliedQuirk {
  std::string id, file, sha256, action, reason;
  std::vector<std::size_t> ops;  ///< indices in the graph
};

struct QuirkEffect {
  std::vector<AppliedQuirk> applied;
  std::map<std::size_t, std::string> denied;  ///< by operator: the reason for people
};

/// Keeps the operators of every entry that concerns `device` off the NPU, switches workarounds on,
/// and says what it did. A PAD that would be folded into an operator's own padding counts as its
/// padding.
QuirkEffect apply_quirks(const delegate::Graph& graph, const std::vector<QuirkFile>& files,
                         const DeviceIdentity& device, delegate::CompileOptions& options);

/// Gives the operators that were denied the entries' reasons.
void explain_denied(const QuirkEffect& effect, arch::Executable& executable);

}  // namespace deputy::api
