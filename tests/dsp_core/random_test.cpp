// The model, with each of its lane loops, against the plain interpreter: all registers, the data
// memory, mail and the fault, after each random program.
#include <catch2/catch.hpp>
#include <cstring>

#include "arch/dsp_packet.h"
#include "dsp_asm/assembler.h"
#include "dsp_model/core/core.h"
#include "tests/dsp_core/interpreter.h"
#include "tests/dsp_core/random_program.h"

namespace deputy::dsp_test {
namespace {

using dsp_model::DspCore, dsp_model::Isa;

struct Tally {
  int halted = 0, faulted = 0;
  std::uint64_t packets = 0;
};

arch::DspConfig config() {
  arch::DspConfig c;
  c.tcm.bytes = kRandomTcmBytes;
  return c;
}

// What differs, or "".
std::string difference(DspCore& core, const Interpreter& plain) {
  const dsp_model::Registers& x = core.registers();
  for (int i = 0; i < 32; ++i)
    if (x.r[static_cast<std::size_t>(i)] != plain.r[i]) return "r" + std::to_string(i);
  for (int i = 0; i < 32; ++i)
    if (std::memcmp(x.v[static_cast<std::size_t>(i)].b, plain.v[i], 128))
      return "v" + std::to_string(i);
  for (int i = 0; i < 4; ++i)
    if (std::memcmp(x.a[static_cast<std::size_t>(i)].b, plain.a[i], 256))
      return "a" + std::to_string(i);
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 128; ++k)
      if (x.m[static_cast<std::size_t>(i)].b[k] != (plain.m[i][k] ? 0xFF : 0))
        return "m" + std::to_string(i);
  for (int i = 0; i < static_cast<int>(arch::DspControl::kCount); ++i)
    if (core.control(static_cast<arch::DspControl>(i)) != plain.control[i])
      return "control register " + std::to_string(i);
  if (!std::equal(plain.tcm.begin(), plain.tcm.end(), core.tcm().begin())) return "the data memory";
  return "";
}

void compare(std::uint64_t seed, bool wild, Isa isa, Tally& tally) {
  const RandomProgram program = random_program(seed, wild);
  Interpreter plain;
  plain.tcm = program.tcm, plain.program = program.words;
  plain.mail_in.assign(program.mail.begin(), program.mail.end());
  if (!program.mail.empty())
    plain.control[static_cast<int>(arch::DspControl::kPending)] = arch::kDspEventMail;
  plain.run(20000);

  DspCore core(config(), isa);
  std::copy(program.tcm.begin(), program.tcm.end(), core.tcm().begin());
  REQUIRE(core.load(program.words));
  core.start();
  for (const std::uint32_t word : program.mail) REQUIRE(core.post(word));
  std::deque<std::uint32_t> mail;
  DspCore::Stop stop;
  do {
    stop = core.run(1000000);
    while (const auto word = core.collect()) mail.push_back(*word);
  } while (stop == DspCore::Stop::kSignal || stop == DspCore::Stop::kBlocked);

  INFO("seed " << seed << " wild " << wild << " lanes " << static_cast<int>(isa) << "\n"
               << dsp_asm::disassemble(program.words));
  REQUIRE(plain.packets < 20000);
  REQUIRE((stop == DspCore::Stop::kHalted || stop == DspCore::Stop::kFault));
  INFO("core: fault " << arch::dsp_fault_text(core.fault()) << " at " << core.fault_pc()
                      << "; interpreter: fault " << arch::dsp_fault_text(plain.fault) << " at "
                      << plain.pc);
  REQUIRE(core.fault() == plain.fault);
  REQUIRE(plain.halted == (stop == DspCore::Stop::kHalted));
  if (core.fault() != arch::DspFault::kNone)
    REQUIRE(core.fault_pc() == static_cast<std::uint32_t>(plain.pc));
  REQUIRE(difference(core, plain) == "");
  REQUIRE(mail == plain.mail_out);
  const dsp_model::DspStats& s = core.stats();
  REQUIRE(s.packets == plain.packets);
  // Every cycle is accounted for.
  REQUIRE(s.cycles ==
          s.packets + s.stall_operand + s.stall_bank + s.stall_dma + s.stall_branch + s.stall_idle);
  ++(plain.halted ? tally.halted : tally.faulted);
  tally.packets += plain.packets;
}

void compare_many(std::uint64_t first, int count) {
  Tally tally;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = first + static_cast<std::uint64_t>(i);
    for (const Isa isa : {Isa::kPortable, Isa::kAvx2})
      if (dsp_model::isa_available(isa)) compare(seed, i % 4 == 3, isa, tally);
  }
  WARN(count << " programs: " << tally.halted << " runs halted, " << tally.faulted << " faulted, "
             << tally.packets << " packets");
  CHECK(tally.halted > count);  // of a run with each set of lane loops
  CHECK(tally.faulted > count / 20);
}

}  // namespace

TEST_CASE("random programs behave the same in the model and in the plain interpreter") {
  compare_many(1, 120);
}
TEST_CASE("5000 random programs behave the same in the model and in the plain interpreter",
          "[.slow]") {
  compare_many(100000, 5000);
}

}  // namespace deputy::dsp_test
