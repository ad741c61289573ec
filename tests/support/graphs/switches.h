// The optimisation switches by number, whatever their number.
#pragma once

#include <cstdint>
#include <string_view>

#include "delegate/optimisations.h"

namespace deputy::graphs {

template <class Self, class F>
void each_switch(Self& optimisations, F&& f) {
  std::size_t i = 0;
  delegate::Optimisations::fields(
      optimisations, [&](auto& value, const base::Field& field) { f(i++, value, field.name); });
}
inline std::size_t switch_count() {
  std::size_t n = 0;
  delegate::Optimisations o;
  each_switch(o, [&](std::size_t, bool, std::string_view) { ++n; });
  return n;
}
inline std::string_view switch_name(std::size_t index) {
  std::string_view found;
  delegate::Optimisations o;
  each_switch(
      o, [&](std::size_t i, bool, std::string_view name) { found = i == index ? name : found; });
  return found;
}
inline bool get_switch(const delegate::Optimisations& o, std::size_t index) {
  bool found = false;
  each_switch(
      o, [&](std::size_t i, bool value, std::string_view) { found = i == index ? value : found; });
  return found;
}
inline void set_switch(delegate::Optimisations& o, std::size_t index, bool on) {
  each_switch(
      o, [&](std::size_t i, bool& value, std::string_view) { value = i == index ? on : value; });
}
/// Bit i of `bits` is switch i.
inline delegate::Optimisations combination(std::uint32_t bits) {
  delegate::Optimisations o;
  each_switch(
      o, [&](std::size_t i, bool& value, std::string_view) { value = ((bits >> i) & 1) != 0; });
  return o;
}
inline delegate::Optimisations all_off() { return combination(0); }

}  // namespace deputy::graphs
