// YAML configuration: a file becomes a flat table "npu.mac.oc_lanes" -> value with its line, and
// structs with fields() are filled from it. Unknown keys and values out of range are errors that
// say where.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/fields.h"
#include "base/result.h"

namespace deputy::base {

/// A flat view of one YAML file plus overrides. Every read marks the key as known.
class Config {
 public:
  /// Reads a YAML mapping of mappings and scalars; sequences get keys "name.0", "name.1", ...
  static Result<Config> from_file(const std::string& path);
  static Result<Config> from_text(std::string_view text, const std::string& name);

  /// Applies "a.b.c=value" of the command line's `option`. A value that begins with [ or { is YAML:
  /// a list or a group of keys, which replaces what the file has of that name. The key's existence
  /// is checked by finish().
  Status set(std::string_view assignment, std::string_view option = "--set");

  struct Entry {
    std::string value;
    std::string where;  ///< "file:line" or "--set a.b=..."
    bool used = false;
  };
  /// The entry of a key, marked as used; nullptr if absent.
  const Entry* find(const std::string& key);
  /// True when any key starts with `prefix` + ".".
  bool has_group(const std::string& prefix) const;
  const std::map<std::string, Entry>& entries() const { return entries_; }

  /// Fills a struct's fields from keys under `prefix`; fields without a key keep their value.
  template <HasFields T>
  Status load(const std::string& prefix, T& params);

  /// An error for the first key that nothing has read, with the nearest known key as the remedy.
  Status finish() const;

 private:
  Status read_int(const std::string& key, const Field& field, long long& value);
  Status read_double(const std::string& key, const Field& field, double& value);
  Status read_bool(const std::string& key, bool& value);
  Status read_string(const std::string& key, std::string& value);

  std::map<std::string, Entry> entries_;
  std::vector<std::string> known_;  ///< every key that load() asked for
};

template <HasFields T>
Status Config::load(const std::string& prefix, T& params) {
  Status status;
  T::fields(params, [&](auto& member, const Field& field) {
    using M = std::remove_cvref_t<decltype(member)>;
    if (!status.ok()) return;
    const std::string key = prefix.empty() ? field.name : prefix + "." + field.name;
    if constexpr (HasFields<M>) {
      status = load(key, member);
    } else if constexpr (std::is_same_v<M, bool>) {
      status = read_bool(key, member);
    } else if constexpr (std::is_integral_v<M>) {
      long long value = member;
      status = read_int(key, field, value);
      member = static_cast<M>(value);
    } else if constexpr (std::is_floating_point_v<M>) {
      double value = member;
      status = read_double(key, field, value);
      member = static_cast<M>(value);
    } else {
      status = read_string(key, member);
    }
  });
  return status;
}

/// One row of a flattened parameter struct: for `deputy list params`, docs and effective
/// configurations.
struct ParamRow {
  std::string key;
  std::string value;
  Field field;
};

template <HasFields T>
void list_params(const std::string& prefix, const T& params, std::vector<ParamRow>& rows);

std::string param_text(double value);
inline std::string param_text(bool value) { return value ? "true" : "false"; }
inline std::string param_text(const std::string& value) { return value; }
template <class I>
requires(std::is_integral_v<I> && !std::is_same_v<I, bool>) std::string param_text(I value) {
  return std::to_string(value);
}

template <HasFields T>
void list_params(const std::string& prefix, const T& params, std::vector<ParamRow>& rows) {
  T::fields(params, [&](const auto& member, const Field& field) {
    using M = std::remove_cvref_t<decltype(member)>;
    const std::string key = prefix.empty() ? field.name : prefix + "." + field.name;
    if constexpr (HasFields<M>)
      list_params(key, member, rows);
    else
      rows.push_back({key, param_text(member), field});
  });
}

}  // namespace deputy::base
