#include "delegate/dsp/dsp_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "arch/dsp_job.h"
#include "arch/resize.h"
#include "arch/softmax.h"
#include "delegate/codegen/window.h"
#include "delegate/dsp/dsp_conv.h"
#include "delegate/dsp/dsp_dense.h"
#include "delegate/dsp/plan_tools.h"
#include "delegate/partition/engine_cost.h"

namespace deputy::delegate {
namespace {

using arch::OpKind;

constexpr std::int64_t kMostRow = 4095;  // softmax_rows: the sum of more might not fit 32 bits

// Cycles of the kernels, set-up and halt included, as measured on the model
// (tests/stream/engines_test.cpp holds them to it). A gather of 32 exponentials meets about three
// bank conflicts.
std::uint64_t softmax_cycles(std::int64_t length, std::int64_t rows) {
  return static_cast<std::uint64_t>(
      10 + rows * (55 + 46 * ceil_div(length, 32) + 9 * ceil_div(length, kVector)));
}
std::uint64_t resize_cycles(std::int64_t blocks, std::int64_t rows) {
  return static_cast<std::uint64_t>(9 + rows * (13 + 48 * blocks));
}

bool bytes_only(const Tensor& t) {
  return t.desc.dtype == DType::kInt8 || t.desc.dtype == DType::kUint8;
}

// --- SOFTMAX: bands of rows behind the table of exponentials.

struct SoftmaxShape {
  std::int64_t length = 0, rows = 0, band = 0;  ///< rows that fit at once
};
SoftmaxShape softmax_shape(const Graph& graph, const Op& op, const CompileOptions& options) {
  SoftmaxShape s;
  const arch::TensorDesc& x = graph.tensor(op.inputs[0]).desc;
  s.length = x.shape.empty() ? 0 : x.shape.back();
  s.rows = s.length > 0 ? x.elements() / s.length : 0;
  // Vectors are loaded from any address: one more behind the values.
  const std::int64_t room = (options.dsp.tcm.bytes - 1024 - 4 * kVector) / 2;
  s.band = s.length > 0 ? std::min(s.rows, std::max<std::int64_t>(0, room / s.length)) : 0;
  return s;
}

std::optional<std::string> softmax_refusal(const Graph& graph, const Op& op,
                                           const CompileOptions& options) {
  const Tensor &x = graph.tensor(op.inputs[0]), &y = graph.tensor(op.outputs[0]);
  if (!bytes_only(x) || x.desc.dtype != y.desc.dtype) return "its kernel is for int8 and uint8";
  if (options.numerics == Numerics::kFp32)
    return "its kernel divides integers, and --numerics fp32 floats";
  if (x.desc.quant.scale.size() != 1) return "its input has no scale";
  const SoftmaxShape s = softmax_shape(graph, op, options);
  if (s.rows < 1) return "there is nothing to compute";
  if (s.length > kMostRow) return fmt::format("a row has more than {} values", kMostRow);
  if (s.band < 1 || ceil_div(s.rows, s.band) > kMostBands)
    return "its rows do not fit the data memory";
  return std::nullopt;
}

DspPlan plan_softmax(const Graph& graph, const Op& op, const CompileOptions& options) {
  const Tensor& x = graph.tensor(op.inputs[0]);
  const SoftmaxShape s = softmax_shape(graph, op, options);
  DspPlan out;
  const bool flip = x.desc.dtype == DType::kUint8;
  out.use = {flip ? "softmax_u8" : "softmax", "softmax_rows", {{"FLIP", flip ? 128 : 0}}};
  const auto table = arch::softmax_table(op.attrs.beta, x.desc.quant.scale[0], options.numerics);
  append(out.table, std::vector<std::int32_t>(table.begin(), table.end()));
  const std::int64_t in = 1024, to = in + up(s.band * s.length) + kVector;
  out.moves.push_back({DspMove::What::kTable, 0, 0, 1024, {}});
  for (std::int64_t row = 0; row < s.rows; row += s.band) {
    const std::int64_t rows = std::min(s.band, s.rows - row);
    const std::uint32_t at = u32(row * s.length), bytes = u32(rows * s.length);
    out.moves.push_back({DspMove::What::kInput, at, u32(in), bytes, {}});
    out.moves.push_back(
        {DspMove::What::kRun, 0, 0, 0, {u32(in), 0, u32(to), u32(s.length), u32(rows)}});
    out.moves.push_back({DspMove::What::kOutput, at, u32(to), bytes, {}});
    out.cycles += softmax_cycles(s.length, rows);
    out.moved_bytes += 2 * bytes;
  }
  out.moved_bytes += 1024;
  return out;
}

// --- RESIZE: the whole map, tables of columns and rows, the result.

using Neighbours = arch::Neighbours<std::int64_t>;  // weights in 1/1024
Neighbours nearest(std::int64_t i, std::int64_t in, std::int64_t out, const arch::OpAttrs& attrs) {
  const std::int64_t index = arch::nearest_index(i, in, out, attrs);
  return {index, index, 0};
}

struct ResizeShape {
  std::int64_t height = 0, width = 0, channels = 0, rows = 0, columns = 0;
  std::int64_t values() const { return columns * channels; }
  std::int64_t blocks() const { return ceil_div(values(), 32); }
  std::int64_t column_table() const { return blocks() * 3 * kVector; }
  std::int64_t table() const { return up(column_table() + 12 * rows); }
  std::int64_t input() const { return height * width * channels; }
  std::int64_t output() const { return rows * values(); }
  std::int64_t tcm() const { return table() + up(input()) + kVector + up(output()) + kVector; }
};
ResizeShape resize_shape(const Graph& graph, const Op& op) {
  const Shape &x = graph.tensor(op.inputs[0]).desc.shape,
              &y = graph.tensor(op.outputs[0]).desc.shape;
  return {x[1], x[2], x[3], y[1], y[2]};
}

std::optional<std::string> resize_refusal(const Graph& graph, const Op& op,
                                          const CompileOptions& options) {
  const Tensor &x = graph.tensor(op.inputs[0]), &y = graph.tensor(op.outputs[0]);
  if (!bytes_only(x) || x.desc.dtype != y.desc.dtype) return "its kernel is for int8 and uint8";
  if (op.kind == OpKind::RESIZE_BILINEAR && options.numerics == Numerics::kFp32)
    return "its kernel has TFLite's weights, and --numerics fp32 has XNNPACK's";
  if (x.desc.shape.size() != 4 || x.desc.shape[0] != 1)
    return "its kernel is for one map at a time";
  if (y.desc.elements() < 1 || x.desc.elements() < 1) return "there is nothing to compute";
  const ResizeShape s = resize_shape(graph, op);
  if (s.tcm() > options.dsp.tcm.bytes)
    return fmt::format("maps and tables need {} bytes of data memory", s.tcm());
  return std::nullopt;
}

DspPlan plan_resize(const Graph& graph, const Op& op, const CompileOptions& options) {
  const ResizeShape s = resize_shape(graph, op);
  const auto neighbours = op.kind == OpKind::RESIZE_BILINEAR ? arch::integer_neighbours : nearest;
  DspPlan out;
  const bool is_unsigned = graph.tensor(op.inputs[0]).desc.dtype == DType::kUint8;
  const bool away = options.numerics == Numerics::kTflite;
  out.use = {fmt::format("resize{}{}", is_unsigned ? "_u8" : "", away ? "" : "_up"),
             "resize_map",
             {{"UNSIGNED", is_unsigned}, {"AWAY", away}}};
  std::vector<std::int32_t> columns(static_cast<std::size_t>(s.blocks() * 96)), rows;
  for (std::int64_t i = 0; i < s.values(); ++i) {
    const Neighbours n = neighbours(i / s.channels, s.width, s.columns, op.attrs);
    const auto at = static_cast<std::size_t>(i / 32 * 96 + i % 32);
    columns[at] = static_cast<std::int32_t>(n.low * s.channels + i % s.channels);
    columns[at + 32] = static_cast<std::int32_t>(n.high * s.channels + i % s.channels);
    columns[at + 64] = static_cast<std::int32_t>(n.weight);
  }
  for (std::int64_t row = 0; row < s.rows; ++row) {
    const Neighbours n = neighbours(row, s.height, s.rows, op.attrs);
    for (const std::int64_t v :
         {n.low * s.width * s.channels, n.high * s.width * s.channels, n.weight})
      rows.push_back(static_cast<std::int32_t>(v));
  }
  append(out.table, columns), append(out.table, rows);
  const std::int64_t in = s.table(), to = in + up(s.input()) + kVector;
  out.moves = {
      {DspMove::What::kTable, 0, 0, u32(static_cast<std::int64_t>(out.table.size())), {}},
      {DspMove::What::kInput, 0, u32(in), u32(s.input()), {}},
      {DspMove::What::kRun,
       0,
       0,
       0,
       {u32(in), 0, u32(s.column_table()), u32(to), u32(s.blocks()), u32(s.rows), u32(s.values())}},
      {DspMove::What::kOutput, 0, u32(to), u32(s.output()), {}}};
  out.cycles = resize_cycles(s.blocks(), s.rows);
  out.moved_bytes = out.table.size() + static_cast<std::uint64_t>(s.input() + s.output());
  return out;
}

}  // namespace

std::optional<std::string> dsp_refusal(const Graph& graph, const Op& op,
                                       const CompileOptions& options) {
  if (!op.inputs.empty() && op.inputs[0] != kNoTensor && graph.tensor(op.inputs[0]).constant)
    return "its input is a constant";
  switch (op.kind) {
    case OpKind::SOFTMAX:
      return softmax_refusal(graph, op, options);
    case OpKind::CONV_2D:
      return conv_refusal(graph, op, options);
    case OpKind::FULLY_CONNECTED:
      return dense_refusal(graph, op, options);
    case OpKind::RESIZE_BILINEAR:
    case OpKind::RESIZE_NEAREST_NEIGHBOR:
      return resize_refusal(graph, op, options);
    default:
      return "there is no kernel of it for the DSP";
  }
}

DspPlan plan_dsp(const Graph& graph, const Op& op, const CompileOptions& options) {
  switch (op.kind) {
    case OpKind::SOFTMAX:
      return plan_softmax(graph, op, options);
    case OpKind::CONV_2D:
      return plan_conv(graph, op, options);
    case OpKind::FULLY_CONNECTED:
      return plan_dense(graph, op, options);
    default:
      return plan_resize(graph, op, options);
  }
}

Cost dsp_cost(const Graph& graph, const Op& op, const CompileOptions& options) {
  const DspPlan plan = plan_dsp(graph, op, options);
  const arch::DspConfig& dsp = options.dsp;
  const double period = 1e6 / dsp.clock_mhz, npu_period = 1e6 / options.npu.clock_mhz;
  const MemoryEstimate& m = options.memory;
  // Commands and tables lie in DRAM, maps where maps lie: taken to be the SRAM.
  const double list = static_cast<double>((plan.moves.size() + 1) * arch::kDspCommandBytes);
  const auto moving = [&](double bytes, double per_cycle, double latency) {
    return std::max(bytes / per_cycle * npu_period, bytes / dsp.dma.bytes_per_cycle * period) +
           latency * npu_period;
  };
  const double table = static_cast<double>(plan.table.size());
  std::uint64_t transactions = 0;  // rows follow each other
  for (const DspMove& move : plan.moves) transactions += move.rows;
  double sum = moving(list, m.dram_bytes_per_cycle, m.dram_latency_cycles) +
               moving(table, m.dram_bytes_per_cycle, m.dram_latency_cycles) +
               moving(static_cast<double>(plan.moved_bytes) - table, m.sram_bytes_per_cycle, 0) +
               static_cast<double>(transactions) * m.sram_latency_cycles * npu_period;
  sum += static_cast<double>(plan.cycles) * period;
  return static_cast<Cost>(std::llround(sum)) + npu_launch_cost(options);
}

}  // namespace deputy::delegate
