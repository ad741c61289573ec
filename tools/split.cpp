#include "tools/split.h"

#include <sstream>

namespace deputy::tools {

std::vector<std::string> split(const std::string& line, char separator) {
  std::vector<std::string> out;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, separator);) out.push_back(cell);
  return out;
}

}  // namespace deputy::tools
