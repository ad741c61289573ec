// Lines of tables.
#pragma once

#include <string>
#include <vector>

namespace deputy::tools {

/// The parts of `line` between separators; none for an empty line, and none after a last separator.
std::vector<std::string> split(const std::string& line, char separator);

}  // namespace deputy::tools
