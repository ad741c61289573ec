#include "tests/delegate/random_layers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "delegate/ir/padding.h"

namespace deputy::delegate::testing {
namespace {

using arch::OpKind;

class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {
    graph_.name = "layer" + std::to_string(seed);
    u8_ = pick(0, 3) == 0;
  }

  Graph make() {
    switch (pick(0, 11)) {
      case 0:
      case 1:
        conv();
        break;
      case 2:
        depthwise();
        break;
      case 3:
        fully_connected();
        break;
      case 4:
        pool();
        break;
      case 5:
        mean();
        break;
      case 6:
        eltwise();
        break;
      case 7:
        pad();
        break;
      case 8:
        concatenation();
        break;
      case 10:
        transpose();
        break;
      case 9:
        softmax();
        break;
      default:
        slice();
        break;
    }
    return std::move(graph_);
  }

 private:
  int pick(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1));
  }
  float scale(float low, float high) {
    return low * std::pow(high / low, static_cast<float>(random_() % 1000) / 1000.0f);
  }

  TensorId add(Tensor t) {
    t.desc.name = "t" + std::to_string(graph_.tensors.size());
    t.source_index = static_cast<std::int32_t>(graph_.tensors.size());
    graph_.tensors.push_back(std::move(t));
    return static_cast<TensorId>(graph_.tensors.size() - 1);
  }
  DType type() const { return u8_ ? DType::kUint8 : DType::kInt8; }
  std::int32_t lowest() const { return u8_ ? 0 : -128; }
  // `zero` as if the map were int8.
  TensorId map(Shape shape, float s, std::int32_t zero) {
    Tensor t;
    t.desc.shape = std::move(shape), t.desc.quant = {{s}, {zero + 128 + lowest()}, 0};
    t.desc.dtype = type();
    return add(std::move(t));
  }
  TensorId map(Shape shape) { return map(std::move(shape), scale(0.005f, 0.1f), pick(-128, 127)); }
  TensorId input(Shape shape) {
    const TensorId id = map(std::move(shape));
    graph_.inputs.push_back(id);
    return id;
  }
  TensorId same_as(TensorId other, Shape shape) {
    const Quantisation& q = graph_.tensor(other).desc.quant;
    return map(std::move(shape), q.scale[0], q.zero_point[0] - 128 - lowest());
  }
  template <class T>
  TensorId constant(Shape shape, DType type, const std::vector<T>& values) {
    Tensor t;
    t.desc.shape = std::move(shape), t.desc.dtype = type, t.constant = true;
    t.data.resize(values.size() * sizeof(T));
    std::memcpy(t.data.data(), values.data(), t.data.size());
    return add(std::move(t));
  }
  TensorId ints(const std::vector<std::int32_t>& values) {
    return constant({static_cast<std::int32_t>(values.size())}, DType::kInt32, values);
  }
  TensorId weights(Shape shape, std::int32_t axis, std::int32_t channels) {
    std::vector<std::int8_t> values(static_cast<std::size_t>(element_count(shape)));
    for (auto& v : values) v = static_cast<std::int8_t>(pick(-127, 127));
    const TensorId id = constant(std::move(shape), type(), values);
    Quantisation& q = graph_.tensor(id).desc.quant;
    const int scales = pick(0, 1) && !u8_ ? channels : 1;
    const int zero = u8_ ? pick(0, 255) : pick(0, 5) == 0 ? pick(-128, 127) : 0;
    for (int i = 0; i < scales; ++i)
      q.scale.push_back(scale(0.001f, 0.02f)), q.zero_point.push_back(zero);
    q.axis = axis;
    return id;
  }
  TensorId bias(std::int32_t channels) {
    if (pick(0, 4) == 0) return kNoTensor;
    std::vector<std::int32_t> values(static_cast<std::size_t>(channels));
    for (auto& v : values) v = pick(-20000, 20000);
    return constant({channels}, DType::kInt32, values);
  }
  void finish(OpKind kind, const arch::OpAttrs& attrs, std::vector<TensorId> inputs,
              std::vector<TensorId> outputs) {
    graph_.outputs = outputs;
    graph_.ops.push_back({kind, attrs, std::move(inputs), std::move(outputs), 0});
  }

  // Kernel, strides and pads in `a`; the output size. The window always fits.
  void window(arch::OpAttrs& a, int h, int w, int kh, int kw, int& oh, int& ow) {
    a.padding = static_cast<std::uint8_t>(pick(0, 1));
    const auto rule = static_cast<arch::Padding>(a.padding);
    const WindowExtent y = window_extent(rule, h, kh, a.stride_h, a.dilation_h),
                       x = window_extent(rule, w, kw, a.stride_w, a.dilation_w);
    oh = static_cast<int>(y.out), ow = static_cast<int>(x.out);
    a.pad_top = static_cast<std::int32_t>(y.pad_before),
    a.pad_bottom = static_cast<std::int32_t>(y.pad_after);
    a.pad_left = static_cast<std::int32_t>(x.pad_before),
    a.pad_right = static_cast<std::int32_t>(x.pad_after);
  }

  void conv() {
    arch::OpAttrs a;
    int kh = pick(1, 5), kw = pick(1, 5);
    a.stride_h = pick(1, 4), a.stride_w = pick(1, 4);
    a.dilation_h = pick(1, 2), a.dilation_w = pick(1, 2);
    if (pick(0, 1)) kh = kw = 1, a.stride_h = a.stride_w = 1;
    const int h = pick(1, 12) + (kh - 1) * a.dilation_h, w = pick(1, 12) + (kw - 1) * a.dilation_w;
    const int n = pick(1, 2), c = pick(0, 3) ? pick(1, 24) : pick(100, 700),
              oc = pick(0, 3) ? pick(1, 24) : pick(40, 90);
    int oh, ow;
    window(a, h, w, kh, kw, oh, ow);
    a.activation = static_cast<std::uint8_t>(pick(0, 3));
    const TensorId in = input({n, h, w, c}), weight = weights({oc, kh, kw, c}, 0, oc), b = bias(oc);
    finish(OpKind::CONV_2D, a, {in, weight, b},
           {map({n, oh, ow, oc}, scale(0.02f, 1), pick(-128, 127))});
  }
  void depthwise() {
    arch::OpAttrs a;
    const int kh = pick(1, 5), kw = pick(1, 5);
    a.stride_h = pick(1, 3), a.stride_w = a.stride_h;
    a.dilation_h = a.stride_h == 1 ? pick(1, 3) : 1, a.dilation_w = a.dilation_h;
    const int h = pick(1, 14) + (kh - 1) * a.dilation_h, w = pick(1, 14) + (kw - 1) * a.dilation_w,
              n = pick(1, 2);
    a.depth_multiplier = pick(0, 1) ? 1 : pick(2, 9);
    const int c = a.depth_multiplier == 1 && pick(0, 2) == 0 ? pick(60, 300) : pick(1, 20),
              oc = c * a.depth_multiplier;
    int oh, ow;
    window(a, h, w, kh, kw, oh, ow);
    a.activation = static_cast<std::uint8_t>(pick(0, 3));
    const TensorId in = input({n, h, w, c}), weight = weights({1, kh, kw, oc}, 3, oc), b = bias(oc);
    finish(OpKind::DEPTHWISE_CONV_2D, a, {in, weight, b},
           {map({n, oh, ow, oc}, scale(0.02f, 1), pick(-128, 127))});
  }
  void fully_connected() {
    arch::OpAttrs a;
    a.activation = static_cast<std::uint8_t>(pick(0, 3));
    const int rows = pick(1, 9), k = pick(0, 1) ? pick(1, 100) : pick(3000, 9000), oc = pick(1, 70);
    const TensorId in = input({rows, k}), weight = weights({oc, k}, 0, oc), b = bias(oc);
    finish(OpKind::FULLY_CONNECTED, a, {in, weight, b},
           {map({rows, oc}, scale(0.05f, 2), pick(-128, 127))});
  }
  void pool() {
    arch::OpAttrs a;
    a.filter_h = pick(1, 6), a.filter_w = pick(1, 6), a.stride_h = pick(1, 7),
    a.stride_w = pick(1, 7);
    const int h = pick(0, 20) + a.filter_h, w = pick(0, 20) + a.filter_w, n = pick(1, 2),
              c = pick(1, 80);
    int oh, ow;
    window(a, h, w, a.filter_h, a.filter_w, oh, ow);
    a.activation = static_cast<std::uint8_t>(pick(0, 3));
    const TensorId in = input({n, h, w, c});
    finish(pick(0, 1) ? OpKind::AVERAGE_POOL_2D : OpKind::MAX_POOL_2D, a, {in},
           {same_as(in, {n, oh, ow, c})});
  }
  void mean() {
    arch::OpAttrs a;
    a.keep_dims = pick(0, 1);
    const int n = pick(1, 3), h = pick(1, 20), w = pick(1, 20), c = pick(1, 150);
    const TensorId in = input({n, h, w, c});
    const int first = pick(0, 2) ? 1 : pick(0, 3), last = first == 1 ? pick(2, 3) : pick(first, 3);
    std::vector<std::int32_t> axes;
    Shape out;
    for (int i = 0; i < 4; ++i) {
      const bool gone = i >= first && i <= last;
      if (gone) axes.push_back(i);
      if (!gone || a.keep_dims)
        out.push_back(gone ? 1 : graph_.tensor(in).desc.shape[static_cast<std::size_t>(i)]);
    }
    const TensorId list = ints(axes);
    finish(OpKind::MEAN, a, {in, list}, {map(out)});
  }
  void eltwise() {
    constexpr OpKind kKinds[] = {OpKind::ADD, OpKind::SUB, OpKind::MUL, OpKind::MINIMUM,
                                 OpKind::MAXIMUM};
    const OpKind kind = kKinds[pick(0, 4)];
    Shape out(static_cast<std::size_t>(pick(1, 4)));
    for (auto& d : out) d = pick(1, 13);
    if (pick(0, 2) == 0) out.back() = pick(500, 3000);
    Shape a = out, b = out;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (pick(0, 3) == 0) b[i] = 1;
      if (b[i] == out[i] && pick(0, 5) == 0) a[i] = 1;
    }
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::max(a[i], b[i]);
    arch::OpAttrs attrs;
    if (kind != OpKind::MINIMUM && kind != OpKind::MAXIMUM)
      attrs.activation = static_cast<std::uint8_t>(pick(0, 3));
    const TensorId left = input(a);
    const bool like = kind == OpKind::MINIMUM || kind == OpKind::MAXIMUM;
    TensorId right;
    if (pick(0, 3) == 0) {
      std::vector<std::int8_t> values(static_cast<std::size_t>(element_count(b)));
      for (auto& v : values) v = static_cast<std::int8_t>(pick(-128, 127));
      right = constant(b, type(), values);
      graph_.tensor(right).desc.quant =
          like ? graph_.tensor(left).desc.quant
               : Quantisation{{scale(0.005f, 0.1f)}, {pick(0, 255) + lowest()}, 0};
    } else if (a == b && pick(0, 3) == 0) {
      right = left;
    } else {
      right = like ? same_as(left, b) : map(b);
      graph_.inputs.push_back(right);
    }
    finish(kind, attrs, {left, right}, {like ? same_as(left, out) : map(out)});
  }
  void pad() {
    Shape shape(static_cast<std::size_t>(pick(1, 4))), out;
    std::vector<std::int32_t> pads;
    for (auto& d : shape) {
      d = pick(1, 15);
      pads.push_back(pick(0, 3)), pads.push_back(pick(0, 3));
      out.push_back(d + pads[pads.size() - 2] + pads.back());
    }
    const TensorId in = input(shape);
    Tensor amounts;
    const TensorId constant_pads =
        constant({static_cast<std::int32_t>(shape.size()), 2}, DType::kInt32, pads);
    finish(OpKind::PAD, {}, {in, constant_pads}, {same_as(in, out)});
  }
  void concatenation() {
    Shape shape(static_cast<std::size_t>(pick(1, 4)));
    for (auto& d : shape) d = pick(1, 11);
    arch::OpAttrs a;
    a.axis = pick(0, static_cast<int>(shape.size()) - 1);
    const auto axis = static_cast<std::size_t>(a.axis);
    std::vector<TensorId> inputs = {input(shape)};
    Shape out = shape;
    for (int i = pick(0, 3); i > 0; --i) {
      shape[axis] = pick(1, 40);
      out[axis] += shape[axis];
      inputs.push_back(same_as(inputs[0], shape));
      graph_.inputs.push_back(inputs.back());
    }
    const TensorId result = same_as(inputs[0], out);
    finish(OpKind::CONCATENATION, a, inputs, {result});
  }
  void softmax() {
    Shape shape(static_cast<std::size_t>(pick(1, 4)));
    for (auto& d : shape) d = pick(1, 9);
    if (pick(0, 2)) shape.back() = pick(1, 1500);
    arch::OpAttrs a;
    a.beta = pick(0, 2) ? 1 : scale(0.1f, 4);
    const TensorId in = input(shape);
    finish(OpKind::SOFTMAX, a, {in}, {map(shape, 1.0f / 256, -128)});
  }
  void transpose() {
    Shape shape(static_cast<std::size_t>(pick(2, 4)));
    for (auto& d : shape) d = pick(1, 9);
    shape[static_cast<std::size_t>(pick(0, static_cast<int>(shape.size()) - 1))] = pick(1, 400);
    std::vector<std::int32_t> order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    Shape out;
    for (const auto axis : order) out.push_back(shape[static_cast<std::size_t>(axis)]);
    const TensorId in = input(shape), axes = ints(order);
    finish(OpKind::TRANSPOSE, {}, {in, axes}, {same_as(in, out)});
  }
  void slice() {
    Shape shape(static_cast<std::size_t>(pick(1, 5))), out;
    std::vector<std::int32_t> begin;
    for (auto& d : shape) d = pick(1, 12);
    if (pick(0, 2) == 0) shape.back() = pick(100, 2000);
    for (const auto d : shape) {
      begin.push_back(pick(0, d - 1));
      out.push_back(pick(1, d - begin.back()));
    }
    const TensorId in = input(shape), from = ints(begin), size = ints(out);
    finish(OpKind::SLICE, {}, {in, from, size}, {same_as(in, out)});
  }

  std::mt19937 random_;
  bool u8_ = false;  // the layer's feature maps are uint8
  Graph graph_;
};

}  // namespace

Graph random_layer(unsigned seed) { return Maker(seed).make(); }

std::vector<std::vector<std::uint8_t>> random_inputs(const Graph& graph, unsigned seed) {
  std::mt19937 random(seed ^ 0x9E3779B9u);
  std::vector<std::vector<std::uint8_t>> out;
  for (const TensorId id : graph.inputs) {
    out.emplace_back(static_cast<std::size_t>(graph.tensor(id).desc.bytes()));
    for (auto& byte : out.back()) byte = static_cast<std::uint8_t>(random());
  }
  return out;
}

}  // namespace deputy::delegate::testing
