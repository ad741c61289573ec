#include "delegate/dsp/dsp_conv.h"

#include <fmt/format.h>

#include "arch/numerics.h"
#include "delegate/dsp/dsp_weights.h"
#include "delegate/dsp/plan_tools.h"

namespace deputy::delegate {
namespace {

std::uint64_t conv_cycles(std::int64_t channels, std::int64_t rows, std::int64_t columns,
                          bool twice) {
  return static_cast<std::uint64_t>(13 +
                                    rows * (2 + columns / 4 * (9 * channels + (twice ? 42 : 30))));
}

struct ConvShape {
  std::int64_t height = 0, width = 0, channels = 0, rows = 0, columns = 0, outputs = 0, pad = 0;
  std::int64_t row() const { return (width + 2 * pad) * channels; }
  std::int64_t map() const { return (height + 2 * pad) * row(); }
  std::int64_t blocks() const { return outputs / 32; }
  std::int64_t weights() const { return 9 * channels * 32; }  ///< bytes, of a block
  std::int64_t block() const { return weights() + 4 * kVector; }
  std::int64_t pixels() const { return rows * columns; }
  std::int64_t tcm() const { return blocks() * block() + up(map()) + kVector + 32 * pixels(); }
};
ConvShape conv_shape(const Graph& graph, const Op& op) {
  const Shape &x = graph.tensor(op.inputs[0]).desc.shape,
              &y = graph.tensor(op.outputs[0]).desc.shape;
  return {x[1], x[2], x[3], y[1], y[2], y[3], y[1] == x[1] ? 1 : 0};
}
}  // namespace

std::optional<std::string> conv_refusal(const Graph& graph, const Op& op,
                                        const CompileOptions& options) {
  const Tensor &x = graph.tensor(op.inputs[0]), &y = graph.tensor(op.outputs[0]),
               &w = graph.tensor(op.inputs[1]);
  if (options.numerics == Numerics::kFp32) return "its kernel rounds as tflite and single do";
  for (const Tensor* t : {&x, &w, &y})
    if (t->desc.dtype != DType::kInt8 || t->desc.quant.scale.empty() || t->desc.shape.size() != 4)
      return "its kernel is for int8";
  const arch::OpAttrs& a = op.attrs;
  if (w.desc.shape[1] != 3 || w.desc.shape[2] != 3 || a.stride_h != 1 || a.stride_w != 1 ||
      a.dilation_h != 1 || a.dilation_w != 1 || x.desc.shape[0] != 1 ||
      w.desc.shape[3] != x.desc.shape[3])
    return "its kernel is 3x3 with stride 1, for one map";
  const ConvShape s = conv_shape(graph, op);
  const bool explicit_pad = static_cast<arch::Padding>(a.padding) == arch::Padding::kExplicit;
  const bool same = s.rows == s.height && s.columns == s.width;
  if ((!same && !(s.rows == s.height - 2 && s.columns == s.width - 2)) ||
      (explicit_pad && (a.pad_top != s.pad || a.pad_bottom != s.pad || a.pad_left != s.pad ||
                        a.pad_right != s.pad)))
    return "its kernel pads by one on every side, or not at all";
  if (s.channels % 4 != 0 || s.channels > 40 || s.outputs % 32 != 0 || s.columns % 4 != 0 ||
      s.rows < 1)
    return "its kernel is for 4 to 40 input channels (multiples of 4), multiples of 32 output "
           "channels and of 4 columns";
  if (auto why = weights_refusal(graph, op, s.outputs, options.numerics)) return why;
  if (s.blocks() > kMostBands || s.tcm() > options.dsp.tcm.bytes)
    return fmt::format("maps and weights need {} bytes of data memory", s.tcm());
  return std::nullopt;
}

DspPlan plan_conv(const Graph& graph, const Op& op, const CompileOptions& options) {
  const ConvShape s = conv_shape(graph, op);
  const Tensor &x = graph.tensor(op.inputs[0]), &y = graph.tensor(op.outputs[0]);
  const std::int32_t zero = y.desc.quant.zero_point[0];
  const bool twice = options.numerics == Numerics::kTflite;
  DspPlan out;
  out.use = {fmt::format("conv{}{}", s.channels, twice ? "" : "_once"),
             "conv_map",
             {{"CHANNELS", s.channels}, {"DOUBLE", twice}}};
  for (std::int64_t block = 0; block < s.blocks(); ++block)
    append_weights(graph, op, 32 * block, 32, 9 * s.channels, twice, out.table);
  const std::int64_t map = s.blocks() * s.block(), to = map + up(s.map()) + kVector,
                     line = s.width * s.channels;
  out.moves.push_back({DspMove::What::kTable, 0, 0, u32(map), {}});
  if (s.pad) {  // all of it the zero point, then the map inside
    out.table.insert(out.table.end(), static_cast<std::size_t>(s.row()),
                     static_cast<std::uint8_t>(x.desc.quant.zero_point[0]));
    out.moves.push_back({DspMove::What::kTable,
                         u32(map),
                         u32(map),
                         u32(s.row()),
                         {},
                         u32(s.height + 2),
                         0,
                         u32(s.row())});
  }
  out.moves.push_back({DspMove::What::kInput,
                       0,
                       u32(map + s.pad * (s.row() + s.channels)),
                       u32(line),
                       {},
                       u32(s.height),
                       u32(line),
                       u32(s.row())});
  const arch::ActivationRange range =
      arch::activation_range(op.attrs.activation, y.desc.quant.scale[0], zero, -128, 127);
  for (std::int64_t block = 0; block < s.blocks(); ++block) {
    const std::int64_t at = block * s.block();
    out.moves.push_back({DspMove::What::kRun,
                         0,
                         0,
                         0,
                         {u32(map), u32(at), u32(to), u32(s.columns / 4), u32(at + s.weights()),
                          u32(zero), u32(s.row()), u32(s.rows), u32(range.min), u32(range.max)}});
    if (s.blocks() == 1)
      out.moves.push_back({DspMove::What::kOutput, 0, u32(to), u32(32 * s.pixels()), {}});
    else
      out.moves.push_back({DspMove::What::kOutput,
                           u32(32 * block),
                           u32(to),
                           32,
                           {},
                           u32(s.pixels()),
                           u32(s.outputs),
                           32});
    out.cycles += conv_cycles(s.channels, s.rows, s.columns, twice);
  }
  out.moved_bytes = static_cast<std::uint64_t>(map + (s.pad ? s.map() : 0) + s.height * line +
                                               s.outputs * s.pixels());
  return out;
}

}  // namespace deputy::delegate
