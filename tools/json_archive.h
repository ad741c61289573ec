// One description of a struct's JSON for both ways: a function template takes a JsonWriter or a
// JsonReader and names each field once.
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

namespace deputy::tools {

class JsonWriter {
 public:
  static constexpr bool kReads = false;
  explicit JsonWriter(nlohmann::ordered_json& at) : at_(at) {}
  template <class T>
  void value(const char* name, const T& v) {
    at_[name] = v;
  }
  /// Follows from other fields: written, not read.
  template <class T>
  void derived(const char* name, const T& v) {
    at_[name] = v;
  }
  /// A time in ps, written in ns.
  void ns(const char* name, std::uint64_t ps) { at_[name] = static_cast<double>(ps) / 1000; }
  template <class F>
  void object(const char* name, F&& fields) {
    JsonWriter inside(at_[name] = nlohmann::ordered_json::object());
    fields(inside);
  }
  /// Only if it is there; a reader is told so by the JSON.
  template <class F>
  void object_if(bool there, const char* name, F&& fields) {
    if (there) object(name, std::forward<F>(fields));
  }
  template <class T>
  void value_if(bool there, const char* name, const T& v) {
    if (there) value(name, v);
  }
  template <class List, class F>
  void list(const char* name, List& items, F&& fields) {
    auto& out = at_[name] = nlohmann::ordered_json::array();
    for (auto& item : items) {
      JsonWriter inside(out.emplace_back(nlohmann::ordered_json::object()));
      fields(inside, item);
    }
  }
  template <class List, class F>
  void list_if(bool there, const char* name, List& items, F&& fields) {
    if (there) list(name, items, std::forward<F>(fields));
  }
  /// An object by name -> object.
  template <class Map, class F>
  void map(const char* name, Map& items, F&& fields) {
    auto& out = at_[name] = nlohmann::ordered_json::object();
    for (auto& [key, item] : items) {
      JsonWriter inside(out[key] = nlohmann::ordered_json::object());
      fields(inside, item);
    }
  }
  nlohmann::ordered_json& json() { return at_; }

 private:
  nlohmann::ordered_json& at_;
};

/// Throws nlohmann's exceptions where something is missing or of another type.
class JsonReader {
 public:
  static constexpr bool kReads = true;
  explicit JsonReader(const nlohmann::ordered_json& at) : at_(at) {}
  template <class T>
  void value(const char* name, T& v) {
    at_.at(name).get_to(v);
  }
  template <class T>
  void derived(const char*, const T&) {}
  void ns(const char* name, std::uint64_t& ps) {
    ps = static_cast<std::uint64_t>(std::llround(at_.at(name).get<double>() * 1000));
  }
  template <class F>
  void object(const char* name, F&& fields) {
    JsonReader inside(at_.at(name));
    fields(inside);
  }
  template <class F>
  void object_if(bool, const char* name, F&& fields) {
    if (at_.contains(name)) object(name, std::forward<F>(fields));
  }
  template <class T>
  void value_if(bool, const char* name, T& v) {
    if (at_.contains(name)) value(name, v);
  }
  template <class List, class F>
  void list(const char* name, List& items, F&& fields) {
    items.clear();
    for (const auto& json : at_.at(name)) {
      JsonReader inside(json);
      fields(inside, items.emplace_back());
    }
  }
  template <class List, class F>
  void list_if(bool, const char* name, List& items, F&& fields) {
    if (at_.contains(name)) list(name, items, std::forward<F>(fields));
  }
  template <class Map, class F>
  void map(const char* name, Map& items, F&& fields) {
    items.clear();
    for (const auto& [key, json] : at_.at(name).items()) {
      JsonReader inside(json);
      fields(inside, items[key]);
    }
  }
  const nlohmann::ordered_json& json() { return at_; }

 private:
  const nlohmann::ordered_json& at_;
};

}  // namespace deputy::tools
