// BATCH_MATMUL with broadcast batches and optional transposed operands. int8: exact int32 sums, one
// multiplier s_x * s_y / s_out as FULLY_CONNECTED; float32: sums in order.
#include "host_runtime/cpu/broadcast.h"
#include "host_runtime/cpu/requant_channels.h"

namespace deputy::host_runtime {
namespace {
using arch::OpKind;

/// Rows x depth times depth x cols, and the element strides of each operand within its matrix.
struct Product {
  std::int64_t rows, depth, cols;
  std::int64_t x_row, x_k, y_k, y_col;
  Shape x_batch, y_batch, batch;
};

base::Result<Product> plan(const OpCall& c) {
  const Shape &x = c.x(0).shape, &y = c.x(1).shape;
  DEPUTY_TRY(expect(c, x.size() >= 2 && y.size() >= 2, "operands must have at least rank 2"));
  const std::int64_t x1 = x[x.size() - 2], x2 = x.back(), y1 = y[y.size() - 2], y2 = y.back();
  const bool ax = c.attrs.adj_x, ay = c.attrs.adj_y;
  Product p{ax ? x2 : x1,
            ax ? x1 : x2,
            ay ? y1 : y2,
            ax ? 1 : x2,
            ax ? x2 : 1,
            ay ? 1 : y2,
            ay ? y2 : 1,
            Shape(x.begin(), x.end() - 2),
            Shape(y.begin(), y.end() - 2),
            {}};
  DEPUTY_TRY(expect(c, p.depth == (ay ? y2 : y1), "the inner dimensions differ"));
  DEPUTY_ASSIGN(p.batch, broadcast_shape(c, p.x_batch, p.y_batch));
  Shape out = p.batch;
  out.push_back(static_cast<std::int32_t>(p.rows));
  out.push_back(static_cast<std::int32_t>(p.cols));
  DEPUTY_TRY(expect_shape(c, c.y(), out));
  return p;
}

base::Status check(const OpCall& c) {
  DEPUTY_TRY(expect_operands(c, 2, 2, 1));
  DEPUTY_TRY(expect_dtype(c, c.x(), {DType::kInt8, DType::kFloat32}));
  DEPUTY_TRY(expect_same_dtype(c, c.x(0), c.x(1)));
  DEPUTY_TRY(expect_same_dtype(c, c.x(0), c.y()));
  for (const auto* t : {&c.x(0), &c.x(1), &c.y()}) DEPUTY_TRY(expect_quantised(c, *t));
  DEPUTY_TRY(plan(c));
  return {};
}

/// finish(output offset, sum) for every output element.
template <class T, class Sum, class F>
void multiply(const OpCall& c, const Product& p, std::int32_t zx, std::int32_t zy, F&& finish) {
  for_each_broadcast(
      p.x_batch, p.y_batch, p.batch, [&](std::int64_t bx, std::int64_t by, std::int64_t bo) {
        const T* x = c.in<T>(0) + bx * p.rows * p.depth;
        const T* y = c.in<T>(1) + by * p.depth * p.cols;
        for (std::int64_t r = 0; r < p.rows; ++r)
          for (std::int64_t q = 0; q < p.cols; ++q) {
            Sum sum = 0;
            for (std::int64_t k = 0; k < p.depth; ++k)
              sum += (static_cast<Sum>(x[r * p.x_row + k * p.x_k]) - static_cast<Sum>(zx)) *
                     (static_cast<Sum>(y[k * p.y_k + q * p.y_col]) - static_cast<Sum>(zy));
            finish((bo * p.rows + r) * p.cols + q, sum);
          }
      });
}

base::Status run(const OpCall& c, Numerics mode) {
  DEPUTY_ASSIGN(const Product p, plan(c));
  if (c.x().dtype == DType::kFloat32) {
    multiply<float, float>(c, p, 0, 0, [&](std::int64_t o, float sum) { c.out<float>()[o] = sum; });
    return {};
  }
  const ChannelRequant requant(c.x(0), c.x(1), c.y(), 1, 0, ProductRule::kFullyConnected,
                               builtin_rule(mode));
  multiply<std::int8_t, std::int64_t>(
      c, p, zero_point_of(c.x(0)), zero_point_of(c.x(1)), [&](std::int64_t o, std::int64_t sum) {
        c.out<std::int8_t>()[o] =
            static_cast<std::int8_t>(requant.one(static_cast<std::int32_t>(sum), 0));
      });
  return {};
}

constexpr HostOp kOps[] = {{OpKind::BATCH_MATMUL, check, run}};
}  // namespace

std::span<const HostOp> matmul_ops() { return kOps; }

}  // namespace deputy::host_runtime
