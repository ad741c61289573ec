// Speed of the DSP's model: kernels on the core, counters "vector operations/s" and "packets/s".
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>

#include "dsp_kernels/kernels.h"
#include "dsp_model/core/core.h"

namespace deputy::dsp_model {
namespace {

void kernel(benchmark::State& state, const dsp_kernels::KernelCase& c, Isa isa) {
  const auto program = dsp_kernels::build_kernel(c.kernel, {.parameters = c.parameters});
  DspCore core(arch::DspConfig{}, isa);
  core.load(program->words);
  for (const auto& m : c.inputs)
    std::copy(m.bytes.begin(), m.bytes.end(), core.tcm().begin() + m.address);
  std::uint64_t operations = 0, packets = 0;
  for (auto _ : state) {
    core.start();
    for (std::size_t i = 0; i < c.arguments.size(); ++i) core.registers().r[i + 1] = c.arguments[i];
    if (core.run(100'000'000) != DspCore::Stop::kHalted)
      state.SkipWithError("the kernel did not halt");
    operations += core.stats().vector_operations, packets += core.stats().packets;
  }
  state.counters["vector operations/s"] =
      benchmark::Counter(static_cast<double>(operations), benchmark::Counter::kIsRate);
  state.counters["packets/s"] =
      benchmark::Counter(static_cast<double>(packets), benchmark::Counter::kIsRate);
}

const int kRegistered = [] {
  for (const Isa isa : {Isa::kPortable, Isa::kAvx2}) {
    if (!isa_available(isa)) continue;
    std::string before;
    for (const auto& c : dsp_kernels::kernel_cases(1, dsp_kernels::Fill::kRandom)) {
      if (c.kernel == before) continue;  // the first case of each
      before = c.kernel;
      const std::string name = "dsp/" + c.kernel + (isa == Isa::kAvx2 ? "/avx2" : "/portable");
      benchmark::RegisterBenchmark(name.c_str(),
                                   [c, isa](benchmark::State& state) { kernel(state, c, isa); });
    }
  }
  return 0;
}();

}  // namespace
}  // namespace deputy::dsp_model
