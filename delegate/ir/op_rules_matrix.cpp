// FULLY_CONNECTED and BATCH_MATMUL.
#include "delegate/ir/op_checker.h"

namespace deputy::delegate {
namespace {

using base::Status;

Status check_fully_connected(const OpChecker& c) {
  DEPUTY_TRY(c.operands(2, 3));
  DEPUTY_TRY(c.rank(c.in(1), 2));
  const Tensor& input = c.in(0);
  const Tensor& weights = c.in(1);
  const Tensor& output = c.out();
  const std::int32_t n = weights.desc.shape[0], k = weights.desc.shape[1];
  if (n < 1 || k < 1 || input.desc.shape.empty() || input.desc.elements() % k != 0)
    return c.malformed("weights {} do not fit input {}", shape_text(weights.desc.shape),
                       shape_text(input.desc.shape));
  if (c.attrs().keep_num_dims) {
    auto shape = wide(input.desc.shape);
    if (shape.back() != k)
      return c.malformed("weights {} do not fit input {}", shape_text(weights.desc.shape),
                         shape_text(input.desc.shape));
    shape.back() = n;
    DEPUTY_TRY(c.output_is(shape));
  } else if (output.desc.shape.empty() || output.desc.shape.back() != n ||
             output.desc.elements() != input.desc.elements() / k * n) {
    return c.malformed("output {} does not hold {} rows of {}", shape_text(output.desc.shape),
                       input.desc.elements() / k, n);
  }
  return c.conv_types(input, weights, 2, 0, n);
}

Status check_batch_matmul(const OpChecker& c) {
  DEPUTY_TRY(c.operands(2, 2));
  Shape a = c.in_shape(0), b = c.in_shape(1);
  if (a.size() < 2 || b.size() < 2)
    return c.malformed("{} and {} are not matrices", shape_text(a), shape_text(b));
  DEPUTY_TRY(c.same_type(c.in(0), c.in(1)));
  DEPUTY_TRY(c.same_type(c.in(0), c.out()));
  const std::int32_t m = a[a.size() - (c.attrs().adj_x ? 1 : 2)],
                     ka = a[a.size() - (c.attrs().adj_x ? 2 : 1)];
  const std::int32_t n = b[b.size() - (c.attrs().adj_y ? 2 : 1)],
                     kb = b[b.size() - (c.attrs().adj_y ? 1 : 2)];
  if (ka != kb) return c.malformed("inner sizes {} and {} differ", ka, kb);
  a.resize(a.size() - 2);
  b.resize(b.size() - 2);
  auto shape = broadcast(a, b);
  if (!shape)
    return c.malformed("batches {} and {} do not broadcast", shape_text(a), shape_text(b));
  shape->push_back(m);
  shape->push_back(n);
  DEPUTY_TRY(c.per_tensor(c.in(0)));
  DEPUTY_TRY(c.per_tensor(c.in(1)));
  DEPUTY_TRY(c.per_tensor(c.out()));
  return c.output_is(*shape);
}

}  // namespace

Status check_matrix_op(const OpChecker& c) {
  return c.op().kind == arch::OpKind::FULLY_CONNECTED ? check_fully_connected(c)
                                                      : check_batch_matmul(c);
}

}  // namespace deputy::delegate
