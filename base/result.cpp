#include "base/result.h"

namespace deputy::base {
std::string Error::text() const {
  std::string out;
  if (!where.empty()) out += where + ": ";
  out += message;
  if (!remedy.empty()) out += " (" + remedy + ")";
  return out;
}
}  // namespace deputy::base
