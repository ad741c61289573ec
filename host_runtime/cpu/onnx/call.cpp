#include "host_runtime/cpu/onnx/call.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace deputy::host_runtime::onnx {

Half::Half(float value) {
  const auto word = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(word >> 16 & 0x8000);
  const std::uint32_t magnitude = word & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) {
    bits = static_cast<std::uint16_t>(sign | 0x7E00);
  } else if (magnitude >= 0x477FF000) {  // 65520 rounds to infinity
    bits = static_cast<std::uint16_t>(sign | 0x7C00);
  } else if (magnitude < 0x38800000) {  // subnormal: a multiple of 2^-24
    const float steps = std::nearbyint(std::fabs(value) * 0x1p24f);
    bits = static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(steps));
  } else {
    const std::uint32_t rounded = magnitude + 0xFFF + (magnitude >> 13 & 1);
    bits = static_cast<std::uint16_t>(sign | (rounded - 0x38000000) >> 13);
  }
}

Half::operator float() const {
  const float sign = bits & 0x8000 ? -1.0f : 1.0f;
  const int exponent = bits >> 10 & 31, fraction = bits & 0x3FF;
  if (exponent == 31) return fraction ? std::bit_cast<float>(0x7FC00000u) : sign * HUGE_VALF;
  if (exponent == 0) return sign * static_cast<float>(fraction) * 0x1p-24f;
  return sign * std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
}

base::Status Call::declare(std::size_t i, DType dtype, Shape shape) const {
  if (i >= slots_.size()) {  // an optional result that the node does not list
    slots_.resize(i + 1);
    slots_[i].wanted = false;
  }
  Slot& slot = slots_[i];
  if (shape.size() > 8) return fail("a result of {} dimensions is not supported", shape.size());
  std::int64_t bytes = static_cast<std::int64_t>(dtype_size(dtype));
  for (const std::int32_t dim : shape) {
    if (dim < 0) return fail("the operands imply a result of shape {}", shape_text(shape));
    bytes *= dim == 0 ? 1 : dim;
    if (bytes > std::int64_t{1} << 30)
      return fail("a result of shape {} is too large", shape_text(shape));
  }
  if (slot.expected && slot.wanted &&
      (slot.expected->dtype != dtype || slot.expected->shape != shape)) {
    base::Error error =
        fail("result {} is {} {}, but the model says {} {}", i, dtype_name(dtype),
             shape_text(shape), dtype_name(slot.expected->dtype), shape_text(slot.expected->shape));
    if (mode_ == Mode::kRun) error.kind = base::ErrorKind::kInput;
    return error;
  }
  slot.dtype = dtype, slot.shape = std::move(shape), slot.declared = true;
  if (mode_ == Mode::kInfer || (mode_ == Mode::kRun && slot.wanted)) return {};
  slot.own.assign(std::max<std::size_t>(
                      1, static_cast<std::size_t>(element_count(slot.shape)) * dtype_size(dtype)),
                  0);
  slot.data = slot.own.data();
  return {};
}

base::Result<Ints> Call::values(std::size_t i) const {
  if (!has(i)) return fail("operand {} is missing", i);
  if (!known(i)) return unknown(i);
  Ints out(static_cast<std::size_t>(count(i)));
  DEPUTY_TRY(with_type(*this, dtype(i), Integers{}, [&](auto zero) -> base::Status {
    const auto* data = in<decltype(zero)>(i);
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = static_cast<std::int64_t>(data[k]);
    return {};
  }));
  return out;
}

base::Result<double> Call::number(std::size_t i) const {
  if (count(i) != 1) return fail("operand {} must have one element", i);
  if (!known(i)) return unknown(i);
  double out = 0;
  DEPUTY_TRY(with_type(*this, dtype(i), Everything{}, [&](auto zero) -> base::Status {
    out = static_cast<double>(*in<decltype(zero)>(i));
    return {};
  }));
  return out;
}

base::Result<std::int64_t> Call::axis(std::int64_t axis, std::size_t rank) const {
  const auto r = static_cast<std::int64_t>(rank);
  if (axis < -r || axis >= r)
    return fail("axis {} is outside a tensor of {} dimensions", axis, rank);
  return axis < 0 ? axis + r : axis;
}

base::Result<Ints> Call::axes(std::size_t i, const char* attribute, std::size_t rank) const {
  Ints list = node.integers(attribute);
  if (has(i)) {
    DEPUTY_ASSIGN(list, values(i));
  }
  for (std::int64_t& a : list) {
    DEPUTY_ASSIGN(a, axis(a, rank));
  }
  Ints sorted = list;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    return fail("an axis is listed twice");
  return list;
}

base::Error Call::error(std::string message) const {
  return {base::ErrorKind::kUnsupported, node.op, std::move(message), ""};
}

base::Error Call::unknown(std::size_t input) const {
  unknown_ = true;
  return {base::ErrorKind::kUnsupported, node.op,
          fmt::format("the result's shape depends on the values of operand {}{}, which are not "
                      "known when compiling",
                      input,
                      has(input) && !inputs_[input].desc->name.empty()
                          ? " '" + inputs_[input].desc->name + "'"
                          : ""),
          "bind the operand's value, or give the model a fixed output shape"};
}

const Kernel* find_kernel(std::string_view op) {
  static const std::map<std::string_view, const Kernel*> table = [] {
    std::map<std::string_view, const Kernel*> out;
    for (const Kernel* kernel : all_kernels()) out.emplace(kernel->op, kernel);
    return out;
  }();
  const auto at = table.find(op);
  return at == table.end() ? nullptr : at->second;
}

std::vector<const Kernel*> all_kernels() {
  std::vector<const Kernel*> out;
  for (const auto family :
       {unary_kernels(), binary_kernels(), cast_kernels(), reduce_kernels(), shape_kernels(),
        slice_kernels(), gather_kernels(), select_kernels(), matrix_kernels(), einsum_kernels(),
        conv_kernels(), pool_kernels(), norm_kernels(), loss_kernels(), rnn_kernels(),
        quant_kernels(), resize_kernels(), signal_kernels()})
    for (const Kernel& kernel : family) out.push_back(&kernel);
  return out;
}

Ints strides(const Shape& shape) {
  Ints out(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) out[i - 1] = out[i] * shape[i];
  return out;
}

std::int64_t product(const Shape& shape, std::size_t from, std::size_t to) {
  std::int64_t out = 1;
  for (std::size_t i = from; i < to; ++i) out *= shape[i];
  return out;
}

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  Shape out(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t back = out.size() - i;
    const std::int32_t x = back <= a.size() ? a[a.size() - back] : 1,
                       y = back <= b.size() ? b[b.size() - back] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    out[i] = x == 1 ? y : x;
  }
  return out;
}

Ints broadcast_strides(const Shape& from, const Shape& to) {
  const Ints own = strides(from);
  Ints out(to.size(), 0);
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i] != 1) out[to.size() - from.size() + i] = own[i];
  return out;
}

base::Result<Windows> windows(const Call& c, const Shape& image, const Ints& kernel, bool ceil) {
  const std::size_t n = kernel.size();
  if (image.size() != n + 2)
    return c.fail("a window of {} dimensions on a tensor of shape {}", n, shape_text(image));
  Windows w;
  w.kernel = kernel;
  w.stride = c.node.integers("strides", Ints(n, 1)),
  w.dilation = c.node.integers("dilations", Ints(n, 1));
  const Ints pads = c.node.integers("pads", Ints(2 * n, 0));
  if (w.stride.size() != n || w.dilation.size() != n || pads.size() != 2 * n)
    return c.fail("strides, dilations or pads do not fit a window of {} dimensions", n);
  const std::string automatic = c.node.text("auto_pad", "NOTSET");
  for (std::size_t d = 0; d < n; ++d) {
    constexpr std::int64_t kMost = 1 << 24;
    const std::int64_t k = kernel[d], s = w.stride[d], l = w.dilation[d], size = image[d + 2];
    if (k < 1 || s < 1 || l < 1 || k > kMost || s > kMost || l > kMost ||
        std::abs(pads[d]) > kMost || std::abs(pads[d + n]) > kMost)
      return c.fail("a window of {} with stride {}, dilation {}, pads {} and {}", k, s, l, pads[d],
                    pads[d + n]);
    const std::int64_t span = (k - 1) * l + 1;
    std::int64_t before = pads[d], after = pads[d + n], out = 0;
    if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
      out = (size + s - 1) / s;
      const std::int64_t all = std::max<std::int64_t>(0, (out - 1) * s + span - size);
      before = automatic == "SAME_UPPER" ? all / 2 : all - all / 2;
    } else {
      if (automatic == "VALID")
        before = after = 0;
      else if (automatic != "NOTSET")
        return c.fail("auto_pad {} is unknown", automatic);
      const std::int64_t room = size + before + after - span;
      if (room < 0)
        return c.fail("a window that spans {} does not fit {} elements with pads {} and {}", span,
                      size, before, after);
      out = (ceil ? (room + s - 1) / s : room / s) + 1;
      if (ceil && (out - 1) * s >= size + before)
        --out;  // it would start in the padding after the image
    }
    w.in.push_back(size), w.out.push_back(out), w.begin.push_back(before);
  }
  return w;
}

template <class T>
T quantise(float x, float scale, std::int32_t zero) {
  const float steps = std::nearbyint(x / scale);
  if (std::isnan(steps)) return static_cast<T>(zero);
  const double value = static_cast<double>(steps) + zero;
  return static_cast<T>(
      std::clamp<double>(value, std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()));
}
template std::int8_t quantise<std::int8_t>(float, float, std::int32_t);
template std::uint8_t quantise<std::uint8_t>(float, float, std::int32_t);
template std::int16_t quantise<std::int16_t>(float, float, std::int32_t);
template std::uint16_t quantise<std::uint16_t>(float, float, std::int32_t);
template std::int32_t quantise<std::int32_t>(float, float, std::int32_t);

}  // namespace deputy::host_runtime::onnx
