// Speed of the NPU's functional core: whole instructions through the executor, packing and
// requantisation included, for each kernel set this host can run. Counter "MAC/s" is the figure to
// compare.
#include <benchmark/benchmark.h>

#include <cstring>
#include <string>
#include <vector>

#include "npu_model/core/executor.h"

namespace deputy::npu_model {
namespace {

constexpr std::uint32_t kSpmBytes = 16 << 20, kOutput = 4 << 20, kWeights = 8 << 20,
                        kParams = 12 << 20;

arch::NpuConfig roomy() {
  arch::NpuConfig c;
  c.spm.bytes = kSpmBytes;
  return c;
}

void fill(Executor& executor) {
  std::uint32_t x = 1;
  for (auto& b : executor.spm())
    b = static_cast<std::uint8_t>((x = x * 1664525 + 1013904223) >> 24);
  for (std::uint32_t c = 0; c < 4096; ++c) {
    const std::int32_t record[3] = {1000, 1 << 30, -8};
    std::memcpy(&executor.spm()[kParams + 12 * c], record, sizeof record);
  }
}

template <class T>
void place(T& op, std::uint32_t size, std::uint32_t kernel, std::uint32_t stride, std::uint32_t in,
           std::uint32_t out) {
  op.ifm_h = op.ifm_w = size, op.ifm_c = in, op.ifm_px_stride = in, op.ifm_row_stride = in * size;
  op.k_h = op.k_w = kernel, op.stride_h = op.stride_w = stride;
  op.pad_top = op.pad_left = static_cast<std::int32_t>(kernel / 2);
  op.ofm_h = op.ofm_w = (size + stride - 1) / stride, op.ofm_c = out;
  op.ofm_addr = kOutput, op.ofm_px_stride = out, op.ofm_row_stride = out * op.ofm_w;
  op.w_addr = kWeights, op.prm_addr = kParams;
}
arch::Conv conv(std::uint32_t size, std::uint32_t kernel, std::uint32_t stride, std::uint32_t in,
                std::uint32_t out) {
  arch::Conv c;
  place(c, size, kernel, stride, in, out);
  c.w_oc_stride = kernel * kernel * in;
  return c;
}
arch::Depthwise depthwise(std::uint32_t size, std::uint32_t stride, std::uint32_t channels) {
  arch::Depthwise d;
  place(d, size, 3, stride, channels, channels);
  d.w_tap_stride = channels;
  return d;
}

using Program = std::vector<arch::Operation>;

std::uint64_t macs_of(const arch::Operation& op) {
  if (const auto* c = std::get_if<arch::Conv>(&op)) return c->macs();
  if (const auto* d = std::get_if<arch::Depthwise>(&op)) return d->macs();
  return 0;
}

// The layers of MobileNetV2 1.0 at 224x224 (Sandler et al. 2018, table 2), one instruction a layer.
Program mobilenet_v2() {
  Program p{conv(224, 3, 2, 3, 32)};
  std::uint32_t size = 112, in = 32;
  const std::uint32_t blocks[7][4] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                                      {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  for (const auto& [expand, out, repeat, first_stride] : blocks)
    for (std::uint32_t r = 0; r < repeat; ++r) {
      const std::uint32_t stride = r == 0 ? first_stride : 1, hidden = in * expand;
      if (expand != 1) p.push_back(conv(size, 1, 1, in, hidden));
      p.push_back(depthwise(size, stride, hidden));
      size = (size + stride - 1) / stride;
      p.push_back(conv(size, 1, 1, hidden, out));
      if (stride == 1 && in == out) {
        const std::uint32_t row = size * out;
        p.push_back(arch::Eltwise{.a_row_stride = row,
                                  .a_px_stride = out,
                                  .b_addr = 2 << 20,
                                  .b_row_stride = row,
                                  .b_px_stride = out,
                                  .ofm_addr = kOutput,
                                  .ofm_row_stride = row,
                                  .ofm_px_stride = out,
                                  .ofm_h = size,
                                  .ofm_w = size,
                                  .ofm_c = out,
                                  .left_shift = 20,
                                  .a_mult = 1 << 30,
                                  .b_mult = 1 << 30,
                                  .o_mult = 1 << 30,
                                  .o_shift = -18});
      }
      in = out;
    }
  p.push_back(conv(7, 1, 1, 320, 1280));
  p.push_back(conv(1, 1, 1, 1280, 1001));
  return p;
}

// The same with unsigned maps and a weight zero point.
Program unsigned_maps(Program p) {
  for (auto& op : p) {
    if (auto* c = std::get_if<arch::Conv>(&op)) c->u8 = 1, c->w_zp = -5;
    if (auto* d = std::get_if<arch::Depthwise>(&op)) d->u8 = 1, d->w_zp = -5;
    if (auto* e = std::get_if<arch::Eltwise>(&op)) e->u8 = 1;
  }
  return p;
}

void run(benchmark::State& state, const Program& program, Isa isa, Numerics numerics) {
  if (!kernels_for(isa)) {
    state.SkipWithError("this host has no such extension");
    return;
  }
  Executor executor(roomy(), isa);
  fill(executor);
  Program p = program;
  std::uint64_t macs = 0;
  for (auto& op : p) {
    if (auto* c = std::get_if<arch::Conv>(&op)) c->rounding = static_cast<std::uint32_t>(numerics);
    if (auto* d = std::get_if<arch::Depthwise>(&op))
      d->rounding = static_cast<std::uint32_t>(numerics);
    macs += macs_of(op);
  }
  for (auto _ : state)
    for (const auto& op : p) executor.execute(op);
  state.counters["MAC/s"] =
      benchmark::Counter(static_cast<double>(macs), benchmark::Counter::kIsIterationInvariantRate);
}

const int kRegistered = [] {
  const std::pair<const char*, Program> programs[] = {
      {"pointwise_56x56x64_128", {conv(56, 1, 1, 64, 128)}},
      {"conv3x3_28x28x128_128", {conv(28, 3, 1, 128, 128)}},
      {"conv3x3s2_224x224x3_32", {conv(224, 3, 2, 3, 32)}},
      {"depthwise3x3_112x112x32", {depthwise(112, 1, 32)}},
      {"depthwise3x3_14x14x576", {depthwise(14, 1, 576)}},
      {"fully_connected_1280_1001", {conv(1, 1, 1, 1280, 1001)}},
      {"mobilenet_v2_224", mobilenet_v2()},
      {"mobilenet_v2_224_uint8", unsigned_maps(mobilenet_v2())},
  };
  for (const auto& [name, program] : programs)
    for (const Isa isa : {Isa::kAvx512Vnni, Isa::kAvx2, Isa::kPortable})
      for (const Numerics numerics : {Numerics::kTflite, Numerics::kFp32}) {
        const char* sets[] = {"portable", "avx2", "avx512vnni"};
        const std::string title = std::string(name) + "/" + sets[static_cast<int>(isa)] + "/" +
                                  std::string(numerics_name(numerics));
        benchmark::RegisterBenchmark(title.c_str(), [program = program, isa,
                                                     numerics](benchmark::State& state) {
          run(state, program, isa, numerics);
        })->Unit(benchmark::kMicrosecond);
      }
  return 0;
}();

}  // namespace
}  // namespace deputy::npu_model
