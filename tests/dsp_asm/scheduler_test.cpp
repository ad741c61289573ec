// .sched: random straight-line programs give the same registers and memory packed as one operation
// after another, and never take longer.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <random>

#include "arch/dsp_packet.h"
#include "dsp_asm/assembler.h"
#include "dsp_model/core/core.h"

namespace deputy::dsp_test {
namespace {

// Operations as text, over few registers; addresses are r1 and r2, which only post-increments and
// addi move.
std::string random_lines(std::mt19937_64& random, int count) {
  const auto n = [&](unsigned below) { return std::to_string(random() % below); };
  std::string text;
  for (int i = 0; i < count; ++i) {
    switch (random() % 16) {
      case 0:
        text += " vld v" + n(6) + ", [r" + std::to_string(1 + random() % 2) + " + " + n(6) + "]\n";
        break;
      case 1:
        text += " vst v" + n(6) + ", [r" + std::to_string(1 + random() % 2) + " + " + n(6) + "]\n";
        break;
      case 2:
        text += " vld v" + n(6) + ", [r1]+1\n";
        break;
      case 3:
        text += " vst v" + n(6) + ", [r2]+1\n";
        break;
      case 4:
        text += " vmac.h a" + n(2) + ", v" + n(6) + ", v" + n(6) + "\n";
        break;
      case 5:
        text += " vnar.h v" + n(6) + ", a" + n(2) + ", 15\n";
        break;
      case 6:
        text +=
            " vzip v" + std::to_string(2 * (random() % 3)) + ", v" + n(6) + ", v" + n(6) + ", 2\n";
        break;
      case 7:
        text += " (m0) vadd.h v" + n(6) + ", v" + n(6) + ", v" + n(6) + "\n";
        break;
      case 8:
        text += " vcmpgt.h m0, v" + n(6) + ", v" + n(6) + "\n";
        break;
      case 9:
        text += " add r" + std::to_string(3 + random() % 3) + ", r4, r5\n";
        break;
      case 10:
        text += " vredadd.h r" + std::to_string(3 + random() % 3) + ", v" + n(6) + "\n";
        break;
      case 11:
        text += " stw r" + std::to_string(3 + random() % 3) + ", [r2 + " + n(60) + "]\n";
        break;
      case 13:
        text += " vst v" + n(6) + ", [r0]+1\n";
        break;  // r0 stays where it is
      case 14:
        text += " vld v" + n(6) + ", [r0 + " + n(2) + "]\n";
        break;
      case 12:
        text += " ldw r" + std::to_string(3 + random() % 3) + ", [r1 + " + n(60) + "]\n";
        break;
      default:
        text +=
            " addi r1, r1, " + std::to_string(128 * (static_cast<int>(random() % 3) - 1)) + "\n";
        break;
    }
  }
  return text;
}

std::unique_ptr<dsp_model::DspCore> run(const std::string& text) {
  const auto program = dsp_asm::assemble(text, "t.dsp");
  if (!program.ok()) FAIL(program.error().text());
  auto core = std::make_unique<dsp_model::DspCore>(arch::DspConfig{});
  for (std::size_t i = 0; i < core->tcm().size(); ++i)
    core->tcm()[i] = static_cast<std::uint8_t>(i * 37 + i / 251);
  REQUIRE(core->load(program->words));
  core->start();
  core->registers().r[1] = 0x4000, core->registers().r[2] = 0x4200;
  REQUIRE(core->run(1000000) == dsp_model::DspCore::Stop::kHalted);
  return core;
}

}  // namespace

TEST_CASE("scheduled code does what the text says, and no slower") {
  std::mt19937_64 random(11);
  std::uint64_t plain_cycles = 0, packed_cycles = 0;
  for (int i = 0; i < 150; ++i) {
    const std::string lines = random_lines(random, 40);
    const auto plain = run(lines + " halt\n"),
               packed = run(".sched\n" + lines + ".endsched\n halt\n");
    INFO(lines);
    REQUIRE(plain->registers().r == packed->registers().r);
    for (int v = 0; v < 8; ++v)
      REQUIRE(std::memcmp(plain->registers().v[v].b, packed->registers().v[v].b, 128) == 0);
    for (int a = 0; a < 2; ++a)
      REQUIRE(std::memcmp(plain->registers().a[a].b, packed->registers().a[a].b, 256) == 0);
    REQUIRE(std::ranges::equal(plain->tcm(), packed->tcm()));
    REQUIRE(packed->cycle() <= plain->cycle());
    plain_cycles += plain->cycle(), packed_cycles += packed->cycle();
  }
  CHECK(packed_cycles < plain_cycles);
}

}  // namespace deputy::dsp_test
