// The core by hand: cycles of small programs, faults that stop it before anything happens, loops,
// interrupts, mail and the DMA channel.
#include "dsp_model/core/core.h"

#include <catch2/catch.hpp>
#include <cstring>

#include "dsp_asm/assembler.h"

namespace deputy::dsp_test {
namespace {

using arch::DspControl, arch::DspFault, dsp_model::DspCore;
using Stop = DspCore::Stop;

std::vector<std::uint32_t> words(const std::string& text) {
  const auto program = dsp_asm::assemble(text, "t.dsp");
  if (!program.ok()) FAIL(program.error().text());
  return program->words;
}
struct Rig {
  DspCore core;
  explicit Rig(const std::string& text, const arch::DspConfig& config = {}) : core(config) {
    REQUIRE(core.load(words(text)));
    core.start();
  }
  std::uint64_t cycles() {
    REQUIRE(core.run(100000) == Stop::kHalted);
    return core.cycle();
  }
};
std::uint64_t cycles(const std::string& text, const arch::DspConfig& config = {}) {
  return Rig(text + " halt\n", config).cycles() - 1;
}

struct Stopped {
  DspFault fault;
  std::uint32_t pc, detail;
  bool operator==(const Stopped&) const = default;
};
Stopped stopped(const std::string& text) {
  Rig rig(text);
  REQUIRE(rig.core.run(100000) == Stop::kFault);
  CHECK(rig.core.run(200000) == Stop::kFault);  // and it stays stopped
  CHECK(rig.core.registers().r[9] == 0);        // written by the packets that fault
  return {rig.core.fault(), rig.core.fault_pc(), rig.core.fault_detail()};
}

}  // namespace

TEST_CASE("cycles of small programs are those of the pipeline's description") {
  CHECK(cycles(" nop\n nop\n") == 2);
  CHECK(cycles(" add r1, r2, r3\n add r4, r1, r1\n") == 2);
  CHECK(cycles(" mul r1, r2, r3\n add r4, r1, r1\n") == 3);
  CHECK(cycles(" ldw r1, [r2]\n nop\n add r4, r1, r1\n") == 3);
  CHECK(cycles(" ldw r1, [r2]\n add r4, r1, r1\n") == 3);
  CHECK(cycles(" div r1, r2, r3\n add r4, r1, r1\n") == 13);
  CHECK(cycles(" vmac.h a0, v1, v2\n vmac.h a0, v3, v4\n vmac.h a0, v5, v6\n") ==
        3);  // sums are forwarded
  CHECK(cycles(" vmac.h a0, v1, v2\n vnar.h v3, a0, 15\n") == 4);
  CHECK(cycles(" vmulq.h v1, v2, v3 || vadd.h v4, v1, v1\n") == 1);  // the old v1
  CHECK(cycles(" vmulq.h v1, v2, v3\n vadd.h v4, v1, v1\n") == 4);
  CHECK(cycles(" vmulq.h v1, v2, v3\n vadd.h v1, v4, v4\n") == 4);  // results land in order
  CHECK(cycles(" vld v1, [r2]+1\n vld v2, [r2]+1\n") == 2);         // the address is ready at once
  CHECK(cycles(" vzip v2, v4, v6, 1\n vadd.b v0, v2, v3\n") == 3);
  CHECK(cycles(" jmp a\na: nop\n") == 4);
  CHECK(cycles(" bne r0, r0, a\na: nop\n") == 2);
  CHECK(cycles(" loopi 0, 10, a\n nop\n nop\na:\n") == 21);
  CHECK(cycles(" loopi 0, 3, b\n loopi 1, 4, a\n nop\na: nop\nb:\n") == 1 + 3 * (1 + 4 + 1));
  CHECK(cycles(" loopi 0, 0, a\n nop\na:\n") == 3);
  arch::DspConfig slow;
  slow.latency.mac = 7, slow.latency.branch = 5;
  CHECK(cycles(" vmac.h a0, v1, v2\n vnar.h v3, a0, 15\n", slow) == 8);
  CHECK(cycles(" jmp a\na: nop\n", slow) == 7);
}

TEST_CASE("banks serve one word a cycle each") {
  const std::string set =
      " viota.w v1\n vshli.w v2, v1, 2\n vshli.w v3, v1, 7\n vshli.w v4, v1, 3\n nop\n";
  const auto base = cycles(set);
  CHECK(cycles(set + " vgath.w v5, [r0], v2\n") == base + 1);   // 32 words side by side
  CHECK(cycles(set + " vgath.w v5, [r0], v3\n") == base + 32);  // all in one bank
  CHECK(cycles(set + " vgath.w v5, [r0], v4\n") == base + 2);   // two to a bank
  CHECK(cycles(set + " vgath.w v5, [r0], v6\n") == base + 1);   // one word for all
  CHECK(cycles(" movi r1, 2\n vldu v1, [r1]\n") == 3);          // 33 words
  CHECK(cycles(" movi r1, 4\n vldu v1, [r1]\n") == 2);
  arch::DspConfig narrow;
  narrow.tcm.banks = 8;
  CHECK(cycles(" vld v1, [r0]\n", narrow) == 4);
}

TEST_CASE("a packet that faults does nothing, and says why and where") {
  const std::string far = " li r1, 0x100000\n";
  CHECK(stopped(far + " movi r9, 1 || ldw r2, [r1]\n") == Stopped{DspFault::kAddress, 2, 0x100000});
  CHECK(stopped(far + " movi r9, 1 || vst v1, [r1]\n") == Stopped{DspFault::kAddress, 2, 0x100000});
  CHECK(stopped(" movi r1, 2\n movi r9, 1 || ldw r2, [r1]\n") == Stopped{DspFault::kAlign, 1, 2});
  CHECK(stopped(" movi r1, 64\n movi r9, 1 || vld v2, [r1]\n") == Stopped{DspFault::kAlign, 1, 64});
  CHECK(stopped(" li r1, -4\n movi r9, 1 || ldw r2, [r1]\n") ==
        Stopped{DspFault::kAddress, 1, 0xFFFFFFFC});
  CHECK(stopped(" li r1, 131071\n movi r9, 1 || vldu v2, [r1]\n") ==
        Stopped{DspFault::kAddress, 2, 131071});
  CHECK(stopped(" viota.w v1\n movi r9, 1 || vgath.w v2, [r0], v1\n") ==
        Stopped{DspFault::kAlign, 1, 1});
  CHECK(stopped(" movi r9, 1 || ldw r2, [r1]+1%c0\n") == Stopped{DspFault::kCircular, 0, 0});
  CHECK(stopped(" trap 5\n") == Stopped{DspFault::kTrap, 0, 5});
  CHECK(stopped(" mfc r9, mail_out\n").fault == DspFault::kControl);
  CHECK(stopped(" mtc cycle, r1\n").fault == DspFault::kControl);
  CHECK(stopped(" mtc dma_start, r0\n").fault == DspFault::kControl);
  CHECK(stopped(" movi r1, 1\n mtc dma_start, r1\n").fault == DspFault::kDma);  // no bytes
  CHECK(stopped("a: loopi 0, 2, a\n") == Stopped{DspFault::kLoop, 0, 0});
  CHECK(stopped(" loopi 0, 2, b\n loopi 0, 2, a\n nop\na: nop\nb: nop\n") ==
        Stopped{DspFault::kLoop, 1, 0});
  CHECK(stopped(" loopi 0, 2, a\n loopi 1, 2, b\n nop\na: nop\nb: nop\n") ==
        Stopped{DspFault::kLoop, 1, 1});
  CHECK(stopped(" movi r1, 77\n jr r1\n") == Stopped{DspFault::kFetch, 77, 77});
  CHECK(stopped(" nop\n") == Stopped{DspFault::kFetch, 1, 1});
}

TEST_CASE("a bad packet stops the core only when it is reached") {
  std::vector<std::uint32_t> code = words(" jmp a\n nop\na: halt\n");
  code[1] = 0xFFFFFFFF;
  DspCore core{arch::DspConfig{}};
  REQUIRE(core.load(code));
  core.start();
  CHECK(core.run(1000) == Stop::kHalted);
  core.start(1);
  CHECK(core.run(1000) == Stop::kFault);
  CHECK(core.fault() == DspFault::kDecode);
  CHECK(core.fault_pc() == 1);
  code.resize(40000);
  CHECK(!core.load(code));
}

TEST_CASE("circular and bit-reversed addresses") {
  Rig ring(
      " movi r1, 256\n movi r2, 12\n mtc cbase1, r1\n mtc clen1, r2\n movi r3, 260\n"
      " stw r1, [r3]+2%c1\n mov r4, r3\n stw r2, [r3]-1%c1\n mov r5, r3\n halt\n");
  ring.cycles();
  CHECK(ring.core.registers().r[4] == 256);
  CHECK(ring.core.registers().r[5] == 264);
  // 8 words at 1024, step of half the buffer: 0 4 2 6 1 5 3 7.
  Rig reversed(
      " movi r1, 1024\n movi r2, 16\n loopi 0, 8, a\n ldwbr r3, [r1], r2\n shli r4, r4, 4\n or r4, "
      "r4, r3\na: halt\n");
  for (std::uint32_t i = 0; i < 8; ++i) std::memcpy(&reversed.core.tcm()[1024 + 4 * i], &i, 4);
  reversed.cycles();
  CHECK(reversed.core.registers().r[4] == 0x04261537);
}

TEST_CASE("mail, waiting and interrupts") {
  Rig mail(
      " wait 1\n mfc r1, mail_in\n addi r1, r1, 1\n mtc mail_out, r1\n mtc host_interrupt, r1\n "
      "halt\n");
  CHECK(mail.core.run(100) == Stop::kWaiting);
  mail.core.idle_until(50);
  CHECK(mail.core.run(100) == Stop::kWaiting);
  REQUIRE(mail.core.post(3));
  CHECK(mail.core.run(1000) == Stop::kSignal);
  CHECK(mail.core.collect() == 4u);
  CHECK(!mail.core.collect());
  CHECK(mail.core.run(1000) == Stop::kSignal);
  CHECK(mail.core.take_host_interrupts() == 1u << 4);
  CHECK(mail.core.take_host_interrupts() == 0);
  CHECK(mail.core.run(1000) == Stop::kHalted);
  CHECK(mail.core.stats().stall_idle == 50);

  arch::DspConfig small;
  small.mailbox_depth = 2;
  Rig full(" movi r1, 7\n mtc mail_out, r1\n mtc mail_out, r1\n mtc mail_out, r1\n halt\n", small);
  CHECK(full.core.run(100) == Stop::kSignal);
  CHECK(full.core.run(100) == Stop::kSignal);
  CHECK(full.core.run(100) == Stop::kBlocked);
  CHECK(full.core.run(100) == Stop::kBlocked);
  full.core.collect();
  CHECK(full.core.run(100) == Stop::kSignal);
  CHECK(full.core.run(100) == Stop::kHalted);
  CHECK(full.core.post(1));
  CHECK(full.core.post(2));
  CHECK(!full.core.post(3));

  // The handler counts; the loop it interrupts goes on as if nothing had been.
  Rig interrupted(
      ".equ HANDLER 9\n movi r1, HANDLER\n mtc vector, r1\n movi r1, 4\n mtc enable, r1\n movi r1, "
      "1\n mtc interrupts, r1\n"
      " loopi 0, 100, a\n addi r2, r2, 1\na: halt\n addi r3, r3, 1\n movi r4, 4\n mtc pending, "
      "r4\n rti\n");
  for (int i = 0; i < 5; ++i) {
    CHECK(interrupted.core.run(20 + 15 * static_cast<unsigned>(i)) == Stop::kTime);
    interrupted.core.raise(arch::kDspEventHost);
  }
  CHECK(interrupted.core.run(10000) == Stop::kHalted);
  CHECK(interrupted.core.registers().r[2] == 100);
  CHECK(interrupted.core.registers().r[3] == 5);

  // A handler that faults at once: every cycle is accounted for all the same.
  Rig lost(
      " movi r1, 50\n mtc vector, r1\n movi r1, 4\n mtc enable, r1\n movi r1, 1\n mtc interrupts, "
      "r1\na: jmp a\n");
  CHECK(lost.core.run(40) == Stop::kTime);
  lost.core.raise(arch::kDspEventHost);
  CHECK(lost.core.run(1000) == Stop::kFault);
  const dsp_model::DspStats& s = lost.core.stats();
  CHECK(s.cycles == lost.core.cycle());
  CHECK(s.cycles ==
        s.packets + s.stall_operand + s.stall_bank + s.stall_dma + s.stall_branch + s.stall_idle);
}

TEST_CASE("the DMA channel is asked, runs beside the program and takes memory cycles") {
  const std::string text =
      " li r1, 0x12345678\n mtc dma_mem_low, r1\n movi r1, 256\n mtc dma_tcm, r1\n movi r1, 64\n "
      "mtc dma_row_bytes, r1\n"
      " movi r1, 3\n mtc dma_rows, r1\n movi r1, 1\n mtc dma_start, r1\n"
      " loopi 0, 64, a\n vld v1, [r0]\na: wait 2\n mfc r5, dma_status\n halt\n";
  Rig rig(text);
  REQUIRE(rig.core.run(1000) == Stop::kSignal);
  const auto request = rig.core.take_dma();
  REQUIRE(request);
  CHECK(!rig.core.take_dma());
  CHECK(!request->store);
  CHECK(request->memory == 0x12345678);
  CHECK(request->tcm == 256);
  CHECK(request->row_bytes == 64);
  CHECK(request->rows == 3);
  CHECK(rig.core.run(1000) == Stop::kWaiting);
  CHECK(rig.core.stats().stall_dma ==
        4);  // a line of 128 bytes at 8 a cycle: every 16th cycle of 68
  rig.core.dma_done(false);
  CHECK(rig.core.run(1000) == Stop::kHalted);
  CHECK(rig.core.registers().r[5] == 2);
}

}  // namespace deputy::dsp_test
