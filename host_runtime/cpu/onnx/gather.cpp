// Elements picked by index and put by index.
#include <algorithm>

#include "host_runtime/cpu/onnx/call.h"

namespace deputy::host_runtime::onnx {
namespace {

using base::Status;

base::Error bad_index(const Call& c, std::int64_t index, std::int64_t size) {
  base::Error error = c.fail("index {} is outside a dimension of {}", index, size);
  error.kind = base::ErrorKind::kInput;
  return error;
}
/// Indices from the front; negative ones count from the back.
Status resolve(const Call& c, Ints& indices, std::int64_t size) {
  for (std::int64_t& i : indices) {
    if (i < -size || i >= size) return bad_index(c, i, size);
    if (i < 0) i += size;
  }
  return {};
}
Status need_index_type(const Call& c, std::size_t i) {
  if (c.dtype(i) == DType::kInt32 || c.dtype(i) == DType::kInt64) return {};
  return c.fail("indices of type {}", dtype_name(c.dtype(i)));
}

Status gather(const Call& c) {
  DEPUTY_ASSIGN(const std::int64_t axis, c.axis(c.node.integer("axis", 0), c.rank()));
  DEPUTY_TRY(need_index_type(c, 1));
  const auto a = static_cast<std::size_t>(axis);
  Shape shape(c.shape().begin(), c.shape().begin() + axis);
  shape.insert(shape.end(), c.shape(1).begin(), c.shape(1).end());
  shape.insert(shape.end(), c.shape().begin() + axis + 1, c.shape().end());
  DEPUTY_TRY(c.declare(0, c.dtype(), shape));
  if (c.infer_only()) return {};
  DEPUTY_ASSIGN(Ints indices, c.values(1));
  DEPUTY_TRY(resolve(c, indices, c.shape()[a]));
  const auto inner =
      static_cast<std::size_t>(product(c.shape(), a + 1, c.rank())) * dtype_size(c.dtype());
  std::uint8_t* out = c.out<std::uint8_t>();
  for (std::int64_t outer = 0; inner && outer < product(c.shape(), 0, a); ++outer)
    for (const std::int64_t i : indices) {
      std::memcpy(out,
                  c.in<std::uint8_t>() + static_cast<std::size_t>(outer * c.shape()[a] + i) * inner,
                  inner);
      out += inner;
    }
  return {};
}

/// For each position of the indices, the same position of the data with the index in place of the
/// axis's coordinate.
struct ElementPlaces {
  std::size_t axis = 0;
  Ints indices;
  std::int64_t at(const Call& c, std::int64_t i, const Ints& to, const Ints& from) const {
    std::int64_t out = 0;
    for (std::size_t d = 0; d < to.size(); ++d)
      out +=
          (d == axis ? indices[static_cast<std::size_t>(i)] : i / to[d] % c.shape(1)[d]) * from[d];
    return out;
  }
};
base::Result<std::size_t> element_axis(const Call& c) {
  DEPUTY_ASSIGN(const std::int64_t axis, c.axis(c.node.integer("axis", 0), c.rank()));
  DEPUTY_TRY(need_index_type(c, 1));
  if (c.rank(1) != c.rank())
    return c.fail("indices of shape {} for data of {}", shape_text(c.shape(1)),
                  shape_text(c.shape()));
  for (std::size_t d = 0; d < c.rank(); ++d)
    if (d != static_cast<std::size_t>(axis) && c.shape(1)[d] > c.shape()[d])
      return c.fail("indices of shape {} for data of {}", shape_text(c.shape(1)),
                    shape_text(c.shape()));
  return static_cast<std::size_t>(axis);
}
base::Result<ElementPlaces> element_places(const Call& c, std::size_t axis) {
  ElementPlaces out{axis, {}};
  DEPUTY_ASSIGN(out.indices, c.values(1));
  DEPUTY_TRY(resolve(c, out.indices, c.shape()[axis]));
  return out;
}

Status gather_elements(const Call& c) {
  DEPUTY_ASSIGN(const std::size_t axis, element_axis(c));
  DEPUTY_TRY(c.declare(0, c.dtype(), c.shape(1)));
  if (c.infer_only()) return {};
  DEPUTY_ASSIGN(const ElementPlaces places, element_places(c, axis));
  return with_width(c, c.dtype(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const Ints to = strides(c.shape(1)), from = strides(c.shape());
    for (std::int64_t i = 0; i < c.count(1); ++i)
      c.out<T>()[i] = c.in<T>()[places.at(c, i, to, from)];
    return {};
  });
}

enum class Reduction : std::uint8_t { kNone, kAdd, kMul, kMax, kMin };
base::Result<Reduction> reduction(const Call& c) {
  const std::string name = c.node.text("reduction", "none");
  constexpr const char* kNames[] = {"none", "add", "mul", "max", "min"};
  for (int i = 0; i < 5; ++i)
    if (name == kNames[i]) return static_cast<Reduction>(i);
  return c.fail("reduction {}", name);
}
template <class T>
void put(T& place, T value, Reduction how) {
  using W = Wide<T>;
  const W a = static_cast<W>(place), b = static_cast<W>(value);
  if constexpr (std::is_same_v<T, Bool>)
    place = value;
  else
    switch (how) {
      case Reduction::kNone:
        place = value;
        break;
      case Reduction::kAdd:
        place = static_cast<W>(a + b);
        break;
      case Reduction::kMul:
        place = static_cast<W>(a * b);
        break;
      case Reduction::kMax:
        place = a > b ? a : b;
        break;
      case Reduction::kMin:
        place = a < b ? a : b;
        break;
    }
}
void copy_data(const Call& c) {
  if (c.count())
    std::memcpy(c.out<std::uint8_t>(), c.in<std::uint8_t>(),
                static_cast<std::size_t>(c.count()) * dtype_size(c.dtype()));
}

Status scatter_elements(const Call& c) {
  DEPUTY_ASSIGN(const std::size_t axis, element_axis(c));
  DEPUTY_ASSIGN(const Reduction how, reduction(c));
  if (c.dtype(2) != c.dtype() || c.shape(2) != c.shape(1))
    return c.fail("updates of {} {}", dtype_name(c.dtype(2)), shape_text(c.shape(2)));
  DEPUTY_TRY(c.declare(0, c.dtype(), c.shape()));
  if (c.infer_only()) return {};
  DEPUTY_ASSIGN(const ElementPlaces places, element_places(c, axis));
  copy_data(c);
  return with_type(c, c.dtype(), Everything{}, [&](auto zero) -> Status {
    using T = decltype(zero);
    const Ints to = strides(c.shape(1)), from = strides(c.shape());
    for (std::int64_t i = 0; i < c.count(1); ++i)
      put(c.out<T>()[places.at(c, i, to, from)], c.in<T>(2)[i], how);
    return {};
  });
}

/// Where each index tuple of the ND forms begins in the data, in slices of `inner` elements.
struct Tuples {
  std::size_t batch = 0, length = 0;
  Shape rest;  ///< of a slice
};
base::Result<Tuples> tuples(const Call& c) {
  const std::int64_t batch = c.node.integer("batch_dims", 0);
  if (c.dtype(1) != DType::kInt64 && c.dtype(1) != DType::kInt32)
    return c.fail("indices of type {}", dtype_name(c.dtype(1)));
  if (c.rank() < 1 || c.rank(1) < 1 || batch < 0 ||
      batch >= static_cast<std::int64_t>(std::min(c.rank(), c.rank(1))))
    return c.fail("batch_dims {}", batch);
  Tuples t{static_cast<std::size_t>(batch), static_cast<std::size_t>(c.shape(1).back()), {}};
  if (t.batch + t.length > c.rank())
    return c.fail("indices of length {} for {} dimensions", t.length, c.rank());
  for (std::size_t d = 0; d < t.batch; ++d)
    if (c.shape()[d] != c.shape(1)[d])
      return c.fail("batches of shapes {} and {}", shape_text(c.shape()), shape_text(c.shape(1)));
  t.rest.assign(c.shape().begin() + static_cast<std::ptrdiff_t>(t.batch + t.length),
                c.shape().end());
  return t;
}
base::Result<Ints> tuple_places(const Call& c, const Tuples& t) {
  DEPUTY_ASSIGN(const Ints indices, c.values(1));
  const Ints step = strides(c.shape());
  const std::int64_t count = product(c.shape(1), 0, c.rank(1) - 1),
                     batches = product(c.shape(), 0, t.batch);
  Ints out;
  for (std::int64_t k = 0; k < count; ++k) {
    std::int64_t at = t.batch ? k / (count / batches) * step[t.batch - 1] : 0;
    for (std::size_t d = 0; d < t.length; ++d) {
      std::int64_t i = indices[static_cast<std::size_t>(k) * t.length + d];
      const std::int64_t size = c.shape()[t.batch + d];
      if (i < -size || i >= size) return bad_index(c, i, size);
      at += (i < 0 ? i + size : i) * step[t.batch + d];
    }
    out.push_back(at);
  }
  return out;
}

Status gather_nd(const Call& c) {
  DEPUTY_ASSIGN(const Tuples t, tuples(c));
  Shape shape(c.shape(1).begin(), c.shape(1).end() - 1);
  shape.insert(shape.end(), t.rest.begin(), t.rest.end());
  DEPUTY_TRY(c.declare(0, c.dtype(), shape));
  if (c.infer_only()) return {};
  DEPUTY_ASSIGN(const Ints places, tuple_places(c, t));
  const std::size_t width = dtype_size(c.dtype()),
                    bytes = static_cast<std::size_t>(element_count(t.rest)) * width;
  for (std::size_t k = 0; bytes && k < places.size(); ++k)
    std::memcpy(c.out<std::uint8_t>() + k * bytes,
                c.in<std::uint8_t>() + static_cast<std::size_t>(places[k]) * width, bytes);
  return {};
}

Status scatter_nd(const Call& c) {
  DEPUTY_ASSIGN(const Tuples t, tuples(c));
  DEPUTY_ASSIGN(const Reduction how, reduction(c));
  Shape updates(c.shape(1).begin(), c.shape(1).end() - 1);
  updates.insert(updates.end(), t.rest.begin(), t.rest.end());
  if (c.shape(2) != updates || c.dtype(2) != c.dtype())
    return c.fail("updates of {} {}", dtype_name(c.dtype(2)), shape_text(c.shape(2)));
  DEPUTY_TRY(c.declare(0, c.dtype(), c.shape()));
  if (c.infer_only()) return {};
  DEPUTY_ASSIGN(const Ints places, tuple_places(c, t));
  copy_data(c);
  return with_type(c, c.dtype(), Everything{}, [&](auto zero) -> Status {
    using T = decltype(zero);
    const std::int64_t inner = element_count(t.rest);
    for (std::size_t k = 0; k < places.size(); ++k)
      for (std::int64_t i = 0; i < inner; ++i)
        put(c.out<T>()[places[k] + i], c.in<T>(2)[static_cast<std::int64_t>(k) * inner + i], how);
    return {};
  });
}

Status one_hot(const Call& c) {
  DEPUTY_ASSIGN(const double depth, c.number(1));
  const auto n = static_cast<std::int64_t>(depth);
  if (n < 0 || n > 1 << 24 || c.count(2) != 2)
    return c.fail("depth {} and {} values", depth, c.count(2));
  DEPUTY_ASSIGN(const std::int64_t axis, c.axis(c.node.integer("axis", -1), c.rank() + 1));
  Shape shape = c.shape();
  shape.insert(shape.begin() + axis, static_cast<std::int32_t>(n));
  DEPUTY_TRY(c.declare(0, c.dtype(2), shape));
  if (c.infer_only()) return {};
  Ints indices;
  DEPUTY_TRY(with_type(c, c.dtype(), Numbers{}, [&](auto zero) -> Status {
    using T = decltype(zero);
    for (std::int64_t i = 0; i < c.count(); ++i)
      indices.push_back(static_cast<std::int64_t>(static_cast<Wide<T>>(c.in<T>()[i])));
    return {};
  }));
  return with_width(c, c.dtype(2), [&](auto zero) -> Status {
    using T = decltype(zero);
    const std::int64_t inner = product(c.shape(), static_cast<std::size_t>(axis), c.rank());
    for (std::int64_t i = 0; i < c.out_count(); ++i) {
      std::int64_t index = indices[static_cast<std::size_t>(i / (inner * n) * inner + i % inner)];
      if (index < 0) index += n;
      c.out<T>()[i] = c.in<T>(2)[index == i / inner % n];
    }
    return {};
  });
}

constexpr Kernel kKernels[] = {{"Gather", 2, 2, 1, gather},
                               {"GatherElements", 2, 2, 1, gather_elements},
                               {"GatherND", 2, 2, 1, gather_nd},
                               {"OneHot", 3, 3, 1, one_hot, "the depth is constant"},
                               {"Scatter", 3, 3, 1, scatter_elements},
                               {"ScatterElements", 3, 3, 1, scatter_elements},
                               {"ScatterND", 3, 3, 1, scatter_nd}};

}  // namespace

std::span<const Kernel> gather_kernels() { return kKernels; }

}  // namespace deputy::host_runtime::onnx
