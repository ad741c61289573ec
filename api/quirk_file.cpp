// Reading and writing quirk files.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "api/quirks.h"
#include "base/config.h"

namespace deputy::api {
namespace {

base::Error bad(const std::string& where, std::string what, std::string remedy) {
  return {base::ErrorKind::kConfig, where, std::move(what), std::move(remedy)};
}

std::vector<std::string> workarounds() {
  std::vector<std::string> out;
  delegate::Optimisations switches;
  delegate::Optimisations::fields(switches, [&](bool&, const base::Field& field) {
    out.push_back(std::string("no-") + field.name);
  });
  return out;
}

template <class List, class Name>
std::string join(const List& list, Name name) {
  std::string out;
  for (const auto& item : list) out += (out.empty() ? "" : ", ") + std::string(name(item));
  return out;
}

base::Result<std::int64_t> parse_number(const std::string& text, const std::string& where) {
  std::int64_t out = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (ec != std::errc() || end != text.data() + text.size())
    return bad(where, fmt::format("'{}' is not a whole number", text), "write 2, 2..5, 2.. or ..5");
  return out;
}

base::Result<NumberRange> parse_numbers(const std::string& text, const Feature& feature,
                                        const std::string& where) {
  NumberRange out;
  const std::size_t dots = text.find("..");
  const std::string low = text.substr(0, dots),
                    high = dots == std::string::npos ? low : text.substr(dots + 2);
  if (low.empty() && high.empty())
    return bad(where, fmt::format("'{}' names no number", text), "write 2, 2..5, 2.. or ..5");
  if (!low.empty()) {
    DEPUTY_ASSIGN(out.low, parse_number(low, where));
  }
  if (!high.empty()) {
    DEPUTY_ASSIGN(out.high, parse_number(high, where));
  }
  if (out.low && out.high && *out.low > *out.high)
    return bad(where, fmt::format("{} = '{}' is an empty range", feature.name, text),
               "write the lower number first");
  if (out.high && *out.high < feature.least)
    return bad(where,
               fmt::format("{} = '{}' is an empty range: it is at least {}", feature.name, text,
                           feature.least),
               "raise the upper end");
  return out;
}

class Reader {
 public:
  Reader(base::Config& config, std::size_t index)
      : config_(config), prefix_(fmt::format("quirks.{}.", index)) {
    // Its first line; keys are in the order of their names.
    int first = 0;
    for (auto it = config.entries().lower_bound(prefix_);
         it != config.entries().end() && it->first.starts_with(prefix_); ++it) {
      const std::string& where = it->second.where;
      const int line = std::atoi(where.c_str() + where.rfind(':') + 1);
      if (first == 0 || line < first) first = line, where_ = where;
    }
  }

  base::Result<Quirk> run() {
    Quirk out;
    out.where = where_;
    DEPUTY_ASSIGN(out.id, required("id", "a short name for reports"));
    DEPUTY_ASSIGN(out.reason,
                  required("reason", "a sentence for whoever finds the operator on the CPU"));
    DEPUTY_ASSIGN(const std::string action, required("action", "deny, or workaround"));
    if (action != "deny" && action != "workaround")
      return bad(at("action"), fmt::format("action '{}' is unknown", action),
                 "write deny or workaround");
    if (action == "workaround") {
      DEPUTY_ASSIGN(
          out.workaround,
          required("workaround", "one of " + join(workarounds(), [](const auto& n) { return n; })));
      const auto known = workarounds();
      if (std::find(known.begin(), known.end(), out.workaround) == known.end())
        return bad(at("workaround"), fmt::format("workaround '{}' is unknown", out.workaround),
                   "use one of " + join(known, [](const auto& n) { return n; }));
    }
    DEPUTY_TRY(read_op(out, action == "deny"));
    DEPUTY_TRY(read_types(out));
    for (const Feature& feature : op_features())
      if (const auto* entry = config_.find(prefix_ + "when." + feature.name)) {
        DEPUTY_ASSIGN(out.when[feature.name], parse_numbers(entry->value, feature, entry->where));
      }
    DEPUTY_TRY(read_versions("hardware", out.hardware));
    DEPUTY_TRY(read_versions("firmware", out.firmware));
    DEPUTY_TRY(read_versions("driver", out.driver));
    return out;
  }

 private:
  std::string at(const std::string& key) {
    const auto* entry = config_.find(prefix_ + key);
    return entry ? entry->where : where_;
  }
  base::Result<std::string> required(const std::string& key, const std::string& what) {
    const auto* entry = config_.find(prefix_ + key);
    if (!entry || entry->value.empty())
      return bad(at(key), fmt::format("the entry has no '{}'", key), "give " + what);
    return entry->value;
  }
  base::Status read_op(Quirk& out, bool must) {
    const auto* entry = config_.find(prefix_ + "op");
    if (!entry)
      return must ? base::Status(bad(where_, "the entry has no 'op'",
                                     "name an operator as 'deputy list ops' does"))
                  : base::Status();
    out.op = arch::op_from_name(entry->value);
    if (out.op) return {};
    return bad(entry->where, fmt::format("operator '{}' is unknown", entry->value),
               "use a name that 'deputy list ops' prints");
  }
  base::Status read_types(Quirk& out) {
    const auto* entry = config_.find(prefix_ + "type");
    if (!entry) return {};
    for (std::size_t begin = 0; begin <= entry->value.size();) {
      const std::size_t comma = std::min(entry->value.find(',', begin), entry->value.size());
      std::string name = entry->value.substr(begin, comma - begin);
      name.erase(0, name.find_first_not_of(' '));
      bool found = false;
      for (int t = 0; t < kDTypeCount; ++t)
        if (dtype_name(static_cast<DType>(t)) == name)
          out.types.push_back(static_cast<DType>(t)), found = true;
      if (!found)
        return bad(entry->where, fmt::format("type '{}' is unknown", name),
                   "use names like int8 or uint8, with commas between them");
      begin = comma + 1;
    }
    return {};
  }
  base::Status read_versions(const std::string& key, base::VersionRange& out) {
    const auto* entry = config_.find(prefix_ + key);
    if (!entry) return {};
    DEPUTY_ASSIGN(out, base::VersionRange::parse(entry->value, entry->where));
    return {};
  }

  base::Config& config_;
  std::string prefix_, where_;
};

bool meet(const NumberRange& a, const NumberRange& b) {
  return !(a.high && b.low && *a.high < *b.low) && !(b.high && a.low && *b.high < *a.low);
}

// Entries about the same thing: the same operator, action and kind of condition, and something that
// both hold for.
bool overlap(const Quirk& a, const Quirk& b) {
  if (a.op != b.op || a.workaround != b.workaround || a.when.size() != b.when.size()) return false;
  const bool types = a.types.empty() || b.types.empty() ||
                     std::find_first_of(a.types.begin(), a.types.end(), b.types.begin(),
                                        b.types.end()) != a.types.end();
  for (const auto& [name, range] : a.when) {
    const auto other = b.when.find(name);
    if (other == b.when.end() || !meet(range, other->second)) return false;
  }
  return types && a.hardware.meets(b.hardware) && a.firmware.meets(b.firmware) &&
         a.driver.meets(b.driver);
}

// In double quotes, as YAML reads back.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + "\"";
}

}  // namespace

base::Result<QuirkFile> parse_quirks(const std::string& text, const std::string& name) {
  DEPUTY_ASSIGN(auto config, base::Config::from_text(text, name));
  QuirkFile out{name, hex(sha256(text)), {}};
  for (std::size_t i = 0; config.has_group(fmt::format("quirks.{}", i)); ++i) {
    DEPUTY_ASSIGN(auto quirk, Reader(config, i).run());
    out.quirks.push_back(std::move(quirk));
  }
  DEPUTY_TRY(config.finish());
  DEPUTY_TRY(check_overlap({out}));
  return out;
}

base::Status check_overlap(const std::vector<QuirkFile>& files) {
  std::vector<const Quirk*> seen;
  for (const QuirkFile& file : files)
    for (const Quirk& quirk : file.quirks) {
      for (const Quirk* other : seen) {
        if (other->id == quirk.id)
          return bad(quirk.where, fmt::format("the id '{}' is taken at {}", quirk.id, other->where),
                     "give each entry its own");
        if (overlap(*other, quirk))
          return bad(quirk.where,
                     fmt::format("'{}' overlaps '{}' at {}", quirk.id, other->id, other->where),
                     "join the entries, or part their ranges");
      }
      seen.push_back(&quirk);
    }
  return {};
}

std::string quirks_text(const std::vector<Quirk>& quirks, const std::string& comment) {
  std::string out = comment;
  out += quirks.empty() ? "quirks: []\n" : "quirks:\n";
  for (const Quirk& q : quirks) {
    out += "  - id: " + quoted(q.id) + "\n";
    if (q.op) out += fmt::format("    op: {}\n", arch::op_name(*q.op));
    if (!q.types.empty())
      out += "    type: " + quoted(join(q.types, [](DType t) { return dtype_name(t); })) + "\n";
    if (!q.when.empty()) out += "    when:\n";
    for (const auto& [name, range] : q.when)
      out += fmt::format("      {}: {}\n", name, quoted(range.text()));
    for (const auto& [name, range] :
         {std::pair("hardware", &q.hardware), std::pair("firmware", &q.firmware),
          std::pair("driver", &q.driver)})
      if (range->low || range->high)
        out += fmt::format("    {}: {}\n", name, quoted(range->text()));
    out += q.workaround.empty()
               ? "    action: deny\n"
               : fmt::format("    action: workaround\n    workaround: {}\n", q.workaround);
    out += "    reason: " + quoted(q.reason) + "\n";
  }
  return out;
}

}  // namespace deputy::api
