// PAD (with the zero point), PADV2 (with a value of the same quantisation) and MIRROR_PAD. Any
// element type.
#include <algorithm>

#include "host_runtime/cpu/walk.h"

namespace deputy::host_runtime {
namespace {
using arch::OpKind;

/// Elements before and after each dimension.
struct Pads {
  std::vector<std::int64_t> before, after;
};

base::Result<Pads> plan(const OpCall& c, const IndexList& list) {
  const Shape& shape = c.x().shape;
  DEPUTY_TRY(expect(c, list.values.size() == 2 * shape.size(),
                    "the paddings operand must have two values a dimension"));
  Pads p;
  Shape out;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t before = list.values[2 * i], after = list.values[2 * i + 1];
    DEPUTY_TRY(expect(c, before >= 0 && after >= 0 && before < 2147483648LL && after < 2147483648LL,
                      "a padding is negative or too large"));
    if (c.kind == OpKind::MIRROR_PAD) {
      const std::int64_t limit = c.attrs.reflect ? shape[i] - 1 : shape[i];
      DEPUTY_TRY(expect(c, before <= limit && after <= limit,
                        "a mirror padding is larger than what it mirrors"));
    }
    const std::int64_t size = before + shape[i] + after;
    DEPUTY_TRY(
        expect(c, size == c.y().shape.at(i), "the output's shape is not input plus paddings"));
    p.before.push_back(before);
    p.after.push_back(after);
  }
  return p;
}

base::Status check_common(const OpCall& c, std::size_t operands) {
  DEPUTY_TRY(expect_operands(c, operands, operands, 1));
  DEPUTY_TRY(expect_same_dtype(c, c.x(), c.y()));
  DEPUTY_TRY(expect_index_operand(c, 1));
  DEPUTY_TRY(
      expect(c, c.x().shape.size() == c.y().shape.size(), "input and output must have one rank"));
  const IndexList list = read_indices(c.inputs[1]);
  if (list.known) DEPUTY_TRY(plan(c, list));
  return {};
}
base::Status check_pad(const OpCall& c) {
  DEPUTY_TRY(check_common(c, 2));
  return expect_quantised(c, c.y());
}
base::Status check_padv2(const OpCall& c) {
  DEPUTY_TRY(check_common(c, 3));
  DEPUTY_TRY(expect_same_dtype(c, c.x(0), c.x(2)));
  DEPUTY_TRY(expect(c, c.x(2).elements() == 1, "the pad value must be a scalar"));
  return expect(c, !c.x(2).quant.present() || same_quantisation(c.x(2), c.y()),
                "the pad value and the output must have equal quantisation");
}
base::Status check_mirror(const OpCall& c) { return check_common(c, 2); }

template <class T>
void pad_with(const OpCall& c, const Pads& p, T value) {
  T* out = c.out<T>();
  std::fill_n(out, c.y().elements(), value);
  Walk w;
  w.step = strides_of(c.y().shape);
  for (std::size_t i = 0; i < p.before.size(); ++i) w.start += p.before[i] * w.step[i];
  scatter_walk(c.inputs[0].data, c.outputs[0].data, sizeof(T), c.x().shape, w);
}

base::Status run_pad(const OpCall& c, Numerics) {
  DEPUTY_ASSIGN(const Pads p, plan(c, read_indices(c.inputs[1])));
  with_element_size(c.y().dtype, [&](auto zero) {
    using T = decltype(zero);
    if (c.kind == OpKind::PADV2)
      return pad_with<T>(c, p, c.in<T>(2)[0]);  // its output may have no quantisation
    // Two's complement bytes of the zero point; 0 for every other type, float included.
    pad_with<T>(c, p, static_cast<T>(is_quantised_type(c.y().dtype) ? zero_point_of(c.y()) : 0));
  });
  return {};
}

template <class T>
void mirror(const OpCall& c, const Pads& p) {
  const Shape &in = c.x().shape, &out = c.y().shape;
  const auto strides = strides_of(in);
  const std::int64_t edge = c.attrs.reflect ? 0 : 1, total = c.y().elements();
  std::vector<std::int32_t> index(out.size(), 0);
  for (std::int64_t o = 0; o < total; ++o) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < out.size(); ++d) {
      std::int64_t i = index[d] - p.before[d];
      if (i < 0) i = -i - edge;
      if (i >= in[d]) i = 2 * std::int64_t{in[d]} - 2 - i + edge;
      at += i * strides[d];
    }
    c.out<T>()[o] = c.in<T>()[at];
    for (std::size_t d = out.size(); d-- > 0;) {
      if (++index[d] < out[d]) break;
      index[d] = 0;
    }
  }
}

base::Status run_mirror(const OpCall& c, Numerics) {
  DEPUTY_ASSIGN(const Pads p, plan(c, read_indices(c.inputs[1])));
  with_element_size(c.y().dtype, [&](auto zero) { mirror<decltype(zero)>(c, p); });
  return {};
}

constexpr HostOp kOps[] = {{OpKind::PAD, check_pad, run_pad},
                           {OpKind::PADV2, check_padv2, run_pad},
                           {OpKind::MIRROR_PAD, check_mirror, run_mirror}};
}  // namespace

std::span<const HostOp> pad_ops() { return kOps; }

}  // namespace deputy::host_runtime
