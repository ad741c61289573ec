#include "explore/methods.h"

#include <algorithm>
#include <array>

namespace deputy::explore {
namespace {
constexpr std::array kMethods = {Method{"grid", false}, Method{"random", false},
                                 Method{"lhs", false},  Method{"nsga2", true},
                                 Method{"nspso", true}, Method{"maco", true}};
}  // namespace

std::span<const Method> methods() { return kMethods; }

const Method* find_method(const std::string& name) {
  const auto it =
      std::ranges::find(kMethods, name, [](const Method& m) { return std::string(m.name); });
  return it == kMethods.end() ? nullptr : &*it;
}

std::vector<std::string> method_names() {
  std::vector<std::string> out;
  for (const Method& m : kMethods) out.emplace_back(m.name);
  return out;
}

}  // namespace deputy::explore
