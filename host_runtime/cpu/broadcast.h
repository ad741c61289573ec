// NumPy-style broadcasting of two operands.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "host_runtime/cpu/op_call.h"

namespace deputy::host_runtime {

/// The output shape that two operands broadcast to, or an error.
base::Result<Shape> broadcast_shape(const OpCall& c, const Shape& a, const Shape& b);

/// Strides of an operand in the output's index space: 0 along repeated dimensions.
std::vector<std::int64_t> broadcast_strides(const Shape& operand, const Shape& out);

/// Calls f(offset in a, offset in b, offset in out) for every output element, in order.
template <class F>
void for_each_broadcast(const Shape& a, const Shape& b, const Shape& out, F&& f) {
  const std::int64_t total = element_count(out);
  if (a == out && b == out) {
    for (std::int64_t i = 0; i < total; ++i) f(i, i, i);
    return;
  }
  const auto sa = broadcast_strides(a, out), sb = broadcast_strides(b, out);
  if (out.empty()) return f(0, 0, 0);
  if (total == 0) return;
  const std::size_t last = out.size() - 1;
  std::vector<std::int32_t> index(out.size(), 0);
  std::int64_t oa = 0, ob = 0;
  for (std::int64_t o = 0; o < total;) {
    for (std::int32_t i = 0; i < out[last]; ++i, ++o) f(oa + i * sa[last], ob + i * sb[last], o);
    for (std::size_t d = last; d-- > 0;) {
      oa += sa[d], ob += sb[d];
      if (++index[d] < out[d]) break;
      oa -= sa[d] * out[d], ob -= sb[d] * out[d];
      index[d] = 0;
    }
  }
}

}  // namespace deputy::host_runtime
