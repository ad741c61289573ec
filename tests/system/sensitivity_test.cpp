// A changed knob changes what it should: every key of `deputy list params`, one at a time, against
// a program that uses every part of the SoC.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "arch/dma_descriptor.h"
#include "arch/isa.h"
#include "arch/memory_map.h"
#include "arch/registers.h"
#include "tests/system/deputy_process.h"
#include "tools/simulate.h"

using namespace deputy;

namespace {

std::string signature(const soc::RunRecord& r) {
  std::string text = fmt::format("{} {}", r.end_ps, r.host_cycles);
  for (const auto& [name, value] : r.counters) text += fmt::format(" {}={}", name, value);
  for (const auto& [initiator, targets] : r.noc_traffic)
    for (const auto& [target, c] : targets)
      text += fmt::format(" {}-{}={}", initiator, target, c.transactions);
  for (const auto& [name, nj] : r.energy_nj) text += fmt::format(" {}={}", name, nj);
  return text;
}

// A strided copy from DRAM to SRAM by the DMA engine while the CPU streams through the same SRAM.
base::Status contend(HwPort& port) {
  using namespace arch;
  auto descriptor = port.alloc(MemoryKind::kDram, 128, 64);
  auto src = port.alloc(MemoryKind::kDram, 49152, 64);
  auto dst = port.alloc(MemoryKind::kSram, 16384, 64);
  if (!descriptor.ok()) return descriptor.error();
  if (!src.ok()) return src.error();
  if (!dst.ok()) return dst.error();
  DmaDescriptor d;
  d.src = src->address;
  d.dst = dst->address;
  d.row_bytes = 700;
  d.rows = 20;
  d.src_row_stride = 1100;
  d.dst_row_stride = 700;
  std::vector<std::uint32_t> words;
  pack(d, words);
  std::memcpy(descriptor->host, words.data(), words.size() * 4);
  port.write32(kDmaBase + dma_reg::kDescLo, static_cast<std::uint32_t>(descriptor->address));
  port.write32(kDmaBase + dma_reg::kIrqEnable, 3);
  port.write32(kIntcBase + intc_reg::kEnableSet, 1u << static_cast<int>(IrqLine::kDma));
  port.write32(kDmaBase + dma_reg::kCmd, 1);
  const MemoryTouch touches[] = {{dst->address, 9000, true}, {src->address, 9000, false}};
  for (int kernel = 0; kernel < kCpuKernelCount; ++kernel)
    port.charge(static_cast<CpuKernel>(kernel), 5000, {});
  for (int i = 0; i < 3; ++i) port.charge(CpuKernel::kCopy, 10, touches);
  // DRAM writes and reads of many rows at once, and of one bank after another, so that every
  // spacing rule binds.
  std::vector<MemoryTouch> rows;
  for (std::uint64_t i = 0; i < 48; ++i)
    rows.push_back({src->address + (i * 2048 + (i % 3) * 64) % 30000, 32, i % 2 == 0});
  for (int i = 0; i < 4; ++i) port.charge(CpuKernel::kCopy, 0, rows);
  port.clean(src->address, 5000);
  if (!port.wait_irq(static_cast<std::uint32_t>(IrqLine::kDma), port.now_ps() + 1'000'000'000'000))
    return base::Error{base::ErrorKind::kHardwareFault, "dma", "no interrupt", ""};
  return {};
}

// One NPU job that decodes a block, longer than its fetch takes.
base::Status decode_block(HwPort& port) {
  using namespace arch;
  auto memory = port.alloc(MemoryKind::kDram, 4096, 64);
  if (!memory.ok()) return memory.error();
  std::vector<std::uint32_t> words;
  encode({.op = LoadWeights{.stream_bytes = 64, .bytes = 4096, .fixed_code = 1}}, words);
  encode({.op = End{}}, words);
  std::memcpy(memory->host, words.data(), words.size() * 4);
  const auto set = [&](std::uint64_t offset, std::uint64_t value) {
    port.write32(kNpuBase + offset, static_cast<std::uint32_t>(value));
  };
  set(npu_reg::kQBaseLo, memory->address);
  set(npu_reg::kQSize, words.size() * 4);
  set(npu_reg::kBase0Lo, memory->address);
  set(npu_reg::kSize0, 4096);
  set(npu_reg::kIrqEnable, 3);
  port.write32(kIntcBase + intc_reg::kEnableSet, 1u << static_cast<int>(IrqLine::kNpu));
  set(npu_reg::kCmd, 1);
  if (!port.wait_irq(static_cast<std::uint32_t>(IrqLine::kNpu), port.now_ps() + 1'000'000'000'000))
    return base::Error{base::ErrorKind::kHardwareFault, "npu", "no interrupt", ""};
  set(npu_reg::kReset, 1);
  return {};
}

base::Result<std::string> run_everything(const delegate::Graph& graph,
                                         const std::vector<std::string>& sets) {
  tools::SimulateOptions options;
  auto soc = soc::load_soc_config(test::project_file("configs/soc/wearable.yaml"), sets);
  if (!soc.ok()) return soc.error();
  options.soc = *soc;
  auto executable = delegate::compile(graph, tools::compile_options(options));
  if (!executable.ok()) return executable.error();
  const auto file = arch::write_executable(*executable);
  soc::Platform platform(options.soc, {.timing_only = true, .seed = 1});
  auto record = platform.run([&](HwPort& port) -> base::Status {
    if (auto status = contend(port); !status.ok()) return status;
    if (auto status = decode_block(port); !status.ok()) return status;
    host_runtime::Device device(port, {});
    auto session = host_runtime::Session::load(device, file, "model");
    if (!session.ok()) return session.error();
    return (*session)->run({});
  });
  if (!record.ok()) return record.error();
  CHECK(record->imbalances.empty());
  return signature(*record);
}

// Values to try: the effect of some knobs shows only when they become a bottleneck.
std::vector<std::string> candidates(const base::ParamRow& row) {
  std::vector<std::string> out;
  const double value = std::strtod(row.value.c_str(), nullptr);
  for (double v :
       {value * 2, std::floor(value / 2), value / 2, value * 16, row.field.min, value + 1, 1.0})
    if (v != value && v >= row.field.min && v <= row.field.max) out.push_back(base::param_text(v));
  return out;
}

}  // namespace

TEST_CASE("every knob has an effect") {
  auto graph = tools::load_model(test::project_file("workloads/ecg/ecg_beats.tflite"));
  REQUIRE(graph.ok());
  std::vector<base::ParamRow> rows;
  auto soc = soc::load_soc_config(test::project_file("configs/soc/wearable.yaml"), {});
  REQUIRE(soc.ok());
  base::list_params("", *soc, rows);
  for (const auto& row : rows) {
    if (row.key == "name") continue;
    if (row.key == "host.coherent" || row.key == "host.evict_seed")
      continue;  // of bytes, not of time: cache_test
    if (row.key == "npu.serial.weight_bits")
      continue;  // of 3x3 kernels, which this network has none of: npu_timing_serial_test
    if (row.key == "npu.engine")
      continue;  // the same bytes, and cycles within a hair: rtl_engine_test
    // One thread, no context of its own, no sensor: nothing here feels these. host_threads_test,
    // iommu_test and sensor_test do, and silicon.defect changes bytes alone (probe_test).
    if (row.key == "host.time_slice_us" || row.key == "host.context_switch" ||
        row.key.starts_with("iommu.") || row.key.starts_with("silicon.") ||
        row.key.starts_with("sensor."))
      continue;
    // What only reports use: power_report_test.
    if (row.key == "energy.dram_sleep_mw" || row.key == "power.trace_us" ||
        row.key.starts_with("battery."))
      continue;
    // No DSP here: "every knob of the DSP has an effect" (tests/stream).
    if (row.key.starts_with("dsp.") || row.key.starts_with("energy.dsp_") ||
        row.key.starts_with("power.dsp."))
      continue;
    // The full DRAM model's rows are those of test_dram.
    if (row.key.starts_with("dram.device.") || row.key.starts_with("dram.controller.")) continue;
    // The accesses contend for the same lines.
    std::vector<std::string> setting = {"host.coherent=true"};
    if (row.key.starts_with("dram.fixed_")) setting.push_back("dram.model=fixed");
    if (row.key.starts_with("npu.serial.") && row.key != "npu.serial.outputs")
      setting.push_back("npu.serial.outputs=32");
    const bool switching = row.key.starts_with("energy.") || row.key.starts_with("power.");
    if (switching)
      for (const char* block : {"npu", "sram", "host"}) {
        setting.push_back(fmt::format("power.{}.gating=true", block));
        setting.push_back(fmt::format("power.{}.idle_us=0.5", block));
      }
    if (row.key == "power.rail" || row.key == "power.reference_volts")
      setting.push_back("power.volts=0.7");
    const auto before = run_everything(*graph, setting);
    REQUIRE(before.ok());
    std::vector<std::string> values = candidates(row);
    if (row.key == "noc.arbitration") values = {"fifo", "priority"};
    if (row.key == "power.rail") values = {"npu"};
    if (row.key == "power.point") values = {"low"};
    if (row.key == "power.clock_gating" || row.key.ends_with(".gating")) values = {"false"};
    if (row.key == "dram.model") values = {"fixed"};  // and "full": dram_test
    bool changed = false;
    for (const auto& value : values) {
      auto sets = setting;
      sets.push_back(row.key + "=" + value);
      const auto after = run_everything(*graph, sets);
      // A knob may also make the model impossible to run, which is an effect: too little memory,
      // say.
      changed =
          !after.ok() ? after.error().message.find("fit") != std::string::npos : *after != *before;
      if (changed) break;
    }
    INFO(row.key << " = " << row.value << " tried " << fmt::format("{}", fmt::join(values, ", ")));
    CHECK(changed);
  }
}
