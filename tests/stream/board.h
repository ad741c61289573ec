// The wearable board with a DSP, and kernels on it.
#pragma once

#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <map>

#include "arch/dsp_registers.h"
#include "arch/memory_map.h"
#include "dsp_asm/assembler.h"
#include "dsp_kernels/image.h"
#include "dsp_kernels/kernels.h"
#include "host_runtime/runtime/dsp_work.h"
#include "soc/platform.h"
#include "tests/support/source_dir.h"
#include "tools/simulate.h"

namespace deputy::stream_test {

using namespace host_runtime;
using Bytes = std::vector<std::uint8_t>;
constexpr std::uint64_t kMs = 1'000'000'000, kForever = ~std::uint64_t{0};

inline soc::SocConfig board(std::vector<std::string> sets = {}) {
  sets.push_back("dsp.present=true");
  auto soc = soc::load_soc_config(tests::source_dir() + "/configs/soc/wearable.yaml", sets);
  if (!soc.ok()) FAIL(soc.error().text());
  return *soc;
}

inline DeviceOptions device_options(const soc::SocConfig& soc, RecoveryPolicy recovery = {}) {
  DeviceOptions out;
  out.dsp = true, out.recovery = recovery, out.board = tools::board_times(soc, false);
  return out;
}

/// Runs the program on the board; its books must balance.
inline soc::RunRecord on_board(const soc::SocConfig& soc,
                               const std::function<base::Status(HwPort&)>& program,
                               const sim::FaultPlan& faults = {}) {
  soc::Platform platform(soc, {.faults = faults});
  const auto outcome = platform.run_to_end(program);
  if (!outcome.status.ok()) FAIL(outcome.status.error().text());
  CHECK(outcome.record.imbalances == std::vector<std::string>{});
  return outcome.record;
}

inline Bytes image_of(const std::vector<dsp_kernels::KernelUse>& uses, const soc::SocConfig& soc) {
  const auto image = dsp_kernels::build_image(uses, soc.dsp);
  if (!image.ok()) FAIL(image.error().text());
  return arch::write_dsp_image(*image);
}

inline Buffer buffer(Device& device, const Bytes& bytes) {
  auto out = Buffer::make(device.space(), MemoryKind::kDram, bytes.size(), kCacheLine);
  if (!out.ok()) FAIL(out.error().text());
  REQUIRE(out->write(bytes).ok());
  return *out;
}

/// A kernel's case as a job: all inputs lie in one buffer, all results come back in another.
struct CaseJob {
  DspTask task;
  Buffer out;
  Bytes expected;
  CaseJob(Device& device, std::shared_ptr<const DspFirmware> firmware, const std::string& name,
          const dsp_kernels::KernelCase& c) {
    task.firmware = std::move(firmware);
    Bytes in;
    for (const auto& m : c.inputs) {
      task.load(1, static_cast<std::uint32_t>(in.size()), m.address,
                static_cast<std::uint32_t>(m.bytes.size()));
      in.insert(in.end(), m.bytes.begin(), m.bytes.end());
    }
    task.run(*task.firmware->entry(name), c.arguments);
    for (const auto& m : c.expected) {
      task.store(2, static_cast<std::uint32_t>(expected.size()), m.address,
                 static_cast<std::uint32_t>(m.bytes.size()));
      expected.insert(expected.end(), m.bytes.begin(), m.bytes.end());
    }
    out = buffer(device, Bytes(expected.size()));
    task.regions = {{buffer(device, in), true, false}, {out, false, true}};
  }
};

/// A program by itself, started through the registers: the list at `memory`, the program behind it.
struct Bare {
  HwPort& port;
  SharedMemory memory;
  explicit Bare(HwPort& p) : port(p), memory(*p.alloc(MemoryKind::kSram, 16384, 64)) {}
  std::uint32_t read(std::uint32_t offset) { return port.read32(arch::kDspBase + offset); }
  void write(std::uint32_t offset, std::uint32_t value) {
    port.write32(arch::kDspBase + offset, value);
  }
  std::uint32_t at(std::uint32_t offset) const {
    return static_cast<std::uint32_t>(memory.address) + offset;
  }
  void start(const std::vector<arch::DspCommand>& commands, std::uint32_t more_bytes = 0) {
    std::vector<std::uint32_t> words;
    for (const auto& command : commands) arch::pack(command, words);
    std::memcpy(memory.host, words.data(), words.size() * 4);
    write(arch::dsp_reg::kListLo, at(0));
    write(arch::dsp_reg::kListBytes, static_cast<std::uint32_t>(words.size() * 4) + more_bytes);
    write(arch::dsp_reg::kCmd, 1);
  }
  arch::DspCommand program(const std::string& text) {
    const auto built = dsp_asm::assemble(text, "t.dsp");
    if (!built.ok()) FAIL(built.error().text());
    std::memcpy(memory.host + 8192, built->words.data(), built->words.size() * 4);
    arch::DspCommand c;
    c.offset = at(8192), c.row_bytes = static_cast<std::uint32_t>(built->words.size() * 4),
    c.entry = ++number;
    return c;
  }
  arch::DspCommand move(arch::DspCommandKind kind, std::uint32_t address, std::uint32_t tcm,
                        std::uint32_t bytes) {
    arch::DspCommand c;
    c.kind = static_cast<std::uint8_t>(kind), c.offset = address, c.tcm = tcm, c.row_bytes = bytes;
    return c;
  }
  arch::DspCommand run() {
    arch::DspCommand c;
    c.kind = static_cast<std::uint8_t>(arch::DspCommandKind::kRun);
    return c;
  }
  std::uint32_t wait() {
    for (int i = 0; i < 1000 && (read(arch::dsp_reg::kStatus) & arch::kStatusRunning); ++i)
      port.sleep_until(port.now_ps() + 1'000'000);
    return read(arch::dsp_reg::kStatus);
  }
  std::uint32_t number = 0;
};

inline dsp_kernels::KernelCase fir_case(std::uint64_t seed = 1) {
  for (auto& c : dsp_kernels::kernel_cases(seed, dsp_kernels::Fill::kRandom))
    if (c.kernel == "fir" && c.what.starts_with("16")) return c;
  FAIL("no such case");
  return {};
}

}  // namespace deputy::stream_test
