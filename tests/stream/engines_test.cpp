// Operators of networks on the DSP: the CPU's bytes, the cycles that the compiler expects, the
// engine that the table says, and what happens when the DSP fails or is not there.
#include <fmt/format.h>

#include "delegate/dsp/dsp_ops.h"
#include "host_runtime/runtime/session.h"
#include "tests/stream/board.h"
#include "tests/support/golden.h"
#include "tools/engine_bench.h"
#include "workloads/builder.h"

namespace deputy::stream_test {
namespace {

using delegate::Target;

tools::SimulateOptions simulate_options(const std::vector<std::string>& sets = {}) {
  tools::SimulateOptions out;
  out.soc = board(sets);
  return out;
}

// One operator, int8 or uint8.
delegate::Graph one(arch::OpKind kind, const Shape& in, const Shape& out, DType type,
                    const arch::OpAttrs& attrs = {}) {
  delegate::Graph g;
  g.name = "one";
  const bool softmax = kind == arch::OpKind::SOFTMAX, u8 = type == DType::kUint8;
  const auto map = [&](const char* name, const Shape& shape, float scale, std::int32_t zero) {
    delegate::Tensor t;
    t.desc.name = name, t.desc.dtype = type, t.desc.shape = shape;
    t.desc.quant.scale = {scale}, t.desc.quant.zero_point = {zero};
    g.tensors.push_back(t);
    return static_cast<delegate::TensorId>(g.tensors.size()) - 1;
  };
  delegate::Op op;
  op.kind = kind, op.attrs = attrs;
  op.inputs = {map("x", in, 0.07f, 3)};
  if (!softmax) {
    delegate::Tensor size;
    size.desc.name = "size", size.desc.dtype = DType::kInt32, size.desc.shape = {2};
    const std::int32_t values[] = {out[1], out[2]};
    size.constant = true, size.data.resize(8);
    std::memcpy(size.data.data(), values, 8);
    g.tensors.push_back(size);
    op.inputs.push_back(1);
  }
  op.outputs = {softmax ? map("y", out, 1.0f / 256, u8 ? 0 : -128) : map("y", out, 0.07f, 3)};
  g.inputs = {0}, g.outputs = op.outputs;
  g.ops.push_back(op);
  return g;
}

tools::Simulation run(const delegate::Graph& graph, const tools::SimulateOptions& options) {
  const auto inputs = tools::load_inputs(graph, {}, 7);
  REQUIRE(inputs.ok());
  auto s = tools::simulate(graph, options, *inputs);
  if (!s.ok()) FAIL(s.error().text());
  CHECK(s->soc.imbalances == std::vector<std::string>{});
  return std::move(*s);
}
tools::SimulateOptions on(Target target, tools::SimulateOptions options) {
  options.placement.rules = {{"#0", target, false}};
  return options;
}

delegate::Graph conv(const Shape& in, int outputs, arch::Activation activation,
                     arch::Padding padding) {
  workloads::Builder b("conv", 9);
  workloads::Window window = workloads::square(3, 1, activation);
  window.padding = padding;
  const auto x = b.input(in, -1, 2);
  return b.finish({b.conv("y", x, outputs, window)});
}

delegate::Graph dense(int rows, int inputs, int outputs, arch::Activation activation) {
  workloads::Builder b("dense", 4);
  const auto x = b.input({rows, inputs}, -1, 2);
  return b.finish({b.fully_connected("y", x, outputs, activation)});
}

// Convolution, resizing, convolution: NPU, DSP, NPU.
delegate::Graph chain() {
  workloads::Builder first("chain", 5), second("rest", 6);
  const auto x = first.input({1, 12, 12, 8}, -1, 1), z = second.input({1, 24, 24, 16}, -1, 1);
  const auto a = first.conv("a", x, 16, workloads::square(3, 1, arch::Activation::kRelu)),
             c = second.conv("c", z, 8, workloads::square(3, 1, arch::Activation::kNone));
  delegate::Graph g = first.finish({a}), rest = second.finish({c});
  const auto quant = g.tensor(a).desc.quant;
  const auto add = [&](const delegate::Tensor& t) {
    g.tensors.push_back(t);
    return static_cast<delegate::TensorId>(g.tensors.size()) - 1;
  };
  const delegate::Graph r =
      one(arch::OpKind::RESIZE_BILINEAR, {1, 12, 12, 16}, {1, 24, 24, 16}, DType::kInt8);
  delegate::Op resize = r.ops[0];
  resize.inputs = {a, add(r.tensors[1])}, resize.outputs = {add(r.tensors[2])};
  g.tensor(resize.outputs[0]).desc.quant = quant;
  g.tensor(resize.outputs[0]).desc.name = "larger";
  g.ops.push_back(resize);
  // The second one reads what the resizing wrote: its biases count in that one's steps.
  delegate::Op conv = rest.ops[0];
  const float ratio = quant.scale[0] / rest.tensor(z).desc.quant.scale[0];
  conv.inputs[0] = resize.outputs[0];
  for (std::size_t i = 1; i < conv.inputs.size(); ++i) {
    delegate::Tensor t = rest.tensor(conv.inputs[i]);
    if (i == 2)
      for (float& scale : t.desc.quant.scale) scale *= ratio;
    t.desc.name += "2";
    conv.inputs[i] = add(t);
  }
  conv.outputs = {add(rest.tensor(c))};
  g.ops.push_back(conv);
  g.outputs = conv.outputs;
  return g;
}

}  // namespace

TEST_CASE("operators on the DSP give the CPU's bytes, in the cycles that the compiler expects") {
  arch::OpAttrs centres, corners;
  centres.half_pixel_centers = true, corners.align_corners = true;
  using enum arch::OpKind;
  std::vector<delegate::Graph> graphs = {
      one(SOFTMAX, {1, 1}, {1, 1}, DType::kInt8),
      one(SOFTMAX, {3, 10}, {3, 10}, DType::kInt8),
      one(SOFTMAX, {2, 7, 33}, {2, 7, 33}, DType::kUint8),
      one(SOFTMAX, {1, 4095}, {1, 4095}, DType::kInt8),
      one(SOFTMAX, {700, 128}, {700, 128}, DType::kInt8),  // in two bands
      one(RESIZE_BILINEAR, {1, 7, 5, 3}, {1, 14, 11, 3}, DType::kInt8),
      one(RESIZE_BILINEAR, {1, 8, 8, 32}, {1, 16, 16, 32}, DType::kInt8, centres),
      one(RESIZE_BILINEAR, {1, 9, 9, 4}, {1, 5, 20, 4}, DType::kUint8, corners),
      one(RESIZE_NEAREST_NEIGHBOR, {1, 6, 6, 5}, {1, 13, 3, 5}, DType::kInt8, centres),
      one(RESIZE_NEAREST_NEIGHBOR, {1, 6, 6, 5}, {1, 13, 3, 5}, DType::kUint8, corners)};
  using enum arch::Activation;
  graphs.push_back(conv({1, 9, 12, 16}, 32, kNone, arch::Padding::kSame));
  graphs.push_back(conv({1, 6, 4, 40}, 64, kRelu, arch::Padding::kSame));
  graphs.push_back(conv({1, 3, 6, 8}, 32, kRelu6, arch::Padding::kValid));
  graphs.push_back(conv({1, 24, 24, 4}, 96, kRelu, arch::Padding::kSame));
  graphs.push_back(dense(1, 512, 128, kRelu));
  graphs.push_back(dense(1, 33, 5, kNone));
  graphs.push_back(dense(3, 4, 64, kRelu6));
  graphs.push_back(dense(2, 1000, 200, kNone));  // in three bands, the last one not whole
  for (const Numerics numerics : {Numerics::kTflite, Numerics::kSingle})
    for (const delegate::Graph& graph : graphs) {
      INFO(arch::op_name(graph.ops[0].kind)
           << " " << shape_text(graph.tensor(graph.inputs[0]).desc.shape) << " "
           << dtype_name(graph.tensor(0).desc.dtype) << " " << numerics_name(numerics));
      auto options = simulate_options();
      options.numerics = numerics;
      const auto cpu = run(graph, on(Target::kCpu, options)),
                 dsp = run(graph, on(Target::kDsp, options));
      CHECK(dsp.outputs == cpu.outputs);
      CHECK(cpu.soc.dsp_jobs.empty());
      REQUIRE(dsp.soc.dsp_jobs.size() == 1);
      const double took = static_cast<double>(dsp.soc.dsp_jobs[0].programs.cycles),
                   expected = static_cast<double>(dsp.executable.dsp_jobs[0].cycles);
      CHECK(expected == Approx(took).epsilon(0.15));
      CHECK(dsp.inference.off_dsp.empty());
    }
}

TEST_CASE("fully connected layers on the DSP give the bytes of TFLite Micro") {
  const auto data = tests::shared_data_dir();
  if (!data) {
    WARN("skipped: ../shared/data is absent");
    return;
  }
  int equal = 0, refused = 0;
  for (const tests::OpCase& c : tests::load_op_cases(*data)) {
    if (!c.name.starts_with("fully_connected_")) continue;
    INFO(c.name);
    const auto graph = tools::load_model(*data + "/" + c.model);
    REQUIRE(graph.ok());
    std::vector<Bytes> inputs;
    for (const std::string& file : c.inputs)
      inputs.push_back(tests::read_bytes(*data + "/" + file));
    const auto s = tools::simulate(*graph, on(Target::kDsp, simulate_options()), inputs);
    if (!s.ok()) {
      CHECK(s.error().text().find("a job has 62") != std::string::npos);
      ++refused;
      continue;
    }
    CHECK(s->soc.dsp_jobs.size() == 1);
    CHECK(s->outputs[0] == tests::read_bytes(*data + "/" + c.tflm.at(0).file));
    ++equal;
  }
  CHECK(equal == 12);
  CHECK(refused == 1);  // 24 rows
}

TEST_CASE("a fully connected layer that the DSP does not take says why") {
  auto options = simulate_options();
  const auto why = [&](const delegate::Graph& graph) {
    delegate::CompileOptions compile;
    compile.numerics = options.numerics, compile.dsp = options.soc.dsp;
    return delegate::dsp_refusal(graph, graph.ops[0], compile).value_or("taken");
  };
  auto graph = dense(1, 64, 10, arch::Activation::kNone);
  CHECK(why(graph) == "taken");
  options.numerics = Numerics::kFp32;
  CHECK(why(graph).find("tflite and single") != std::string::npos);
  options.numerics = Numerics::kTflite;
  CHECK(why(dense(30, 64, 10, arch::Activation::kNone)).find("steps") != std::string::npos);
  auto variable = graph;
  variable.tensor(variable.ops[0].inputs[1]).constant = false;
  CHECK(why(variable).find("no constants") != std::string::npos);
  auto shifted = graph;
  shifted.tensor(shifted.ops[0].inputs[1]).desc.quant.zero_point[0] = 1;
  CHECK(why(shifted).find("zero point") != std::string::npos);
  auto large = graph;
  large.tensor(large.outputs[0]).desc.quant.scale[0] = 1e-6f;
  CHECK(why(large).find("1 or more") != std::string::npos);
  options.soc.dsp.tcm.bytes = 2048;
  CHECK(why(graph).find("data memory") != std::string::npos);
}

TEST_CASE("the scheduler takes the engine that the table says is the fastest") {
  const auto rows = tools::measure_operators(simulate_options());
  REQUIRE(rows.ok());
  int dsp = 0;
  for (const tools::OperatorRow& row : *rows) {
    INFO(row.what << ": " << row.chosen << " chosen, " << row.fastest() << " is faster by "
                  << 100 * row.excess() << " %");
    CHECK(row.equal_outputs);
    CHECK(row.excess() < 0.1);
    dsp += row.chosen == "dsp";
  }
  CHECK(rows->size() > 10);
  CHECK(dsp > 0);
}

TEST_CASE("a network runs on NPU and DSP in turn, on maps where they are") {
  const auto graph = chain();
  auto options = simulate_options();
  options.engine = delegate::EnginePolicy::kAuto;
  const auto mixed = run(graph, options);
  auto cpu = options;
  cpu.engine = delegate::EnginePolicy::kCpu;
  CHECK(mixed.outputs == run(graph, cpu).outputs);
  CHECK(mixed.executable.ops[0].on_npu);
  CHECK(mixed.executable.on_dsp(1));
  REQUIRE(mixed.soc.dsp_jobs.size() == 1);
  REQUIRE(mixed.soc.npu_jobs.size() == 2);
  // The DSP loads what the NPU stored, and nobody copies it.
  CHECK(mixed.soc.dsp_jobs[0].loaded_bytes >= 12 * 12 * 16);
  CHECK(mixed.soc.dsp_jobs[0].stored_bytes == 24 * 24 * 16);
  // Each begins without the host: sooner than an interrupt is taken.
  CHECK(mixed.soc.dsp_jobs[0].start_ps - mixed.soc.npu_jobs[0].end_ps < 1'000'000);
  CHECK(mixed.soc.npu_jobs[1].start_ps - mixed.soc.dsp_jobs[0].end_ps < 1'000'000);
}

TEST_CASE("when one of a chain fails, what waits for it is withdrawn, and the bytes are the same") {
  const auto graph = chain();
  auto options = simulate_options();
  options.fallback = true;
  const auto good = run(graph, options);
  REQUIRE(good.executable.on_dsp(1));
  for (const char* target : {"npu", "dsp", "npu.queue", "dsp.queue"})
    for (const char* kind : {"engine_hang", "engine_fault", "lost_signal", "lost_interrupt"})
      for (const std::int64_t nth : {1, 2, 3})
        for (const std::int64_t repeat : {1, 0}) {
          const bool queue = std::string(target).ends_with("queue");
          if (queue != std::string(kind).starts_with("lost")) continue;
          INFO(kind << " at " << target << ", the " << nth << ". time"
                    << (repeat ? "" : " and ever after"));
          sim::Fault f;
          f.kind = kind, f.target = target, f.nth = nth, f.repeat = repeat;
          auto faulty = options;
          faulty.faults = {{f}}, faulty.recovery = RecoveryPolicy::full();
          const auto s = run(graph, faulty);
          CHECK(s.outputs == good.outputs);
          CHECK(s.inference.end_ps - s.inference.start_ps <= s.bound_ps);
          if (repeat || queue || nth > 1) continue;
          CHECK(s.inference.off_dsp.empty() == (f.target != "dsp"));
          CHECK(s.inference.degraded.empty() == (f.target != "npu"));
        }
}

TEST_CASE("without values a step on the DSP takes its time all the same") {
  auto options = on(Target::kDsp, simulate_options());
  for (const auto& graph : {one(arch::OpKind::SOFTMAX, {16, 100}, {16, 100}, DType::kInt8),
                            conv({1, 9, 12, 16}, 32, arch::Activation::kNone, arch::Padding::kSame),
                            dense(1, 512, 128, arch::Activation::kRelu)}) {
    const auto time = [&](bool timing_only) {
      options.timing_only = timing_only;
      const base::Result<tools::Simulation> s =
          timing_only ? tools::simulate(graph, options, {}) : run(graph, options);
      REQUIRE((s.ok() && s->soc.dsp_jobs.size() == 1));
      return static_cast<double>(s->soc.dsp_jobs[0].end_ps - s->soc.dsp_jobs[0].start_ps);
    };
    CHECK(time(true) == Approx(time(false)).epsilon(0.2));
  }
}

TEST_CASE("what the DSP cannot do any more the CPU does, to the same bytes") {
  const auto graph = one(arch::OpKind::SOFTMAX, {16, 100}, {16, 100}, DType::kInt8);
  auto options = on(Target::kDsp, simulate_options());
  const auto good = run(graph, options);
  for (const char* kind : {"engine_hang", "engine_fault", "parse_error", "bus_error"}) {
    for (const std::int64_t repeat : {1, 0}) {
      INFO(kind << (repeat ? "" : ", for good"));
      sim::Fault f;
      f.kind = kind, f.target = std::string(kind) == "bus_error" ? "dsp.dma" : "dsp";
      f.nth = 2, f.repeat = repeat;
      auto faulty = options;
      faulty.faults = {{f}}, faulty.recovery = RecoveryPolicy::full();
      const auto s = run(graph, faulty);
      CHECK(s.outputs == good.outputs);
      CHECK(s.soc.faults[0].fired >= 1);
      CHECK(s.inference.off_dsp.size() == (repeat ? 0u : 1u));
      CHECK(s.inference.end_ps - s.inference.start_ps <= s.bound_ps);
    }
  }
  // Nobody allowed the CPU to step in.
  sim::Fault f;
  f.kind = "engine_fault", f.target = "dsp", f.repeat = 0;
  options.faults = {{f}}, options.keep_failed = true;
  const auto inputs = tools::load_inputs(graph, {}, 7);
  const auto failed = tools::simulate(graph, options, *inputs);
  REQUIRE((failed.ok() && failed->failure));
  CHECK(failed->failure->kind == base::ErrorKind::kHardwareFault);
}

TEST_CASE("an executable with DSP jobs runs without a DSP, and damaged jobs are refused") {
  const auto graph = one(arch::OpKind::SOFTMAX, {16, 100}, {16, 100}, DType::kInt8);
  const auto options = on(Target::kDsp, simulate_options());
  const auto executable = tools::compile_graph(graph, options, nullptr, nullptr);
  REQUIRE(executable.ok());
  const auto expected = run(graph, options);
  const auto inputs = tools::load_inputs(graph, {}, 7);
  const auto load = [&](const arch::Executable& e, bool with_dsp, Bytes* output) {
    base::Status out;
    on_board(options.soc, [&](HwPort& port) -> base::Status {
      DeviceOptions with = device_options(options.soc);
      with.dsp = with_dsp;
      Device device(port, with);
      const auto session = Session::load(device, arch::write_executable(e), "s", {});
      if (!session.ok()) return out = session.error(), base::Status();
      if (!output) return {};
      DEPUTY_TRY((*session)->run(*inputs));
      DEPUTY_ASSIGN(*output, (*session)->read_tensor(e.outputs[0]));
      return {};
    });
    return out;
  };
  for (const bool with_dsp : {true, false}) {
    Bytes output;
    CHECK(load(*executable, with_dsp, &output).ok());
    CHECK(output == expected.outputs[0]);
  }
  constexpr std::size_t kWords = arch::kDspCommandBytes / 4;
  const auto changed = [&](std::size_t command, auto&& change) {
    arch::Executable e = *executable;
    auto& words = e.dsp_jobs[0].words;
    auto c = arch::unpack<arch::DspCommand>(std::span(words).subspan(command * kWords, kWords));
    change(c);
    std::vector<std::uint32_t> packed;
    arch::pack(c, packed);
    std::ranges::copy(packed, words.begin() + static_cast<long>(command * kWords));
    const auto status = load(e, true, nullptr);
    return status.ok() ? std::string("accepted") : status.error().text();
  };
  // Program, table, input, run, output.
  CHECK(changed(0, [](auto& c) { c.offset = 0x7FFFFFFC; }).find("region") != std::string::npos);
  CHECK(changed(0, [](auto& c) { c.kind = 1; }).find("begins with its program") !=
        std::string::npos);
  CHECK(changed(2, [](auto& c) { c.row_bytes = 1 << 24; }).find("region") != std::string::npos);
  CHECK(changed(3, [](auto& c) { c.entry = 1 << 20; }).find("outside the program") !=
        std::string::npos);
  for (const std::string& refused :
       {changed(4, [](auto& c) { c.row_bytes += 1; }), changed(4, [](auto& c) { c.region = 0; })})
    CHECK((refused.find("outside its outputs") != std::string::npos ||
           refused.find("leaves its region") != std::string::npos));
  // A program that would move memory by itself.
  arch::Executable e = *executable;
  const auto own = dsp_asm::assemble(" mtc dma_start, r1\n halt\n", "t.dsp");
  REQUIRE(own.ok());
  const auto first = arch::unpack<arch::DspCommand>(std::span(e.dsp_jobs[0].words).first(kWords));
  std::memcpy(e.constants.data() + first.offset, own->words.data(), 8);
  const auto status = load(e, true, nullptr);
  REQUIRE(!status.ok());
  CHECK(status.error().text().find("DMA channel") != std::string::npos);
}

}  // namespace deputy::stream_test
