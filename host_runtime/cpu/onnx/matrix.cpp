// Products of matrices, and Det. Floats are added up in float in the order of the inner dimension.
#include <algorithm>
#include <cmath>

#include "host_runtime/cpu/onnx/call.h"

namespace deputy::host_runtime::onnx {
namespace {

using base::Status;

/// numpy.matmul's shapes: the last two dimensions multiply, those before repeat, a vector is a row
/// or a column.
struct Product {
  Shape a, b, batch, result;  ///< a, b: with at least two dimensions
  std::int64_t m = 0, k = 0, n = 0;
};
base::Result<Product> product_of(const Call& c, std::size_t ia, std::size_t ib) {
  Product p{c.shape(ia), c.shape(ib), {}, {}};
  if (p.a.empty() || p.b.empty()) return c.fail("a scalar has no matrix product");
  const bool row = p.a.size() == 1, column = p.b.size() == 1;
  if (row) p.a.insert(p.a.begin(), 1);
  if (column) p.b.push_back(1);
  p.m = p.a[p.a.size() - 2], p.k = p.a.back(), p.n = p.b.back();
  if (p.b[p.b.size() - 2] != p.k)
    return c.fail("matrices of shapes {} and {}", shape_text(c.shape(ia)), shape_text(c.shape(ib)));
  const auto batch =
      broadcast(Shape(p.a.begin(), p.a.end() - 2), Shape(p.b.begin(), p.b.end() - 2));
  if (!batch)
    return c.fail("matrices of shapes {} and {}", shape_text(c.shape(ia)), shape_text(c.shape(ib)));
  p.result = p.batch = *batch;
  if (!row) p.result.push_back(static_cast<std::int32_t>(p.m));
  if (!column) p.result.push_back(static_cast<std::int32_t>(p.n));
  return p;
}

/// Calls f(offset of a's matrix, of b's, of the result's) for each matrix.
template <class F>
void for_each_matrix(const Product& p, F&& f) {
  std::int64_t out = 0;
  const auto steps = [&](const Shape& s) {
    Ints step = broadcast_strides(Shape(s.begin(), s.end() - 2), p.batch);
    for (std::int64_t& v : step) v *= static_cast<std::int64_t>(s[s.size() - 2]) * s.back();
    return step;
  };
  for_each<2>(p.batch, {steps(p.a), steps(p.b)}, [&](const auto& at) {
    f(at[0], at[1], out);
    out += p.m * p.n;
  });
}

template <class T, class Sum>
void multiply(const T* a, const T* b, Sum* sums, std::int64_t m, std::int64_t k, std::int64_t n) {
  std::fill_n(sums, m * n, Sum{0});
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t l = 0; l < k; ++l) {
      const Sum x = static_cast<Sum>(static_cast<Wide<T>>(a[i * k + l]));
      for (std::int64_t j = 0; j < n; ++j)
        sums[i * n + j] += x * static_cast<Sum>(static_cast<Wide<T>>(b[l * n + j]));
    }
}

Status matmul(const Call& c) {
  DEPUTY_ASSIGN(const Product p, product_of(c, 0, 1));
  if (c.dtype(0) != c.dtype(1))
    return c.fail("operands of types {} and {}", dtype_name(c.dtype(0)), dtype_name(c.dtype(1)));
  DEPUTY_TRY(c.declare(0, c.dtype(), p.result));
  return with_type(
      c, c.dtype(),
      Types<float, double, Half, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>{},
      [&](auto zero) -> Status {
        using T = decltype(zero);
        using Sum = std::conditional_t<kReal<T>, Wide<T>, std::uint64_t>;
        if (c.infer_only()) return {};
        std::vector<Sum> sums(static_cast<std::size_t>(p.m * p.n));
        for_each_matrix(p, [&](std::int64_t a, std::int64_t b, std::int64_t out) {
          multiply(c.in<T>(0) + a, c.in<T>(1) + b, sums.data(), p.m, p.k, p.n);
          for (std::size_t i = 0; i < sums.size(); ++i)
            c.out<T>()[out + static_cast<std::int64_t>(i)] = static_cast<Wide<T>>(sums[i]);
        });
        return {};
      });
}

Status gemm(const Call& c) {
  const bool ta = c.node.integer("transA", 0) != 0, tb = c.node.integer("transB", 0) != 0;
  if (c.rank(0) != 2 || c.rank(1) != 2)
    return c.fail("operands of shapes {} and {}", shape_text(c.shape(0)), shape_text(c.shape(1)));
  const std::int64_t m = c.shape(0)[ta], k = c.shape(0)[!ta], n = c.shape(1)[!tb];
  if (c.shape(1)[tb] != k)
    return c.fail("operands of shapes {} and {}", shape_text(c.shape(0)), shape_text(c.shape(1)));
  const Shape shape = {static_cast<std::int32_t>(m), static_cast<std::int32_t>(n)};
  if (c.has(2)) {
    const auto both = broadcast(c.shape(2), shape);
    if (!both || *both != shape)
      return c.fail("an addend of shape {} for {}", shape_text(c.shape(2)), shape_text(shape));
  }
  for (std::size_t i = 1; i < c.inputs(); ++i)
    if (c.has(i) && c.dtype(i) != c.dtype())
      return c.fail("operands of types {} and {}", dtype_name(c.dtype()), dtype_name(c.dtype(i)));
  DEPUTY_TRY(c.declare(0, c.dtype(), shape));
  const float alpha = c.node.real("alpha", 1), beta = c.node.real("beta", 1);
  return with_type(c, c.dtype(), Types<float, double, Half, std::int32_t, std::int64_t>{},
                   [&](auto zero) -> Status {
                     using T = decltype(zero);
                     using W = Wide<T>;
                     if (c.infer_only()) return {};
                     const T *a = c.in<T>(0), *b = c.in<T>(1);
                     const Ints add = c.has(2) ? broadcast_strides(c.shape(2), shape) : Ints{0, 0};
                     for (std::int64_t i = 0; i < m; ++i)
                       for (std::int64_t j = 0; j < n; ++j) {
                         W sum = 0;
                         for (std::int64_t l = 0; l < k; ++l)
                           sum += static_cast<W>(a[ta ? l * m + i : i * k + l]) *
                                  static_cast<W>(b[tb ? j * k + l : l * n + j]);
                         if (alpha != 1) sum = static_cast<W>(static_cast<float>(sum) * alpha);
                         if (c.has(2)) {
                           const W addend = static_cast<W>(c.in<T>(2)[i * add[0] + j * add[1]]);
                           sum += beta == 1 ? addend
                                            : static_cast<W>(beta * static_cast<float>(addend));
                         }
                         c.out<T>()[i * n + j] = sum;
                       }
                     return {};
                   });
}

/// Zero points by row of a, by column of b, or one for all.
base::Result<Ints> zero_points(const Call& c, std::size_t i, DType type, std::int64_t count) {
  Ints out(static_cast<std::size_t>(std::max<std::int64_t>(1, count)), 0);
  if (!c.has(i)) return out;
  if (c.dtype(i) != type || (c.count(i) != 1 && c.count(i) != count))
    return c.fail("zero point {} is {} {}", i, dtype_name(c.dtype(i)), shape_text(c.shape(i)));
  if (c.infer_only()) return out;
  DEPUTY_ASSIGN(const Ints values, c.values(i));
  for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k)
    out[k] = values[values.size() == 1 ? 0 : k];
  return out;
}

/// The exact int32 product of 8-bit matrices less their zero points.
template <class F>
Status integer_product(const Call& c, const Product& p, std::size_t ia, std::size_t ib,
                       std::size_t za, std::size_t zb, F&& f) {
  using Bytes = Types<std::int8_t, std::uint8_t>;
  DEPUTY_ASSIGN(const Ints zero_a, zero_points(c, za, c.dtype(ia), p.m));
  DEPUTY_ASSIGN(const Ints zero_b, zero_points(c, zb, c.dtype(ib), p.n));
  return with_type(c, c.dtype(ia), Bytes{}, [&](auto ta) -> Status {
    return with_type(c, c.dtype(ib), Bytes{}, [&](auto tb) -> Status {
      if (c.infer_only()) return {};
      for_each_matrix(p, [&](std::int64_t a, std::int64_t b, std::int64_t out) {
        const auto* x = c.in<decltype(ta)>(ia) + a;
        const auto* y = c.in<decltype(tb)>(ib) + b;
        for (std::int64_t i = 0; i < p.m; ++i)
          for (std::int64_t j = 0; j < p.n; ++j) {
            std::uint32_t sum = 0;
            for (std::int64_t l = 0; l < p.k; ++l)
              sum += static_cast<std::uint32_t>(
                  (x[i * p.k + l] -
                   static_cast<std::int32_t>(zero_a[static_cast<std::size_t>(i)])) *
                  (y[l * p.n + j] -
                   static_cast<std::int32_t>(zero_b[static_cast<std::size_t>(j)])));
            f(out + i * p.n + j, static_cast<std::int32_t>(sum), j);
          }
      });
      return {};
    });
  });
}

Status matmul_integer(const Call& c) {
  DEPUTY_ASSIGN(const Product p, product_of(c, 0, 1));
  DEPUTY_TRY(c.declare(0, DType::kInt32, p.result));
  return integer_product(c, p, 0, 1, 2, 3, [&](std::int64_t at, std::int32_t sum, std::int64_t) {
    c.out<std::int32_t>()[at] = sum;
  });
}

/// a, its scale and zero point, b, its scale and zero point, the result's. As ONNX Runtime: the
/// product of the scales over the result's in float32, one multiplication, ties to even.
Status qlinear_matmul(const Call& c) {
  DEPUTY_ASSIGN(const Product p, product_of(c, 0, 3));
  if (c.count(6) != 1 || c.count(7) != 1 || c.count(1) != 1)
    return c.fail("the scales of a and the result must be one number");
  if (c.count(4) != 1 && c.count(4) != p.n)
    return c.fail("scales of shape {}", shape_text(c.shape(4)));
  for (const std::size_t i : {1, 4, 6})
    if (c.dtype(i) != DType::kFloat32) return c.fail("scale {} is {}", i, dtype_name(c.dtype(i)));
  DEPUTY_TRY(c.declare(0, c.dtype(7), p.result));
  return with_type(c, c.dtype(7), Types<std::int8_t, std::uint8_t>{}, [&](auto zero) -> Status {
    using T = decltype(zero);
    return integer_product(
        c, p, 0, 3, 2, 5, [&](std::int64_t at, std::int32_t sum, std::int64_t j) {
          const float scale =
              *c.in<float>(1) * c.in<float>(4)[c.count(4) == 1 ? 0 : j] / *c.in<float>(6);
          c.out<T>()[at] = quantise<T>(static_cast<float>(sum) * scale, 1, *c.in<T>(7));
        });
  });
}

Status det(const Call& c) {
  if (c.rank() < 2 || c.shape()[c.rank() - 1] != c.shape()[c.rank() - 2])
    return c.fail("shape {} is no square matrix", shape_text(c.shape()));
  const auto n = static_cast<std::size_t>(c.shape().back());
  DEPUTY_TRY(c.declare(0, c.dtype(), Shape(c.shape().begin(), c.shape().end() - 2)));
  return with_type(c, c.dtype(), Floats{}, [&](auto zero) -> Status {
    using T = decltype(zero);
    if (c.infer_only()) return {};
    for (std::int64_t k = 0; k < c.out_count(); ++k) {
      std::vector<double> m(n * n);
      for (std::size_t i = 0; i < m.size(); ++i)
        m[i] = static_cast<double>(
            static_cast<Wide<T>>(c.in<T>()[static_cast<std::size_t>(k) * n * n + i]));
      double out = 1;
      for (std::size_t i = 0; i < n; ++i) {  // elimination with the largest pivot
        std::size_t pivot = i;
        for (std::size_t r = i; r < n; ++r)
          if (std::fabs(m[r * n + i]) > std::fabs(m[pivot * n + i])) pivot = r;
        if (pivot != i) {
          out = -out;
          for (std::size_t col = 0; col < n; ++col) std::swap(m[i * n + col], m[pivot * n + col]);
        }
        out *= m[i * n + i];
        for (std::size_t r = i + 1; r < n && m[i * n + i] != 0; ++r) {
          const double factor = m[r * n + i] / m[i * n + i];
          for (std::size_t col = i; col < n; ++col) m[r * n + col] -= factor * m[i * n + col];
        }
      }
      c.out<T>()[k] = static_cast<Wide<T>>(out);
    }
    return {};
  });
}

constexpr Kernel kKernels[] = {{"Det", 1, 1, 1, det},
                               {"Gemm", 2, 3, 1, gemm},
                               {"MatMul", 2, 2, 1, matmul},
                               {"MatMulInteger", 2, 4, 1, matmul_integer},
                               {"QLinearMatMul", 8, 8, 1, qlinear_matmul}};

}  // namespace

std::span<const Kernel> matrix_kernels() { return kKernels; }

}  // namespace deputy::host_runtime::onnx
