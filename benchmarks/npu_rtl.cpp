// Speed of the RTL engine: simulated cycles a second, by what the datapath does.
#include <benchmark/benchmark.h>

#include <string>

#include "npu_model/rtl/rtl_core.h"

namespace deputy::npu_model {
namespace {

void run(benchmark::State& state, const arch::Operation& op) {
  const std::string refusal = rtl_refusal(arch::NpuConfig{});
  if (!refusal.empty()) return state.SkipWithError(refusal.c_str());
  const auto rtl = make_rtl_core(arch::NpuConfig{});
  const std::uint64_t before = rtl->cycles();
  for (auto _ : state) rtl->execute(op);
  state.counters["cycles/s"] =
      benchmark::Counter(static_cast<double>(rtl->cycles() - before), benchmark::Counter::kIsRate);
}

template <class T>
T window() {
  T op;
  op.ifm_h = op.ofm_h = 25, op.ifm_w = op.ofm_w = 5, op.ofm_c = 64;
  op.ifm_px_stride = op.ofm_px_stride = 64, op.ifm_row_stride = op.ofm_row_stride = 320;
  op.ofm_addr = 16384;
  return op;
}

void rtl_conv(benchmark::State& state) {
  auto op = window<arch::Conv>();
  op.ifm_c = op.w_oc_stride = 64, op.w_addr = 32768, op.prm_addr = 65536;
  run(state, op);
}
void rtl_depthwise(benchmark::State& state) {
  auto op = window<arch::Depthwise>();
  op.ifm_c = op.w_tap_stride = 64, op.w_addr = 32768, op.prm_addr = 65536;
  op.k_h = op.k_w = 3, op.pad_top = op.pad_left = 1;
  run(state, op);
}
void rtl_eltwise(benchmark::State& state) {
  arch::Eltwise op;
  op.ofm_h = 25, op.ofm_w = 5, op.ofm_c = 64, op.b_addr = 8192, op.ofm_addr = 16384;
  arch::Eltwise::imply(op);
  run(state, op);
}
BENCHMARK(rtl_conv);
BENCHMARK(rtl_depthwise);
BENCHMARK(rtl_eltwise);

}  // namespace
}  // namespace deputy::npu_model
