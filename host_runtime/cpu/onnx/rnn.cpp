// RNN, GRU, LSTM: both directions, given initial states, lengths by sequence, either layout.
#include <algorithm>
#include <cmath>
#include <functional>

#include "host_runtime/cpu/onnx/call.h"

namespace deputy::host_runtime::onnx {
namespace {

using base::Status;
using Function = std::function<float(float)>;

float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

base::Result<Function> function(const Call& c, std::string name, float alpha, float beta) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char ch) { return static_cast<char>(std::tolower(ch)); });
  if (name == "sigmoid") return Function(sigmoid);
  if (name == "tanh") return Function([](float x) { return std::tanh(x); });
  if (name == "relu") return Function([](float x) { return x > 0 ? x : 0; });
  if (name == "affine") return Function([=](float x) { return alpha * x + beta; });
  if (name == "leakyrelu") return Function([=](float x) { return x < 0 ? alpha * x : x; });
  if (name == "thresholdedrelu") return Function([=](float x) { return x >= alpha ? x : 0; });
  if (name == "scaledtanh") return Function([=](float x) { return alpha * std::tanh(beta * x); });
  if (name == "hardsigmoid")
    return Function([=](float x) { return std::clamp(alpha * x + beta, 0.0f, 1.0f); });
  if (name == "elu") return Function([=](float x) { return x > 0 ? x : alpha * std::expm1(x); });
  if (name == "softsign") return Function([](float x) { return x / (1 + std::fabs(x)); });
  if (name == "softplus") return Function([](float x) { return std::log1p(std::exp(x)); });
  return c.fail("activation '{}' is none that Deputy knows", name);
}

struct Layer {
  std::int64_t gates = 1, steps = 0, batch = 0, inputs = 0, hidden = 0, directions = 1;
  bool batch_first = false, reverse = false;
  float clip = 0;
  std::vector<Function> functions;  ///< by direction
  Ints lengths;                     ///< by batch entry, when computing
};

/// X, W, R, B, sequence_lens, initial_h (LSTM: initial_c, P).
base::Result<Layer> layer(const Call& c, std::int64_t gates, std::vector<std::string> names) {
  Layer l;
  l.gates = gates;
  l.batch_first = c.node.integer("layout", 0) != 0;
  if (c.dtype() != DType::kFloat32) return c.fail("elements of type {}", dtype_name(c.dtype()));
  if (c.rank(0) != 3 || c.rank(1) != 3 || c.rank(2) != 3)
    return c.fail("X, W, R of shapes {}, {}, {}", shape_text(c.shape(0)), shape_text(c.shape(1)),
                  shape_text(c.shape(2)));
  l.steps = c.shape(0)[l.batch_first], l.batch = c.shape(0)[!l.batch_first],
  l.inputs = c.shape(0)[2];
  l.hidden = c.shape(2)[2];
  const std::string direction = c.node.text("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    return c.fail("direction {}", direction);
  l.directions = direction == "bidirectional" ? 2 : 1, l.reverse = direction == "reverse";
  const auto d = static_cast<std::int32_t>(l.directions), h = static_cast<std::int32_t>(l.hidden),
             g = static_cast<std::int32_t>(gates), n = static_cast<std::int32_t>(l.batch);
  if (h < 1 || c.node.integer("hidden_size", h) != h)
    return c.fail("hidden_size {} for R of shape {}", c.node.integer("hidden_size", h),
                  shape_text(c.shape(2)));
  const Shape state = l.batch_first ? Shape{n, d, h} : Shape{d, n, h};
  const std::pair<std::size_t, Shape> expected[] = {
      {1, {d, g * h, static_cast<std::int32_t>(l.inputs)}},
      {2, {d, g * h, h}},
      {3, {d, 2 * g * h}},
      {5, state},
      {6, state},
      {7, {d, 3 * h}}};
  for (const auto& [i, shape] : expected)
    if (c.has(i) && (c.shape(i) != shape || c.dtype(i) != DType::kFloat32))
      return c.fail("operand {} of {} {}, expected {}", i, dtype_name(c.dtype(i)),
                    shape_text(c.shape(i)), shape_text(shape));
  if (c.has(4) && (c.dtype(4) != DType::kInt32 || c.count(4) != l.batch))
    return c.fail("sequence_lens of shape {}", shape_text(c.shape(4)));
  l.clip = c.node.real("clip", 0);
  if (const auto* list = c.node.find("activations"))
    names = list->strings;
  else if (l.directions == 2) {
    const auto forward = names;
    names.insert(names.end(), forward.begin(), forward.end());
  }
  const std::size_t per = gates == 1 ? 1 : gates == 3 ? 2 : 3;
  if (names.size() != per * static_cast<std::size_t>(l.directions))
    return c.fail("{} activations", names.size());
  const auto parameter = [&](const char* name, std::size_t i, float otherwise) {
    const auto* list = c.node.find(name);
    return list && i < list->floats.size() ? list->floats[i] : otherwise;
  };
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool hard = names[i] == "HardSigmoid";
    const bool leaky = names[i] == "LeakyRelu";
    DEPUTY_ASSIGN(auto f, function(c, names[i],
                                   parameter("activation_alpha", i,
                                             hard    ? 0.2f
                                             : leaky ? 0.01f
                                                     : 1),
                                   parameter("activation_beta", i, hard ? 0.5f : 0)));
    l.functions.push_back(std::move(f));
  }
  const auto t = static_cast<std::int32_t>(l.steps);
  DEPUTY_TRY(c.declare(0, DType::kFloat32, l.batch_first ? Shape{n, t, d, h} : Shape{t, d, n, h}));
  DEPUTY_TRY(c.declare(1, DType::kFloat32, state));
  if (gates == 4) DEPUTY_TRY(c.declare(2, DType::kFloat32, state));
  if (c.infer_only()) return l;
  l.lengths.assign(static_cast<std::size_t>(l.batch), l.steps);
  if (c.has(4)) {
    DEPUTY_ASSIGN(l.lengths, c.values(4));
    for (const std::int64_t v : l.lengths)
      if (v < 0 || v > l.steps) return c.fail("a sequence of {} steps of {}", v, l.steps);
  }
  return l;
}

/// Runs every sequence; step(direction, x's part of the gates, h, c) makes the new h and c in
/// place.
template <class Step>
void run(const Call& c, const Layer& l, bool cell, Step&& step) {
  const auto h = static_cast<std::size_t>(l.hidden);
  std::vector<float> gates(static_cast<std::size_t>(l.gates) * h), state(h), memory(h);
  c.clear(0);
  for (std::int64_t d = 0; d < l.directions; ++d)
    for (std::int64_t b = 0; b < l.batch; ++b) {
      const std::int64_t at = l.batch_first ? b * l.directions + d : d * l.batch + b;
      const auto initial = [&](std::size_t i, std::vector<float>& v) {
        for (std::size_t k = 0; k < h; ++k)
          v[k] = c.has(i) ? c.in<float>(i)[static_cast<std::size_t>(at) * h + k] : 0;
      };
      initial(5, state);
      if (cell) initial(6, memory);
      const std::int64_t length = l.lengths[static_cast<std::size_t>(b)];
      for (std::int64_t i = 0; i < length; ++i) {
        const std::int64_t t = l.reverse || d == 1 ? length - 1 - i : i;
        const float* x =
            c.in<float>(0) + (l.batch_first ? b * l.steps + t : t * l.batch + b) * l.inputs;
        for (std::size_t g = 0; g < gates.size(); ++g) {
          const float* w =
              c.in<float>(1) + (d * l.gates * l.hidden + static_cast<std::int64_t>(g)) * l.inputs;
          float sum =
              c.has(3) ? c.in<float>(3)[static_cast<std::size_t>(d) * 2 * gates.size() + g] : 0;
          for (std::int64_t k = 0; k < l.inputs; ++k) sum += w[k] * x[k];
          gates[g] = sum;
        }
        step(d, gates, state, memory);
        const std::int64_t to = l.batch_first ? (b * l.steps + t) * l.directions + d
                                              : (t * l.directions + d) * l.batch + b;
        std::copy(state.begin(), state.end(), c.out<float>(0) + static_cast<std::size_t>(to) * h);
      }
      std::copy(state.begin(), state.end(), c.out<float>(1) + static_cast<std::size_t>(at) * h);
      if (cell)
        std::copy(memory.begin(), memory.end(), c.out<float>(2) + static_cast<std::size_t>(at) * h);
    }
}

/// h's part of gate g: R h plus its bias.
float recurrent(const Call& c, const Layer& l, std::int64_t d, std::size_t g,
                const std::vector<float>& h) {
  const float* r =
      c.in<float>(2) + (d * l.gates * l.hidden + static_cast<std::int64_t>(g)) * l.hidden;
  float sum = c.has(3)
                  ? c.in<float>(3)[(2 * d + 1) * l.gates * l.hidden + static_cast<std::int64_t>(g)]
                  : 0;
  for (std::size_t k = 0; k < h.size(); ++k) sum += r[k] * h[k];
  return sum;
}
float clipped(const Layer& l, float x) { return l.clip > 0 ? std::clamp(x, -l.clip, l.clip) : x; }

Status rnn(const Call& c) {
  DEPUTY_ASSIGN(const Layer l, layer(c, 1, {"Tanh"}));
  if (c.infer_only()) return {};
  run(c, l, false,
      [&](std::int64_t d, std::vector<float>& gates, std::vector<float>& h, std::vector<float>&) {
        for (std::size_t k = 0; k < h.size(); ++k) gates[k] += recurrent(c, l, d, k, h);
        for (std::size_t k = 0; k < h.size(); ++k)
          h[k] = l.functions[static_cast<std::size_t>(d)](clipped(l, gates[k]));
      });
  return {};
}

/// Gates in the order z (update), r (reset), h (hidden).
Status gru(const Call& c) {
  DEPUTY_ASSIGN(const Layer l, layer(c, 3, {"Sigmoid", "Tanh"}));
  if (c.infer_only()) return {};
  const bool after = c.node.integer("linear_before_reset", 0) != 0;
  run(c, l, false,
      [&](std::int64_t d, std::vector<float>& gates, std::vector<float>& h, std::vector<float>&) {
        const std::size_t n = h.size();
        const Function &f = l.functions[static_cast<std::size_t>(2 * d)],
                       &g = l.functions[static_cast<std::size_t>(2 * d + 1)];
        std::vector<float> reset(n), hidden(n);
        for (std::size_t k = 0; k < 2 * n; ++k)
          gates[k] = f(clipped(l, gates[k] + recurrent(c, l, d, k, h)));
        for (std::size_t k = 0; k < n; ++k) reset[k] = gates[n + k] * h[k];
        for (std::size_t k = 0; k < n; ++k) {
          const float own = after ? gates[n + k] * recurrent(c, l, d, 2 * n + k, h)
                                  : recurrent(c, l, d, 2 * n + k, reset);
          hidden[k] = g(clipped(l, gates[2 * n + k] + own));
        }
        for (std::size_t k = 0; k < n; ++k) h[k] = (1 - gates[k]) * hidden[k] + gates[k] * h[k];
      });
  return {};
}

/// Gates in the order i (input), o (output), f (forget), c (cell); peepholes in the order i, o, f.
Status lstm(const Call& c) {
  DEPUTY_ASSIGN(const Layer l, layer(c, 4, {"Sigmoid", "Tanh", "Tanh"}));
  if (c.infer_only()) return {};
  const bool coupled = c.node.integer("input_forget", 0) != 0;
  run(c, l, true,
      [&](std::int64_t d, std::vector<float>& gates, std::vector<float>& h,
          std::vector<float>& cell) {
        const std::size_t n = h.size();
        const Function* f = &l.functions[static_cast<std::size_t>(3 * d)];
        const float* p = c.has(7) ? c.in<float>(7) + d * 3 * l.hidden : nullptr;
        for (std::size_t k = 0; k < 4 * n; ++k) gates[k] += recurrent(c, l, d, k, h);
        for (std::size_t k = 0; k < n; ++k) {
          const float i = f[0](clipped(l, gates[k] + (p ? p[k] * cell[k] : 0)));
          const float forget =
              coupled ? 1 - i
                      : f[0](clipped(l, gates[2 * n + k] + (p ? p[2 * n + k] * cell[k] : 0)));
          cell[k] = forget * cell[k] + i * f[1](clipped(l, gates[3 * n + k]));
          const float o = f[0](clipped(l, gates[n + k] + (p ? p[n + k] * cell[k] : 0)));
          h[k] = o * f[2](cell[k]);
        }
      });
  return {};
}

constexpr Kernel kKernels[] = {{"GRU", 3, 6, 2, gru, "float32"},
                               {"LSTM", 3, 8, 3, lstm, "float32"},
                               {"RNN", 3, 6, 2, rnn, "float32"}};

}  // namespace

std::span<const Kernel> rnn_kernels() { return kKernels; }

}  // namespace deputy::host_runtime::onnx
