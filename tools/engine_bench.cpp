#include "tools/engine_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "arch/host_timing.h"
#include "dsp_kernels/kernels.h"
#include "soc/energy_ledger.h"
#include "soc/energy_rows.h"
#include "tools/dsp_run.h"
#include "workloads/builder.h"

namespace deputy::tools {
namespace {

using arch::OpKind;
using delegate::Graph;

// One operator of `kind`; `size`: the second operand of RESIZE_*.
Graph one_operator(OpKind kind, const Shape& in, const Shape& out, const arch::OpAttrs& attrs) {
  Graph g;
  g.name = std::string(arch::op_name(kind));
  const bool softmax = kind == OpKind::SOFTMAX;
  const auto map = [&](const char* name, const Shape& shape, float scale, std::int32_t zero) {
    delegate::Tensor t;
    t.desc.name = name, t.desc.dtype = DType::kInt8, t.desc.shape = shape;
    t.desc.quant.scale = {scale}, t.desc.quant.zero_point = {zero};
    g.tensors.push_back(std::move(t));
    return static_cast<delegate::TensorId>(g.tensors.size()) - 1;
  };
  delegate::Op op;
  op.kind = kind, op.attrs = attrs;
  op.inputs = {map("x", in, 0.1f, 0)};
  if (!softmax) {
    delegate::Tensor size;
    size.desc.name = "size", size.desc.dtype = DType::kInt32, size.desc.shape = {2};
    const std::int32_t values[] = {out[1], out[2]};
    size.data.resize(sizeof values), size.constant = true;
    std::memcpy(size.data.data(), values, sizeof values);
    g.tensors.push_back(std::move(size));
    op.inputs.push_back(1);
  }
  op.outputs = {softmax ? map("y", out, 1.0f / 256, -128) : map("y", out, 0.1f, 0)};
  g.inputs = {op.inputs[0]}, g.outputs = op.outputs;
  g.ops.push_back(std::move(op));
  return g;
}

struct Case {
  std::string what;
  Graph graph;
};
std::vector<Case> cases() {
  std::vector<Case> out;
  for (const Shape& shape : std::vector<Shape>{
           {1, 10}, {1, 100}, {1, 1000}, {4, 4000}, {64, 64}, {197, 197}, {1024, 16}})
    out.push_back({fmt::format("SOFTMAX {}", shape_text(shape)),
                   one_operator(OpKind::SOFTMAX, shape, shape, {})});
  struct Resize {
    std::int32_t from, to, channels;
  };
  for (const OpKind kind : {OpKind::RESIZE_BILINEAR, OpKind::RESIZE_NEAREST_NEIGHBOR})
    for (const Resize r : {Resize{4, 8, 4}, {7, 14, 64}, {16, 32, 32}, {48, 24, 16}, {96, 32, 3}}) {
      arch::OpAttrs attrs;
      attrs.half_pixel_centers = true;
      out.push_back({fmt::format("{} {}x{}x{} to {}x{}", arch::op_name(kind), r.from, r.from,
                                 r.channels, r.to, r.to),
                     one_operator(kind, {1, r.from, r.from, r.channels},
                                  {1, r.to, r.to, r.channels}, attrs)});
    }
  // What the DSP's kernels conv and matvec compute, for the engines that a compiler can choose
  // from.
  workloads::Builder conv("conv", 1);
  const auto map = conv.input({1, 4, 16, 16}, -1, 1);
  const auto conv_out = conv.conv("y", map, 32, workloads::square(3, 1, arch::Activation::kNone));
  out.push_back({"CONV_2D 3x3 4x16x16 to 32", conv.finish({conv_out})});
  for (const auto& [inputs, outputs] : {std::pair{64, 10}, {256, 32}, {512, 128}, {640, 640}}) {
    workloads::Builder fc("fc", 1);
    const auto row = fc.input({1, inputs}, -1, 1);
    const auto fc_out = fc.fully_connected("y", row, outputs);
    out.push_back({fmt::format("FULLY_CONNECTED {} to {}", inputs, outputs), fc.finish({fc_out})});
  }
  return out;
}

// The steps of the inference, and what all parts of the SoC spent meanwhile.
EngineCost cost_of(const Simulation& s, const soc::SocConfig& soc, double clock_mhz) {
  std::uint64_t ps = 0;
  EngineCost out;
  for (const auto& step : s.inference.steps) ps += step.end_ps - step.start_ps;
  soc::each_energy_part(soc, s.soc, [&](const soc::EnergyPart& part) {
    for (const auto& step : s.inference.steps)
      out.nj += soc::energy_within(part, step.start_ps, step.end_ps);
  });
  out.us = static_cast<double>(ps) / 1e6;
  out.cycles = static_cast<std::uint64_t>(std::llround(out.us * clock_mhz));
  return out;
}

// What the CPU would compute for a kernel's case, an output: multiplications, other operations,
// exponentials and divisions. Of the method that the kernel's text names, at its parameters.
struct CpuWork {
  double macs = 0, elements = 0, hard = 0;
};
CpuWork cpu_work(const dsp_kernels::KernelCase& c) {
  const auto param = [&](const char* name, double otherwise) {
    const auto it = c.parameters.find(name);
    return it == c.parameters.end() ? otherwise : static_cast<double>(it->second);
  };
  const double points = static_cast<double>(c.outputs);
  const auto& k = c.kernel;
  if (k == "fir" || k == "decimate") return {param("TAPS", 32), 1, 0};
  if (k == "interpolate") return {param("TAPS", 32) / 2, 1, 0};
  if (k == "biquad") return {5 * param("SECTIONS", 4), 1, 0};
  if (k.starts_with("fft")) return {2 * std::log2(points), 3 * std::log2(points), 0};
  if (k == "mfcc") return {param("BINS", 128) * 34 + 1024, 32, 32};
  if (k == "matvec") return {param("COLUMNS", 128), 2, 0};
  if (k == "dense_map") return {static_cast<double>(c.bound) * 128 / points, 2, 0};
  if (k == "conv" || k == "conv_map") return {9 * 32 * param("CHANNELS", 16), 64, 0};
  if (k.starts_with("softmax")) return {1, 2, 1};
  if (k == "layernorm") return {2, 3, 0};
  if (k == "resize" || k == "resize_map" || k == "shrink") return {3, 4, 0};
  if (k == "gray") return {3, 1, 0};
  if (k == "median") return {0, 10, 0};
  if (k == "wavelet") return {0, 3, 0};
  if (k == "moving") return {1, 5, 0};
  if (k == "complementary") return {3, 2, 0};
  if (k == "kalman") return {3, 8, 0};
  if (k == "qrs") return {param("WINDOW", 54) + 5, 2, 0};
  if (k.starts_with("qrs_")) return {0, 8, 0};
  if (k == "beat_window") return {2, 34, 0};
  return {1, 1, 0};  // window, normalise, quantise, narrow, split
}

}  // namespace

std::string OperatorRow::fastest() const {
  std::string name;
  double best = 0;
  const auto look = [&](const char* engine, const std::optional<EngineCost>& cost) {
    if (cost && (name.empty() || cost->us < best)) name = engine, best = cost->us;
  };
  look("cpu", cpu), look("dsp", dsp), look("npu", npu);
  return name;
}

double OperatorRow::excess() const {
  const auto of = [&](const std::string& engine) {
    return (engine == "cpu" ? cpu : engine == "dsp" ? dsp : npu)->us;
  };
  return of(chosen) / of(fastest()) - 1;
}

base::Result<std::vector<OperatorRow>> measure_operators(const SimulateOptions& options) {
  if (!options.soc.dsp.present)
    return base::Error{base::ErrorKind::kConfig, options.soc.name, "this SoC has no DSP",
                       "set dsp.present"};
  std::vector<OperatorRow> out;
  for (const Case& c : cases()) {
    OperatorRow row{.what = c.what};
    DEPUTY_ASSIGN(const auto inputs, load_inputs(c.graph, {}, 1));
    std::optional<std::vector<std::vector<std::uint8_t>>> outputs;
    const auto on = [&](delegate::Target target, double clock_mhz,
                        std::optional<EngineCost>& cost) -> base::Status {
      SimulateOptions with = options;
      with.placement.rules = {{"#0", target, false}};
      auto s = simulate(c.graph, with, inputs);
      if (!s.ok() && s.error().kind == base::ErrorKind::kUnsupported) return {};
      if (!s.ok()) return s.error();
      cost = cost_of(*s, options.soc, clock_mhz);
      if (outputs) row.equal_outputs = row.equal_outputs && *outputs == s->outputs;
      outputs = s->outputs;
      return {};
    };
    DEPUTY_TRY(on(delegate::Target::kCpu, options.soc.host.clock_mhz, row.cpu));
    DEPUTY_TRY(on(delegate::Target::kDsp, options.soc.dsp.clock_mhz, row.dsp));
    DEPUTY_TRY(on(delegate::Target::kNpu, options.soc.npu.clock_mhz, row.npu));
    DEPUTY_ASSIGN(const auto chosen, compile_graph(c.graph, options, nullptr, nullptr));
    row.chosen = chosen.ops[0].on_npu ? "npu" : chosen.on_dsp(0) ? "dsp" : "cpu";
    out.push_back(std::move(row));
  }
  return out;
}

base::Result<std::vector<KernelRow>> measure_kernels(const soc::SocConfig& soc) {
  const sim::EnergyTable rows = soc::effective_rows(soc);
  // The cases are laid out for the memories of the default configuration.
  arch::DspConfig dsp = soc.dsp;
  dsp.tcm.bytes = std::max(dsp.tcm.bytes, arch::DspTcmConfig{}.bytes);
  dsp.tcm.program_bytes = std::max(dsp.tcm.program_bytes, arch::DspTcmConfig{}.program_bytes);
  std::vector<KernelRow> out;
  for (const auto& c : dsp_kernels::kernel_cases(1, dsp_kernels::Fill::kRandom)) {
    DEPUTY_ASSIGN(const auto run, run_kernel_case(dsp, c));
    const auto n = [](std::uint64_t count) { return static_cast<double>(count); };
    const dsp_model::DspStats& did = run.stats;
    KernelRow row{.what = c.kernel + ": " + c.what};
    row.dsp.cycles = did.cycles, row.dsp.us = n(did.cycles) / soc.dsp.clock_mhz;
    row.dsp.nj = 1e-3 * (n(did.cycles) * rows.dsp_cycle_pj + n(did.slots[0]) * rows.dsp_scalar_pj +
                         n(did.slots[1]) * rows.dsp_vector_pj + n(did.slots[2]) * rows.dsp_mac_pj +
                         n(did.read_bytes) * rows.dsp_tcm_read_byte_pj +
                         n(did.written_bytes) * rows.dsp_tcm_write_byte_pj);
    const CpuWork each = cpu_work(c);
    const auto amount = [&](double per_output) {
      return static_cast<std::uint64_t>(std::llround(per_output * static_cast<double>(c.outputs)));
    };
    row.cpu.cycles = arch::host_cycles(soc.host, CpuKernel::kMacInt8, amount(each.macs)) +
                     arch::host_cycles(soc.host, CpuKernel::kElementwise, amount(each.elements)) +
                     arch::host_cycles(soc.host, CpuKernel::kTranscendental, amount(each.hard));
    row.cpu.us = n(row.cpu.cycles) / soc.host.clock_mhz;
    row.cpu.nj = 1e-3 * n(row.cpu.cycles) * rows.host_cycle_pj;
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace deputy::tools
