// A changed knob of the DSP changes what it should: its rows of `deputy list params`, one at a
// time, against a program that uses every part of it.
#include <fmt/format.h>

#include <cmath>

#include "tests/stream/board.h"

namespace deputy::stream_test {
namespace {

// Mail that nobody takes for a while; then, so that its end shows what it took, arithmetic of every
// latency, loads, gathers that conflict, loops, branches, its own channel beside the program and
// the interrupt at the channel's end.
const char* const kProgram = R"(
  movi r7, 20
d: mtc mail_out, r7
  addi r7, r7, -1
  bne r7, r0, d
  movi r2, HANDLER
  mtc vector, r2
  movi r2, 2
  mtc enable, r2
  movi r2, 1
  mtc interrupts, r2
  mtc dma_mem_low, r1
  movi r2, 4096
  mtc dma_tcm, r2
  movi r2, 6000
  mtc dma_row_bytes, r2
  movi r2, 1
  mtc dma_rows, r2
  mtc dma_start, r2
c: beq r9, r0, c
  movi r3, 7
  mul r4, r3, r3
  add r4, r4, r3
  div r5, r4, r3
  add r5, r5, r3
  vadd.h v1, v2, v3
  vadd.h v4, v1, v1
  vzip v2, v4, v6, 1
  vadd.b v0, v2, v3
  vredadd.h r6, v0
  add r6, r6, r3
  vmac.h a0, v1, v2
  vnar.h v3, a0, 15
  add r5, r5, r6
  viota.w v10
  vshli.w v10, v10, 6
  loopi 0, 200, a
  vld v7, [r0]
  vadd.h v8, v7, v7
  vst v8, [r0 + 1]
  vgath.w v9, [r0], v10
  vadd.w v9, v9, v9
a: nop
  movi r7, 20
b: addi r7, r7, -1
  bne r7, r0, b
  halt
handler: movi r9, 1
  movi r8, 2
  mtc pending, r8
  rti
  .rep 32                               ; more than the smallest program memory
  nop
  .endrep
)";

std::uint32_t last_status = 0;  ///< of both rounds of the last signature()

std::string signature(const soc::SocConfig& soc) {
  std::uint32_t status = 0;
  last_status = 0;
  const auto record = on_board(soc, [&](HwPort& port) -> base::Status {
    Bare dsp(port);
    // The handler's word is known when the text is assembled once.
    std::string text = kProgram;
    const auto first = dsp_asm::assemble(".equ HANDLER 0\n" + text, "t.dsp");
    if (!first.ok()) FAIL(first.error().text());
    arch::DspCommand run = dsp.run();
    run.arguments = 1, run.argument[0] = dsp.at(0);
    for (int round = 0; round < 2; ++round) {
      dsp.start({dsp.program(fmt::format(".equ HANDLER {}\n", first->labels.at("handler")) + text),
                 dsp.move(arch::DspCommandKind::kLoad, dsp.at(0), 0, 8000), run,
                 dsp.move(arch::DspCommandKind::kStore, dsp.at(0), 12000, 64)});
      port.sleep_until(port.now_ps() + 2 * kMs);
      for (int i = 0; i < 40; ++i) {
        dsp.read(arch::dsp_reg::kMailOut);
        port.sleep_until(port.now_ps() + kMs / 10);
      }
      const std::uint32_t ended = dsp.read(arch::dsp_reg::kStatus);
      status += ended, last_status |= ended;
    }
    dsp.write(arch::dsp_reg::kReset, 1);
    port.free(dsp.memory);
    return {};
  });
  std::string text = fmt::format("{} {}", status, record.end_ps);
  for (const auto& [name, value] : record.counters) text += fmt::format(" {}={}", name, value);
  for (const auto& [initiator, targets] : record.noc_traffic)
    for (const auto& [target, c] : targets)
      text += fmt::format(" {}-{}={}", initiator, target, c.transactions);
  for (const auto& [name, nj] : record.energy_nj) text += fmt::format(" {}={}", name, nj);
  for (const auto& job : record.dsp_jobs) text += fmt::format(" {}-{}", job.start_ps, job.end_ps);
  return text;
}

}  // namespace

TEST_CASE("every knob of the DSP has an effect") {
  std::vector<base::ParamRow> rows;
  base::list_params("", board(), rows);
  const std::vector<std::string> gated = {"power.dsp.gating=true", "power.dsp.idle_us=0.5",
                                          "host.coherent=true",
                                          // Else its port hides the bus.
                                          "dsp.dma.bytes_per_cycle=128", "dsp.dma.chunk_bytes=256"};
  const std::string before = signature(board(gated));
  REQUIRE(last_status == arch::kStatusDone);
  int tried = 0;
  for (const auto& row : rows) {
    if (!row.key.starts_with("dsp.") && !row.key.starts_with("energy.dsp_") &&
        !row.key.starts_with("power.dsp."))
      continue;
    if (row.key == "dsp.present") continue;  // "a board without a DSP says so"
    ++tried;
    std::vector<std::string> values;
    const double value = std::strtod(row.value.c_str(), nullptr);
    for (const double v : {value * 2, std::floor(value / 2), value * 16,
                           std::max(row.field.min, 1024.0), row.field.min, value + 1, 1.0})
      if (v != value && v >= row.field.min && v <= row.field.max)
        values.push_back(base::param_text(v));
    if (row.key == "dsp.tcm.banks") values = {"16"};
    if (row.key == "dsp.dma.bytes_per_cycle") values = {"1"};
    if (row.key == "power.dsp.gating") values = {"false"};
    bool changed = false;
    for (const auto& to : values) {
      auto sets = gated;
      sets.push_back(row.key + "=" + to);
      changed = signature(board(sets)) != before;
      if (changed) break;
    }
    INFO(row.key << " = " << row.value);
    CHECK(changed);
  }
  CHECK(tried > 25);
}

}  // namespace deputy::stream_test
