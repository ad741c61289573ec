#include "delegate/dsp/dsp_dense.h"

#include <fmt/format.h>

#include <algorithm>

#include "arch/numerics.h"
#include "delegate/codegen/window.h"
#include "delegate/dsp/dsp_weights.h"
#include "delegate/dsp/plan_tools.h"

namespace deputy::delegate {
namespace {

// Cycles of the kernel, set-up and halt included, as measured on the model
// (tests/stream/engines_test.cpp holds them to it).
std::uint64_t dense_cycles(std::int64_t vectors, std::int64_t tail, std::int64_t blocks,
                           bool twice) {
  return static_cast<std::uint64_t>(5 + blocks * ((twice ? 27 : 24) + 34 * vectors + tail));
}

struct DenseShape {
  std::int64_t inputs = 0, outputs = 0, rows = 0;
  std::int64_t band = 0;  ///< blocks of 32 outputs whose weights fit at once
  std::int64_t taps() const { return (inputs + 3) / 4 * 4; }
  std::int64_t block() const { return 32 * taps() + 4 * kVector; }  ///< bytes of constants
  std::int64_t blocks() const { return ceil_div(outputs, 32); }
  /// At most: inputs; constants of each band; for each row of inputs a run and its results, which
  /// are in two parts where the last block is not whole.
  std::int64_t moves() const {
    return 1 + ceil_div(blocks(), band) * (1 + 2 * rows) + (outputs % 32 ? rows : 0);
  }
};
// The data memory: inputs, results of a row, constants of a band. Vectors are read whole: one more.
DenseShape dense_shape(const Graph& graph, const Op& op, const CompileOptions& options) {
  const arch::TensorDesc &x = graph.tensor(op.inputs[0]).desc, &w = graph.tensor(op.inputs[1]).desc;
  DenseShape s;
  s.outputs = w.shape[0], s.inputs = w.shape[1];
  s.rows = x.elements() / s.inputs;
  const std::int64_t room = options.dsp.tcm.bytes - s.rows * up(s.inputs) - kVector;
  s.band = std::clamp<std::int64_t>(room / (s.block() + kVector), 0, s.blocks());
  return s;
}

}  // namespace

std::optional<std::string> dense_refusal(const Graph& graph, const Op& op,
                                         const CompileOptions& options) {
  const Tensor &x = graph.tensor(op.inputs[0]), &y = graph.tensor(op.outputs[0]),
               &w = graph.tensor(op.inputs[1]);
  if (options.numerics == Numerics::kFp32) return "its kernel rounds as tflite and single do";
  for (const Tensor* t : {&x, &w, &y})
    if (t->desc.dtype != DType::kInt8 || t->desc.quant.scale.empty())
      return "its kernel is for int8";
  if (w.desc.shape.size() != 2 || w.desc.elements() < 1) return "its weights are no matrix";
  const DenseShape s = dense_shape(graph, op, options);
  if (s.rows < 1 || x.desc.elements() != s.rows * s.inputs) return "there is nothing to compute";
  if (auto why = weights_refusal(graph, op, s.outputs, options.numerics)) return why;
  if (s.band < 1)
    return fmt::format("inputs and the weights of 32 outputs do not fit {} bytes of data memory",
                       options.dsp.tcm.bytes);
  if (s.moves() > kMostMoves)
    return fmt::format("its rows and the parts of its weights need {} steps, and a job has {}",
                       s.moves(), kMostMoves);
  return std::nullopt;
}

DspPlan plan_dense(const Graph& graph, const Op& op, const CompileOptions& options) {
  const DenseShape s = dense_shape(graph, op, options);
  const Tensor& y = graph.tensor(op.outputs[0]);
  const std::int32_t zero = y.desc.quant.zero_point[0];
  const bool twice = options.numerics == Numerics::kTflite;
  const std::int64_t vectors = s.taps() / kVector, tail = s.taps() % kVector / 4;
  DspPlan out;
  out.use = {fmt::format("dense{}{}", tail, twice ? "" : "_once"),
             "dense_map",
             {{"TAIL", tail}, {"DOUBLE", twice}}};
  const arch::ActivationRange range =
      arch::activation_range(op.attrs.activation, y.desc.quant.scale[0], zero, -128, 127);
  const std::int64_t row = up(s.inputs), to = s.rows * row, weights = to + kVector * s.band;
  out.moves.push_back(
      {DspMove::What::kInput, 0, 0, u32(s.inputs), {}, u32(s.rows), u32(s.inputs), u32(row)});
  for (std::int64_t block = 0; block < s.blocks(); block += s.band) {
    // Weights of the band's blocks, then what requantises each.
    const std::int64_t blocks = std::min(s.band, s.blocks() - block),
                       outputs = std::min(32 * blocks, s.outputs - 32 * block);
    const auto table = static_cast<std::int64_t>(out.table.size());
    std::vector<std::uint8_t> parameters;
    for (std::int64_t b = 0; b < blocks; ++b) {
      std::vector<std::uint8_t> one;
      append_weights(graph, op, 32 * (block + b), std::min<std::int64_t>(32, outputs - 32 * b),
                     s.taps(), twice, one);
      const auto split = one.begin() + 32 * s.taps();
      out.table.insert(out.table.end(), one.begin(), split);
      parameters.insert(parameters.end(), split, one.end());
    }
    append(out.table, parameters);
    out.moves.push_back(
        {DspMove::What::kTable, u32(table), u32(weights), u32(blocks * s.block()), {}});
    for (std::int64_t i = 0; i < s.rows; ++i) {
      out.moves.push_back(
          {DspMove::What::kRun,
           0,
           0,
           0,
           {u32(weights), u32(i * row), u32(to), u32(blocks), u32(weights + blocks * 32 * s.taps()),
            u32(zero), u32(range.min), u32(range.max), u32(vectors)}});
      // Each block's results lie in a vector of their own.
      const std::int64_t whole = outputs / 32, first = i * s.outputs + 32 * block;
      if (whole > 0)
        out.moves.push_back(
            {DspMove::What::kOutput, u32(first), u32(to), 32, {}, u32(whole), 32, u32(kVector)});
      if (outputs % 32 > 0)
        out.moves.push_back({DspMove::What::kOutput,
                             u32(first + 32 * whole),
                             u32(to + kVector * whole),
                             u32(outputs % 32),
                             {}});
      out.cycles += dense_cycles(vectors, tail, blocks, twice);
    }
  }
  out.moved_bytes = out.table.size() + static_cast<std::uint64_t>(s.rows * (s.inputs + s.outputs));
  return out;
}

}  // namespace deputy::delegate
