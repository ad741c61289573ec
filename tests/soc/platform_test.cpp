// A whole board from a SoC file: the same run twice, two boards one after the other, timing only,
// programs that fail or wait for ever.
#include "soc/platform.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "arch/dma_descriptor.h"
#include "arch/isa.h"
#include "arch/memory_map.h"
#include "arch/registers.h"
#include "tests/support/source_dir.h"

namespace deputy::soc_test {
namespace {

using soc::Platform;
using soc::RunRecord;

soc::SocConfig wearable() {
  auto config = soc::load_soc_config(tests::source_dir() + "/configs/soc/wearable.yaml", {});
  if (!config.ok()) FAIL(config.error().text());
  return *config;
}

// Every field of a record but the wall time, as text.
std::string text(const RunRecord& r) {
  std::string out =
      fmt::format("{} {} {} {} {} {} {} {} {} {} {}\n", r.end_ps, r.kernel_events, r.host_cycles,
                  r.npu_clock_khz, r.host_clock_khz, r.interrupts, r.register_reads,
                  r.register_writes, r.dram.hits, r.dram.misses, r.dram.conflicts);
  const auto traffic = [&](const std::string& who, const soc::TrafficCount& t) {
    out += fmt::format("{} {} {} {}\n", who, t.read_bytes, t.write_bytes, t.transactions);
  };
  for (const auto* side : {&r.initiator_traffic, &r.noc_traffic})
    for (const auto& [who, targets] : *side)
      for (const auto& [what, t] : targets) traffic(who + ">" + what, t);
  for (const auto& [what, t] : r.memory_traffic) traffic(what, t);
  for (const auto& [name, nj] : r.energy_nj) out += fmt::format("{} {}\n", name, nj);
  for (const auto& [name, n] : r.counters) out += fmt::format("{} {}\n", name, n);
  for (const auto& line : r.imbalances) out += line + "\n";
  for (const auto& j : r.npu_jobs) {
    out += fmt::format("job {} {} {} {} {} {} {} {} {} {} {} {}\n", j.start_ps, j.end_ps, j.cycles,
                       j.instructions, j.command_bytes, j.mac_active_cycles, j.load_active_cycles,
                       j.store_active_cycles, j.hazards, j.hazard_tag, j.error, j.aborted);
    for (const auto& o : j.ops)
      out += fmt::format("op {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}\n",
                         o.stream_bytes, o.decoded_bytes, o.tag, o.first_start_ps, o.last_end_ps,
                         o.instructions, o.macs, o.compute_cycles, o.mac_cycles, o.vec_cycles,
                         o.spm_cycles, o.spm_bytes, o.load_cycles, o.store_cycles, o.load_bytes,
                         o.store_bytes, o.weight_bytes, o.vec_results);
  }
  return out;
}

constexpr std::uint32_t kBytes = 8192;

template <class T>
arch::Instruction transfer(std::uint64_t offset, std::uint32_t wait_load) {
  T t;
  t.region = 0, t.spm_addr = 0, t.mem_offset = offset, t.row_bytes = kBytes;
  arch::Instruction i;
  i.header.wait_load = wait_load;
  i.op = t;
  return i;
}

void await(HwPort& port, arch::IrqLine line, std::uint64_t device_irq_status) {
  const auto n = static_cast<std::uint32_t>(line);
  CHECK(port.wait_irq(n, port.now_ps() + 1'000'000'000));
  port.write32(device_irq_status, 3);
  port.write32(arch::kIntcBase + arch::intc_reg::kPending, 1u << n);
}

// DRAM to DRAM by the NPU's scratchpad, then to SRAM by the DMA engine, then CPU work on it.
// `result` gets the bytes.
base::Status work(HwPort& port, std::vector<std::uint8_t>& result) {
  DEPUTY_ASSIGN(const auto dram, port.alloc(MemoryKind::kDram, 65536, 64));
  DEPUTY_ASSIGN(const auto sram, port.alloc(MemoryKind::kSram, kBytes, 64));
  for (std::uint32_t i = 0; i < kBytes; ++i)
    dram.host[i] = static_cast<std::uint8_t>(i * 31 + (i >> 8));
  port.write32(arch::kIntcBase + arch::intc_reg::kEnable, 3);

  std::vector<std::uint32_t> stream;
  arch::encode(transfer<arch::Load>(0, 0), stream);
  arch::encode(transfer<arch::Store>(16384, 1), stream);
  arch::Instruction end;
  end.op = arch::End{};
  arch::encode(end, stream);
  std::memcpy(dram.host + 32768, stream.data(), stream.size() * 4);
  port.clean(dram.address, 65536);
  namespace npu = arch::npu_reg;
  port.write32(arch::kNpuBase + npu::kQBaseLo, static_cast<std::uint32_t>(dram.address + 32768));
  port.write32(arch::kNpuBase + npu::kQSize, static_cast<std::uint32_t>(stream.size() * 4));
  port.write32(arch::kNpuBase + npu::kBase0Lo, static_cast<std::uint32_t>(dram.address));
  port.write32(arch::kNpuBase + npu::kSize0, 65536);
  port.write32(arch::kNpuBase + npu::kIrqEnable, 3);
  port.write32(arch::kNpuBase + npu::kCmd, 1);
  await(port, arch::IrqLine::kNpu, arch::kNpuBase + npu::kIrqStatus);
  CHECK(port.read32(arch::kNpuBase + npu::kStatus) == arch::kStatusDone);

  arch::DmaDescriptor d;
  d.src = dram.address + 16384, d.dst = sram.address, d.row_bytes = kBytes;
  std::vector<std::uint32_t> words;
  arch::pack(d, words);
  std::memcpy(dram.host + 40960, words.data(), words.size() * 4);
  port.clean(dram.address + 40960, words.size() * 4);
  namespace dma = arch::dma_reg;
  port.write32(arch::kDmaBase + dma::kDescLo, static_cast<std::uint32_t>(dram.address + 40960));
  port.write32(arch::kDmaBase + dma::kIrqEnable, 3);
  port.write32(arch::kDmaBase + dma::kCmd, 1);
  await(port, arch::IrqLine::kDma, arch::kDmaBase + dma::kIrqStatus);
  CHECK(port.read32(arch::kDmaBase + dma::kStatus) == arch::kStatusDone);

  port.invalidate(sram.address, kBytes);
  const MemoryTouch touch[] = {{sram.address, kBytes, false}};
  port.charge(CpuKernel::kElementwise, 100, touch);
  result.assign(sram.host, sram.host + kBytes);
  return {};
}

struct Outcome {
  RunRecord record;
  std::vector<std::uint8_t> bytes;
};
Outcome run(const soc::PlatformOptions& options) {
  Outcome out;
  Platform platform(wearable(), options);
  auto record = platform.run([&](HwPort& port) { return work(port, out.bytes); });
  if (!record.ok()) FAIL(record.error().text());
  out.record = *record;
  return out;
}

}  // namespace

TEST_CASE("a run moves its bytes, balances its books, and is the same again") {
  const Outcome first = run({}), second = run({});
  for (std::uint32_t i = 0; i < kBytes; ++i)
    if (first.bytes[i] != static_cast<std::uint8_t>(i * 31 + (i >> 8))) FAIL("byte " << i);
  CHECK(first.record.imbalances.empty());
  CHECK(first.record.npu_jobs.size() == 1);
  CHECK(first.record.interrupts == 2);
  CHECK(first.record.memory_traffic.at("sram").write_bytes == kBytes);
  CHECK(first.record.memory_traffic.at("sram").read_bytes == kBytes);   // by the CPU
  CHECK(first.record.memory_traffic.at("dram").write_bytes == kBytes);  // by the NPU
  CHECK(first.record.noc_traffic.at("npu.load").at("dram").read_bytes == kBytes);
  CHECK(first.record.noc_traffic.at("npu.store").at("dram").write_bytes == kBytes);
  CHECK(first.record.noc_traffic.at("dma.write").at("sram").write_bytes == kBytes);
  CHECK(first.record.noc_traffic.at("host").at("sram").read_bytes == kBytes);
  CHECK(text(first.record) == text(second.record));
  CHECK(first.bytes == second.bytes);
}

TEST_CASE("timing only takes the same time and traffic, and moves nothing") {
  const Outcome full = run({}), timing = run({.timing_only = true});
  CHECK(text(full.record) == text(timing.record));
  CHECK(timing.bytes == std::vector<std::uint8_t>(kBytes, 0));
}

TEST_CASE("energy is each count times its row") {
  const RunRecord r = run({}).record;
  const auto e = wearable().energy;
  const double s = static_cast<double>(r.end_ps) * 1e-12;
  CHECK(r.energy_nj.at("noc") ==
        Approx(static_cast<double>(r.counters.at("noc.bytes")) * e.noc_byte_pj / 1000));
  CHECK(r.energy_nj.at("sram") ==
        Approx(kBytes * (e.sram_read_byte_pj + e.sram_write_byte_pj) / 1000));
  CHECK(r.energy_nj.at("dram.static") == Approx(e.dram_static_mw * s * 1e6));
  CHECK(r.energy_nj.at("host") ==
        Approx(static_cast<double>(r.host_cycles) * e.host_cycle_pj / 1000));
}

TEST_CASE("a program's error is the run's error") {
  Platform platform(wearable(), {});
  const auto record = platform.run([](HwPort& port) -> base::Status {
    port.read32(arch::kNpuBase);
    return base::Error{base::ErrorKind::kMismatch, "here", "did not like it", "try again"};
  });
  REQUIRE_FALSE(record.ok());
  CHECK(record.error().kind == base::ErrorKind::kMismatch);
  CHECK(record.error().text() == "here: did not like it (try again)");
}

TEST_CASE("a failed program leaves its record: what the hardware had counted, in balance") {
  Platform platform(wearable(), {});
  const auto outcome = platform.run_to_end([](HwPort& port) -> base::Status {
    port.read32(arch::kNpuBase);
    port.read32(arch::kDmaBase);
    return base::Error{base::ErrorKind::kHardwareFault, "here", "broke", ""};
  });
  CHECK(outcome.status.error().text() == "here: broke");
  CHECK(outcome.record.register_reads == 2);
  CHECK(outcome.record.end_ps > 0);
  CHECK(outcome.record.energy_nj.count("host") == 1);
  CHECK(outcome.record.imbalances.empty());
}

TEST_CASE("a program that waits for ever is told so, and the next platform works") {
  {
    Platform platform(wearable(), {});
    const auto record = platform.run([](HwPort& port) -> base::Status {
      port.wait_irq(0, ~std::uint64_t{0});
      return {};
    });
    REQUIRE_FALSE(record.ok());
    CHECK(record.error().kind == base::ErrorKind::kHardwareFault);
    CHECK_THAT(record.error().text(), Catch::Contains("the host program has not returned"));
  }
  CHECK(run({}).record.imbalances.empty());
}

TEST_CASE("a platform that never ran makes room for the next") {
  { Platform unused(wearable(), {}); }
  CHECK(run({}).record.imbalances.empty());
}

TEST_CASE("small memories: what lies beyond them is a bus error") {
  auto config = wearable();
  config.sram.bytes = 65536;
  config.dram.bytes = 1 << 20;
  Platform platform(config, {});
  const auto record = platform.run([](HwPort& port) -> base::Status {
    port.read32(arch::kSramBase + 65532);
    CHECK(port.bus_errors() == 0);
    CHECK(port.read32(arch::kSramBase + 65536) == 0xFFFFFFFF);
    CHECK(port.read32(arch::kDramBase + (1 << 20)) == 0xFFFFFFFF);
    CHECK(port.bus_errors() == 2);
    CHECK_FALSE(port.alloc(MemoryKind::kSram, 65537, 1).ok());
    return {};
  });
  REQUIRE(record.ok());
  CHECK(record->counters.at("host.bus_errors") == 2);
  CHECK(record->imbalances.empty());
}

}  // namespace deputy::soc_test
