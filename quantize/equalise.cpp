#include "quantize/equalise.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "quantize/prepare.h"

namespace deputy::quantize {
namespace {

using arch::OpKind;
using delegate::Graph;
using delegate::Op;
using delegate::TensorId;

constexpr int kPasses = 20;
constexpr float kSettled = 1e-3f;              ///< no factor further from 1 than this: done
constexpr float kLeast = 1e-4f, kMost = 1e4f;  ///< a factor's limits

struct Pair {
  std::size_t first = 0, second = 0;  ///< operators
};

bool linear(std::uint8_t activation) {
  return activation == static_cast<std::uint8_t>(arch::Activation::kNone) ||
         activation == static_cast<std::uint8_t>(arch::Activation::kRelu);
}

/// Whether f(x * s) == f(x) * s for any positive factor by channel of the last dimension.
bool commutes(const Graph& graph, const Op& op) {
  const Shape& in = graph.tensor(op.inputs[0]).desc.shape;
  switch (op.kind) {
    case OpKind::RELU:
    case OpKind::LEAKY_RELU:
    case OpKind::PAD:
      return op.kind != OpKind::PAD || graph.tensor(op.outputs[0]).desc.shape.back() == in.back();
    case OpKind::AVERAGE_POOL_2D:
    case OpKind::MAX_POOL_2D:
      return linear(op.attrs.activation);
    case OpKind::MEAN:
      return !in.empty() && !graph.tensor(op.outputs[0]).desc.shape.empty() && in.size() == 4 &&
             graph.tensor(op.outputs[0]).desc.shape.back() == in.back() &&
             graph.tensor(op.outputs[0]).desc.elements() == std::int64_t{in[0]} * in[3];
    // Rows of several channels: the matrix's column says which channel it is.
    case OpKind::RESHAPE:
    case OpKind::SQUEEZE:
    case OpKind::EXPAND_DIMS:
      return true;
    default:
      return false;
  }
}

std::vector<Pair> find_pairs(const Graph& graph) {
  const auto users = users_of(graph);
  std::vector<Pair> out;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const Op& first = graph.ops[i];
    if (!is_weighted(graph, first) || !linear(first.attrs.activation)) continue;
    TensorId at = first.outputs[0];
    for (;;) {
      const auto& next = users[static_cast<std::size_t>(at)];
      if (next.size() != 1 || next[0] == kGraphOutput) break;
      const Op& op = graph.ops[next[0]];
      if (op.inputs[0] != at) break;
      if (is_weighted(graph, op)) {
        const std::size_t channels = weight_channels(graph, first);
        const Shape& w = graph.tensor(op.inputs[1]).desc.shape;
        const auto in = static_cast<std::size_t>(
            op.kind == OpKind::FULLY_CONNECTED ? w[1] : graph.tensor(at).desc.shape.back());
        // A grouped convolution's weights do not tell which channel they read.
        const bool grouped = op.kind == OpKind::CONV_2D && static_cast<std::size_t>(w[3]) != in;
        if (!grouped && in % channels == 0 &&
            (in == channels || op.kind == OpKind::FULLY_CONNECTED))
          out.push_back({i, next[0]});
        break;
      }
      // Between reshapes the last dimension must hold whole rows of channels.
      const Shape& shape = graph.tensor(at).desc.shape;
      const bool views = op.kind == OpKind::RESHAPE || op.kind == OpKind::SQUEEZE ||
                         op.kind == OpKind::EXPAND_DIMS;
      if (!commutes(graph, op) ||
          (!views && (shape.empty() ||
                      static_cast<std::size_t>(shape.back()) % weight_channels(graph, first))))
        break;
      at = op.outputs[0];
    }
  }
  return out;
}

/// The channel of `second`'s input that the weight at a flat index multiplies.
std::size_t input_channel(const Graph& graph, const Op& op, std::size_t index,
                          std::size_t channels) {
  const Shape& w = graph.tensor(op.inputs[1]).desc.shape;
  if (op.kind == OpKind::DEPTHWISE_CONV_2D)
    return index % static_cast<std::size_t>(w[3]) / (static_cast<std::size_t>(w[3]) / channels);
  return index % static_cast<std::size_t>(w.back()) % channels;
}

/// `maxima`: of each channel between the two, which follow; `limit`: no factor may bring one above
/// it. Returns the largest departure of a factor from 1.
float equalise_pair(Graph& graph, const Pair& pair, std::vector<float>& maxima, float limit) {
  const Op& first = graph.ops[pair.first];
  const Op& second = graph.ops[pair.second];
  const std::size_t channels = weight_channels(graph, first);
  auto w1 = floats_of(graph.tensor(first.inputs[1])),
       w2 = floats_of(graph.tensor(second.inputs[1]));
  std::vector<float> r1(channels, 0), r2(channels, 0), factor(channels, 1);
  for (std::size_t k = 0; k < w1.size(); ++k) {
    float& r = r1[weight_channel(graph, first, k)];
    r = std::max(r, std::fabs(w1[k]));
  }
  for (std::size_t k = 0; k < w2.size(); ++k) {
    float& r = r2[input_channel(graph, second, k, channels)];
    r = std::max(r, std::fabs(w2[k]));
  }
  float furthest = 0;
  for (std::size_t c = 0; c < channels; ++c) {
    if (r1[c] <= 0 || r2[c] <= 0) continue;  // a dead channel: nothing to balance
    factor[c] = std::clamp(std::sqrt(r1[c] / r2[c]), kLeast, kMost);
    if (limit > 0) factor[c] = std::max(factor[c], std::max(maxima[c] / limit, kLeast));
    furthest = std::max(furthest, std::fabs(factor[c] - 1));
  }
  for (std::size_t c = 0; c < channels && limit > 0; ++c) maxima[c] /= factor[c];
  for (std::size_t k = 0; k < w1.size(); ++k) w1[k] /= factor[weight_channel(graph, first, k)];
  for (std::size_t k = 0; k < w2.size(); ++k)
    w2[k] *= factor[input_channel(graph, second, k, channels)];
  set_floats(graph.tensor(first.inputs[1]), w1);
  set_floats(graph.tensor(second.inputs[1]), w2);
  if (graph.has_input(first, 2)) {
    auto bias = floats_of(graph.tensor(first.inputs[2]));
    for (std::size_t c = 0; c < channels; ++c) bias[c] /= factor[c];
    set_floats(graph.tensor(first.inputs[2]), bias);
  }
  return furthest;
}

}  // namespace

base::Result<ChannelMaxima> channel_maxima(const Graph& graph,
                                           std::span<const std::vector<Bytes>> samples) {
  ChannelMaxima out(graph.tensors.size());
  const auto observe = [&](TensorId id, std::span<const std::uint8_t> bytes) -> base::Status {
    const arch::TensorDesc& desc = graph.tensor(id).desc;
    if (desc.dtype != DType::kFloat32 || desc.shape.empty()) return {};
    auto& channels = out[static_cast<std::size_t>(id)];
    channels.resize(static_cast<std::size_t>(desc.shape.back()), 0);
    for (std::size_t i = 0; i < bytes.size() / sizeof(float); ++i) {
      float v;
      std::memcpy(&v, &bytes[i * sizeof v], sizeof v);
      float& most = channels[i % channels.size()];
      most = std::max(most, std::fabs(v));
    }
    return {};
  };
  const Executor executor(graph, Numerics::kFp32);
  for (const auto& sample : samples)
    if (const auto ran = executor.run(sample, observe); !ran.ok()) return ran.error();
  return out;
}

int equalisable(const Graph& graph) { return static_cast<int>(find_pairs(graph).size()); }

int equalise(Graph& graph, const ChannelMaxima& maxima) {
  const auto pairs = find_pairs(graph);
  std::vector<std::vector<float>> between;
  std::vector<float> limits;
  for (const Pair& pair : pairs) {
    const auto tensor = static_cast<std::size_t>(graph.ops[pair.first].outputs[0]);
    between.push_back(tensor < maxima.size() ? maxima[tensor] : std::vector<float>());
    limits.push_back(between.back().empty()
                         ? 0
                         : *std::max_element(between.back().begin(), between.back().end()));
  }
  for (int pass = 0; pass < kPasses; ++pass) {
    float furthest = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i)
      furthest = std::max(furthest, equalise_pair(graph, pairs[i], between[i], limits[i]));
    if (furthest < kSettled) break;
  }
  return static_cast<int>(pairs.size());
}

}  // namespace deputy::quantize
