// How the points of an exploration are chosen: the one list of it.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace deputy::explore {

struct Method {
  const char* name;
  bool search;  ///< what comes next depends on what was found; else all points are known before the
                ///< first runs
};
std::span<const Method> methods();
/// Null when there is none of that name.
const Method* find_method(const std::string& name);
std::vector<std::string> method_names();

}  // namespace deputy::explore
