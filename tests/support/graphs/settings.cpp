// The settings a graph is compiled under (agreement.h).
#include <fmt/format.h>

#include "tests/support/graphs/agreement.h"
#include "tests/support/graphs/switches.h"
#include "workloads/random.h"

namespace deputy::graphs {
namespace {

using delegate::CompileOptions;
using delegate::EnginePolicy;
using delegate::Optimisations;

class Chooser {
 public:
  explicit Chooser(std::uint64_t seed) : random_(seed) {}
  std::uint32_t below(std::uint32_t n) { return random_.below(n); }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[below(static_cast<std::uint32_t>(values.size()))];
  }
  Setting machine(Numerics numerics) {
    Setting s;
    CompileOptions& o = s.options;
    o.numerics = numerics;
    o.npu.spm.bytes = one_of({4096, 8192, 16384, 20000, 49152, 131072, 262144});
    o.npu.mac.oc_lanes = one_of({1, 4, 8, 16}), o.npu.mac.ic_lanes = one_of({1, 3, 8, 16});
    o.npu.mac.pixels = one_of({1, 2, 4}), o.npu.mac.accumulators = one_of({64, 500, 2048, 8192});
    o.sram_bytes = one_of<std::uint64_t>({0, 256, 2048, 16384, 1 << 20, 1 << 20});
    o.memory.dram_bytes_per_cycle = one_of({0.5, 4.0, 16.0});
    o.memory.sram_latency_cycles = o.memory.dram_latency_cycles = one_of({0.0, 32.0, 500.0});
    s.order = static_cast<int>(below(5));
    o.fallback = below(3) == 0;
    o.io = one_of({delegate::IoPlacement::kArena, delegate::IoPlacement::kSram,
                   delegate::IoPlacement::kDram});
    return s;
  }

 private:
  workloads::Random random_;
};

std::string_view engine_name(EnginePolicy engine) {
  return engine == EnginePolicy::kAuto ? "auto" : engine == EnginePolicy::kNpu ? "npu" : "cpu";
}

}  // namespace

std::string Setting::text() const {
  const CompileOptions& o = options;
  std::string off;
  for (std::size_t i = 0; i < switch_count(); ++i)
    if (!get_switch(o.optimisations, i)) off += fmt::format(" no-{}", switch_name(i));
  return fmt::format(
      "engine {}, {} rounding, scratchpad {}, lanes {}x{}x{}, {} accumulators, arena {}, dram {} "
      "B/cycle, "
      "latency {}, {} effort, io {},{}{}{} order {}",
      engine_name(o.engine), numerics_name(o.numerics), o.npu.spm.bytes, o.npu.mac.oc_lanes,
      o.npu.mac.ic_lanes, o.npu.mac.pixels, o.npu.mac.accumulators, o.sram_bytes,
      o.memory.dram_bytes_per_cycle, o.memory.dram_latency_cycles,
      o.effort == delegate::Effort::kFast ? "fast" : "full",
      o.io == delegate::IoPlacement::kArena  ? "arena"
      : o.io == delegate::IoPlacement::kSram ? "sram"
                                             : "dram",
      o.fallback ? " fallbacks," : "", o.keep_all_tensors ? " all tensors," : "",
      off.empty() ? " every switch on," : off + ",", order);
}

std::vector<Setting> settings(std::uint64_t seed, int singles, int random) {
  Chooser c(seed ^ 0x5e771465u);
  const Numerics numerics =
      c.one_of({Numerics::kTflite, Numerics::kTflite, Numerics::kSingle, Numerics::kFp32});
  std::vector<Setting> out;
  const auto add = [&](EnginePolicy engine) -> Setting& {
    out.push_back(c.machine(numerics));
    out.back().options.engine = engine;
    return out.back();
  };
  add(EnginePolicy::kCpu);
  add(EnginePolicy::kNpu);
  add(EnginePolicy::kAuto);
  add(EnginePolicy::kNpu).options.optimisations = all_off();
  add(EnginePolicy::kNpu).options.keep_all_tensors = true;
  add(EnginePolicy::kNpu).options.effort = delegate::Effort::kFast;
  const auto first = c.below(static_cast<std::uint32_t>(switch_count()));
  const std::size_t count = singles < 0 ? switch_count() : static_cast<std::size_t>(singles);
  for (std::size_t i = 0; i < count; ++i)
    set_switch(add(EnginePolicy::kNpu).options.optimisations, (first + i) % switch_count(), false);
  for (int i = 0; i < random; ++i) {
    Setting& s = add(c.one_of({EnginePolicy::kNpu, EnginePolicy::kNpu, EnginePolicy::kAuto}));
    s.options.optimisations = combination(c.below(1u << switch_count()));
    s.options.effort = c.one_of({delegate::Effort::kFast, delegate::Effort::kFull});
    s.options.keep_all_tensors = c.below(8) == 0;
  }
  return out;
}

}  // namespace deputy::graphs
