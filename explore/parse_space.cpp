// An experiment's space out of its file.
#include <fmt/format.h>

#include <cmath>
#include <set>

#include "explore/space.h"

namespace deputy::explore {
namespace {

base::Error bad(const std::string& where, std::string what, std::string remedy) {
  return {base::ErrorKind::kConfig, where, std::move(what), std::move(remedy)};
}

// The names of the groups or scalars directly below `prefix`, in the order of the keys.
std::vector<std::string> children(const base::Config& config, const std::string& prefix) {
  std::vector<std::string> out;
  std::set<std::string> seen;
  for (auto it = config.entries().lower_bound(prefix + ".");
       it != config.entries().end() && it->first.starts_with(prefix + "."); ++it) {
    const std::string rest = it->first.substr(prefix.size() + 1);
    const std::string name = rest.substr(0, rest.find('.'));
    if (seen.insert(name).second) out.push_back(name);
  }
  return out;
}

// Everything below `prefix` as assignments, marked as read.
std::vector<Assignment> assignments(base::Config& config, const std::string& prefix) {
  std::vector<std::string> keys;
  for (auto it = config.entries().lower_bound(prefix + ".");
       it != config.entries().end() && it->first.starts_with(prefix + "."); ++it)
    keys.push_back(it->first);
  std::vector<Assignment> out;
  for (const std::string& key : keys)
    out.push_back({key.substr(prefix.size() + 1), config.find(key)->value});
  return out;
}

struct Range {
  double from = 0, to = 0;
  std::int32_t steps = 0;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.from, Field{.name = "from", .doc = "first value"});
    v(s.to, Field{.name = "to", .doc = "last value"});
    v(s.steps, Field{.name = "steps", .doc = "levels; 0: continuous", .min = 0, .max = 100000});
  }
};

base::Status parse_range(base::Config& config, const std::string& prefix, Parameter& p) {
  p.logarithmic = config.has_group(prefix + ".log");
  const std::string group = prefix + (p.logarithmic ? ".log" : ".range");
  Range range;
  DEPUTY_TRY(config.load(group, range));
  if (!config.find(group + ".from") || !config.find(group + ".to") || !(range.from < range.to))
    return bad(group, "needs 'from' and a larger 'to'",
               "for example range: {from: 100, to: 400, steps: 4}");
  if (p.logarithmic && range.from <= 0)
    return bad(group, "a logarithmic range begins above 0", "give a positive 'from'");
  if (range.steps == 1)
    return bad(group + ".steps", "one step is no range", "give at least 2, or one value");
  p.from = range.from, p.to = range.to;
  for (std::int32_t i = 0; i < range.steps; ++i) {
    const double part = static_cast<double>(i) / (range.steps - 1);
    double value =
        p.logarithmic ? p.from * std::pow(p.to / p.from, part) : p.from + part * (p.to - p.from);
    if (p.multiple_of > 0) value = std::round(value / p.multiple_of) * p.multiple_of;
    const std::string text = base::param_text(value);
    if (p.levels.empty() || p.levels.back().text != text)
      p.levels.push_back({text, value, {{p.key, text}}});
  }
  return {};
}

base::Result<Parameter> parse_parameter(base::Config& config, const std::string& name) {
  const std::string prefix = "parameters." + name;
  Parameter p;
  p.name = name;
  if (const auto* key = config.find(prefix + ".key")) p.key = key->value;
  if (const auto* multiple = config.find(prefix + ".multiple_of")) {
    p.multiple_of = number_of(multiple->value).value_or(0);
    if (p.multiple_of <= 0)
      return bad(multiple->where, "multiple_of is no positive number", "give for example 1");
  }
  const bool values = config.has_group(prefix + ".values"),
             choices = config.has_group(prefix + ".choices");
  const bool range = config.has_group(prefix + ".range"), log = config.has_group(prefix + ".log");
  if (values + choices + range + log != 1)
    return bad(prefix, "needs one of values, choices, range and log", "see docs/explore.md");
  if (choices == !p.key.empty())
    return bad(prefix, choices ? "has choices, which name their knobs, and a key" : "has no key",
               choices ? "drop the key" : "say which knob it varies: key: npu.clock_mhz");
  if (p.multiple_of > 0 && !range && !log)
    return bad(prefix + ".multiple_of", "rounds the values of a range, and there is none",
               "drop it and write the values as they should be, or give range or log");
  if (range || log) {
    DEPUTY_TRY(parse_range(config, prefix, p));
    return p;
  }
  const std::string list = prefix + (values ? ".values" : ".choices");
  for (std::size_t i = 0;; ++i) {
    const std::string at = fmt::format("{}.{}", list, i);
    if (values) {
      const auto* entry = config.find(at);
      if (!entry) break;
      p.levels.push_back({entry->value, number_of(entry->value), {{p.key, entry->value}}});
      continue;
    }
    if (!config.has_group(at)) break;
    Level level;
    level.sets = assignments(config, at);
    for (const Assignment& a : level.sets) level.text += (level.text.empty() ? "" : "x") + a.value;
    std::erase_if(level.sets, [&](const Assignment& a) {
      if (a.key == "label") level.text = a.value;
      return a.key == "label";
    });
    p.levels.push_back(std::move(level));
  }
  return p;
}

}  // namespace

base::Result<Space> parse_space(base::Config& config) {
  Space out;
  for (const std::string& name : children(config, "parameters")) {
    DEPUTY_ASSIGN(auto parameter, parse_parameter(config, name));
    out.parameters.push_back(std::move(parameter));
  }
  if (out.parameters.empty())
    return bad("parameters", "nothing is varied", "name at least one parameter (docs/explore.md)");
  for (const Assignment& a : assignments(config, "linked")) {
    DEPUTY_ASSIGN(auto value, Expression::parse(a.value, "linked." + a.key));
    out.linked.push_back({a.key, std::move(value)});
  }
  for (std::size_t i = 0;; ++i) {
    const auto* entry = config.find(fmt::format("constraints.{}", i));
    if (!entry) break;
    DEPUTY_ASSIGN(auto constraint, Expression::parse(entry->value, entry->where));
    out.constraints.push_back(std::move(constraint));
  }
  std::set<std::string> keys;  // nothing may be set twice
  const auto once = [&](const std::string& key) -> base::Status {
    if (keys.insert(key).second) return {};
    return bad("parameters", fmt::format("'{}' is set by two of them", key),
               "let one parameter or link set it");
  };
  for (const Parameter& p : out.parameters) {
    std::set<std::string> own;
    if (!p.key.empty()) own.insert(p.key);
    for (const Level& level : p.levels)
      for (const Assignment& a : level.sets) own.insert(a.key);
    for (const std::string& key : own) DEPUTY_TRY(once(key));
  }
  for (const Linked& l : out.linked) DEPUTY_TRY(once(l.key));
  return out;
}

}  // namespace deputy::explore
