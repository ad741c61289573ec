#include "quantize/moments.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "quantize/prepare.h"

namespace deputy::quantize {
namespace {

using arch::OpKind;
using delegate::Graph;
using delegate::Op;

/// Products of a sample's patches for one operator, about: fewer patches where they are long.
constexpr std::size_t kProducts = std::size_t{1} << 22;
constexpr std::size_t kLeastPatches = 16, kMostPatches = 512;

/// Where the taps of a patch lie in the input. Out of the image: no place.
class Patches {
 public:
  Patches(const Graph& graph, const Op& op)
      : in_(graph.tensor(op.inputs[0]).desc.shape),
        w_(graph.tensor(op.inputs[1]).desc.shape),
        out_(graph.tensor(op.outputs[0]).desc.shape),
        attrs_(op.attrs),
        kind_(op.kind) {}

  std::size_t groups() const {
    if (kind_ == OpKind::FULLY_CONNECTED) return 1;
    const auto channels = static_cast<std::size_t>(in_[3]);
    return kind_ == OpKind::DEPTHWISE_CONV_2D ? channels
                                              : channels / static_cast<std::size_t>(w_[3]);
  }
  std::size_t taps() const {
    if (kind_ == OpKind::FULLY_CONNECTED) return static_cast<std::size_t>(w_[1]);
    return static_cast<std::size_t>(w_[1]) * static_cast<std::size_t>(w_[2]) * width();
  }
  std::size_t count() const {
    if (kind_ == OpKind::FULLY_CONNECTED)
      return static_cast<std::size_t>(element_count(in_)) / taps();
    return static_cast<std::size_t>(out_[0]) * static_cast<std::size_t>(out_[1]) *
           static_cast<std::size_t>(out_[2]);
  }
  void read(std::span<const float> x, std::size_t patch, std::size_t group, double* to) const {
    if (kind_ == OpKind::FULLY_CONNECTED) {
      std::copy_n(&x[patch * taps()], taps(), to);
      return;
    }
    const auto at = static_cast<std::int64_t>(patch);
    const std::int64_t ox = at % out_[2], oy = at / out_[2] % out_[1], b = at / out_[2] / out_[1];
    const std::size_t c = width();
    for (std::int64_t ky = 0; ky < w_[1]; ++ky)
      for (std::int64_t kx = 0; kx < w_[2]; ++kx, to += c) {
        const std::int64_t iy = oy * attrs_.stride_h - attrs_.pad_top + ky * attrs_.dilation_h;
        const std::int64_t ix = ox * attrs_.stride_w - attrs_.pad_left + kx * attrs_.dilation_w;
        if (iy < 0 || iy >= in_[1] || ix < 0 || ix >= in_[2])
          std::fill_n(to, c, 0.0);
        else
          std::copy_n(
              &x[static_cast<std::size_t>(((b * in_[1] + iy) * in_[2] + ix) * in_[3]) + group * c],
              c, to);
      }
  }

 private:
  std::size_t width() const {
    return kind_ == OpKind::DEPTHWISE_CONV_2D ? 1 : static_cast<std::size_t>(w_[3]);
  }
  const Shape &in_, &w_, &out_;
  const arch::OpAttrs& attrs_;
  const OpKind kind_;
};

/// Adds x x^T; of the second moments the lower triangle only.
void accumulate(std::span<const double> x, double* first, double* second) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    first[i] += x[i];
    if (x[i] == 0) continue;  // behind a RELU half of them are
    double* row = second + i * x.size();
    for (std::size_t j = 0; j <= i; ++j) row[j] += x[i] * x[j];
  }
}

void add_sample(const Patches& patches, std::span<const float> x, LayerMoments& layer,
                MomentSum& sum) {
  const std::size_t d = layer.taps, places = patches.count();
  const std::size_t wanted =
      std::clamp(kProducts / (d * d * layer.groups), kLeastPatches, kMostPatches);
  // Steps without a common divisor with the number of places come by every column.
  std::size_t step = std::max<std::size_t>(places / wanted, 1);
  while (std::gcd(step, places) != 1 && step < places) ++step;
  const std::size_t count = std::min(places, wanted);
  std::vector<double> patch(d);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t g = 0; g < layer.groups; ++g) {
      patches.read(x, i * step % places, g, patch.data());
      accumulate(patch, &sum.first[g * d], &sum.second[g * d * d]);
    }
  sum.count += static_cast<double>(count);
}

}  // namespace

InputMoments::InputMoments(const Graph& graph) {
  std::vector<std::pair<std::size_t, std::size_t>> sizes;  // bytes, operator
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    if (!is_weighted(graph, graph.ops[i])) continue;
    const Patches patches(graph, graph.ops[i]);
    if (patches.taps() == 0 || patches.count() == 0) continue;
    const std::size_t entries = patches.groups() * patches.taps() * (patches.taps() + 1);
    sizes.emplace_back(2 * entries * sizeof(double), i);
  }
  std::sort(sizes.begin(), sizes.end());
  std::size_t bytes = 0;
  for (const auto& [size, i] : sizes) {
    if (size > kMostBytes - bytes) break;
    bytes += size;
    const Patches patches(graph, graph.ops[i]);
    LayerMoments& layer = layers_[i];
    layer.groups = patches.groups(), layer.taps = patches.taps();
    for (MomentSum* sum : {&layer.fit, &layer.held}) {
      sum->first.assign(layer.groups * layer.taps, 0);
      sum->second.assign(layer.groups * layer.taps * layer.taps, 0);
    }
  }
}

base::Status InputMoments::add(const Graph& graph, std::span<const Bytes> inputs, bool held) {
  std::map<delegate::TensorId, std::vector<std::size_t>> readers;
  for (const auto& [i, layer] : layers_) readers[graph.ops[i].inputs[0]].push_back(i);
  const auto observe = [&](delegate::TensorId id,
                           std::span<const std::uint8_t> bytes) -> base::Status {
    const auto at = readers.find(id);
    if (at == readers.end() || bytes.empty()) return {};
    std::vector<float> x(bytes.size() / sizeof(float));
    std::memcpy(x.data(), bytes.data(), x.size() * sizeof(float));
    for (const std::size_t i : at->second) {
      LayerMoments& layer = layers_[i];
      add_sample(Patches(graph, graph.ops[i]), x, layer, held ? layer.held : layer.fit);
    }
    return {};
  };
  const auto outputs = Executor(graph, Numerics::kFp32).run(inputs, observe);
  return outputs.ok() ? base::Status{} : base::Status{outputs.error()};
}

const LayerMoments* InputMoments::find(std::size_t op) const {
  const auto at = layers_.find(op);
  return at == layers_.end() || at->second.fit.count == 0 ? nullptr : &at->second;
}

}  // namespace deputy::quantize
