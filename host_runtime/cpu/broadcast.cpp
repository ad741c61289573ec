// Broadcasting (broadcast.h).
#include "host_runtime/cpu/broadcast.h"

#include <fmt/format.h>

namespace deputy::host_runtime {

base::Result<Shape> broadcast_shape(const OpCall& c, const Shape& a, const Shape& b) {
  Shape out(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int32_t da = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int32_t db = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (da != db && da != 1 && db != 1)
      return op_error(
          c, fmt::format("shapes {} and {} do not broadcast", shape_text(a), shape_text(b)));
    out[out.size() - 1 - i] = da == 1 ? db : da;
  }
  return out;
}

std::vector<std::int64_t> broadcast_strides(const Shape& operand, const Shape& out) {
  const auto own = strides_of(operand);
  std::vector<std::int64_t> strides(out.size(), 0);
  const std::size_t lead = out.size() - operand.size();
  for (std::size_t i = 0; i < operand.size(); ++i)
    if (operand[i] != 1) strides[lead + i] = own[i];
  return strides;
}

}  // namespace deputy::host_runtime
