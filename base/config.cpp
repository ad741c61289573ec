#include "base/config.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

namespace deputy::base {
namespace {

Error config_error(const std::string& where, std::string message, std::string remedy = "") {
  return Error{ErrorKind::kConfig, where, std::move(message), std::move(remedy)};
}

Status flatten(const YAML::Node& node, const std::string& prefix, const std::string& file,
               std::map<std::string, Config::Entry>& out) {
  const std::string where = fmt::format("{}:{}", file, node.Mark().line + 1);
  const auto child_key = [&](const std::string& name) {
    return prefix.empty() ? name : prefix + "." + name;
  };
  if (node.IsMap()) {
    std::set<std::string> seen;  // yaml-cpp keeps duplicate keys silently; we refuse them
    for (const auto& item : node) {
      if (!item.first.IsScalar()) return config_error(where, "a mapping key must be a plain word");
      const std::string name = item.first.Scalar();
      if (!seen.insert(name).second)
        return config_error(fmt::format("{}:{}", file, item.first.Mark().line + 1),
                            fmt::format("key '{}' is given twice", child_key(name)),
                            "keep one of them");
      DEPUTY_TRY(flatten(item.second, child_key(name), file, out));
    }
  } else if (node.IsSequence()) {
    for (std::size_t i = 0; i < node.size(); ++i)
      DEPUTY_TRY(flatten(node[i], child_key(std::to_string(i)), file, out));
  } else if (node.IsScalar()) {
    out[prefix] = Config::Entry{node.Scalar(), where, false};
  } else {
    return config_error(where, fmt::format("key '{}' has no value", prefix),
                        "give it one or remove the line");
  }
  return {};
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

Status check_range(const Config::Entry& entry, const std::string& key, const Field& field,
                   double value) {
  if (value >= field.min && value <= field.max) return {};
  return config_error(
      entry.where, fmt::format("{} = {} is out of range", key, entry.value),
      fmt::format("use a value from {} to {}", param_text(field.min), param_text(field.max)));
}

}  // namespace

std::string param_text(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15)
    return fmt::format("{}", static_cast<long long>(value));
  return fmt::format("{}", value);
}

Result<Config> Config::from_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return Error{ErrorKind::kIo, path, "cannot open the configuration file", "check the path"};
  std::ostringstream text;
  text << in.rdbuf();
  return from_text(text.str(), path);
}

Result<Config> Config::from_text(std::string_view text, const std::string& name) {
  Config config;
  try {
    const YAML::Node root = YAML::Load(std::string(text));
    if (root.IsNull()) return config;
    if (!root.IsMap())
      return config_error(name, "the file is not a YAML mapping", "write 'key: value' lines");
    if (auto status = flatten(root, "", name, config.entries_); !status.ok()) return status.error();
  } catch (const YAML::Exception& e) {
    return config_error(fmt::format("{}:{}", name, e.mark.line + 1),
                        fmt::format("not valid YAML: {}", e.msg));
  }
  return config;
}

Status Config::set(std::string_view assignment, std::string_view option) {
  const auto equals = assignment.find('=');
  const std::string where = fmt::format("{} {}", option, assignment);
  if (equals == std::string_view::npos || equals == 0)
    return Error{ErrorKind::kUsage, where, "not of the form key=value",
                 option == "--set" ? "for example --set npu.mac.oc_lanes=32" : ""};
  const std::string key(assignment.substr(0, equals)), value(assignment.substr(equals + 1));
  const bool structured = value.starts_with('[') || value.starts_with('{');
  if (structured) {
    std::map<std::string, Entry> given;
    try {
      DEPUTY_TRY(flatten(YAML::Load(value), key, where, given));
    } catch (const YAML::Exception& e) {
      return Error{ErrorKind::kUsage, where, fmt::format("not valid YAML: {}", e.msg),
                   "for example 'KEY=[{name: value}, {name: value}]'"};
    }
    std::erase_if(entries_,
                  [&](const auto& e) { return e.first == key || e.first.starts_with(key + "."); });
    for (auto& [name, entry] : given) entry.where = where, entries_[name] = std::move(entry);
    return {};
  }
  entries_[key] = Entry{value, where, false};
  return {};
}

const Config::Entry* Config::find(const std::string& key) {
  known_.push_back(key);
  const auto it = entries_.find(key);
  if (it == entries_.end()) return nullptr;
  it->second.used = true;
  return &it->second;
}

bool Config::has_group(const std::string& prefix) const {
  const auto it = entries_.lower_bound(prefix + ".");
  return it != entries_.end() && it->first.starts_with(prefix + ".");
}

Status Config::finish() const {
  for (const auto& [key, entry] : entries_) {
    if (entry.used) continue;
    std::string nearest;
    std::size_t best = key.size() / 2 + 1;
    for (const auto& candidate : known_) {
      const std::size_t distance = edit_distance(key, candidate);
      if (distance < best) best = distance, nearest = candidate;
    }
    return config_error(entry.where, fmt::format("unknown key '{}'", key),
                        nearest.empty() ? "'deputy list params' shows every key of a SoC"
                                        : fmt::format("did you mean '{}'?", nearest));
  }
  return {};
}

Status Config::read_int(const std::string& key, const Field& field, long long& value) {
  const Entry* entry = find(key);
  if (!entry) return {};
  const std::string& text = entry->value;
  long long parsed = 0;
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const char* begin = text.data() + (hex ? 2 : 0);
  const auto [end, ec] = std::from_chars(begin, text.data() + text.size(), parsed, hex ? 16 : 10);
  if (ec != std::errc() || end != text.data() + text.size())
    return config_error(entry->where, fmt::format("{} = '{}' is not an integer", key, text));
  DEPUTY_TRY(check_range(*entry, key, field, static_cast<double>(parsed)));
  value = parsed;
  return {};
}

Status Config::read_double(const std::string& key, const Field& field, double& value) {
  const Entry* entry = find(key);
  if (!entry) return {};
  const std::string& text = entry->value;
  double parsed = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (ec != std::errc() || end != text.data() + text.size() || !std::isfinite(parsed))
    return config_error(entry->where, fmt::format("{} = '{}' is not a number", key, text));
  DEPUTY_TRY(check_range(*entry, key, field, parsed));
  value = parsed;
  return {};
}

Status Config::read_bool(const std::string& key, bool& value) {
  const Entry* entry = find(key);
  if (!entry) return {};
  if (entry->value != "true" && entry->value != "false")
    return config_error(entry->where,
                        fmt::format("{} = '{}' is neither true nor false", key, entry->value));
  value = entry->value == "true";
  return {};
}

Status Config::read_string(const std::string& key, std::string& value) {
  if (const Entry* entry = find(key)) value = entry->value;
  return {};
}

}  // namespace deputy::base
