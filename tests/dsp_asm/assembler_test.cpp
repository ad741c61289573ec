// The assembler: every operation's text and word back and forth, directives, errors with their
// places, the scheduler against program order.
#include "dsp_asm/assembler.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "arch/bitpack.h"
#include "arch/dsp_packet.h"

namespace deputy::dsp_test {
namespace {

using arch::DspDecodeFault, arch::DspOp;

dsp_asm::Program good(std::string_view text, const dsp_asm::Options& options = {}) {
  auto program = dsp_asm::assemble(text, "t.dsp", options);
  INFO(text);
  if (!program.ok()) FAIL(program.error().text());
  return std::move(program).value();
}
std::string error_of(std::string_view text, const dsp_asm::Options& options = {}) {
  const auto program = dsp_asm::assemble(text, "t.dsp", options);
  INFO(text);
  REQUIRE(!program.ok());
  return program.error().text();
}
std::string listing(std::string_view text) { return dsp_asm::disassemble(good(text).words); }

// An operation with random legal fields.
DspOp random_op(const arch::DspOpInfo& info, std::mt19937_64& random) {
  for (;;) {
    DspOp op = arch::make_dsp_op(info.code);
    arch::with_dsp_format(info.format, [&](auto f) {
      arch::DspEncoded<f()>::fields(op, [&](auto& member, const base::Field& field) {
        const std::string_view name = field.name;
        if (name == "opcode" || name == "slot" || name == "last") return;
        const auto low = static_cast<std::int64_t>(arch::field_low(field)),
                   high = static_cast<std::int64_t>(arch::field_high(field));
        const auto value =
            low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
        member = static_cast<std::remove_reference_t<decltype(member)>>(value);
      });
      return 0;
    });
    // Fields that no operand names stay 0, as the assembler leaves them.
    const auto named = [&](char field) {
      return std::any_of(info.operands.begin(), info.operands.end(),
                         [&](const arch::DspOperand& o) { return o.file && o.field == field; });
    };
    if (!named('D')) op.d = 0;
    if (!named('A')) op.a = 0;
    if (!named('B')) op.b = 0;
    if (!named('C')) op.c = 0;
    if (!named('I') && !named('A')) op.imm = 0;
    op.last = 1;
    if (arch::check_dsp_op(op) == DspDecodeFault::kNone) return op;
  }
}

}  // namespace

TEST_CASE("every DSP operation goes from word to text and back") {
  std::mt19937_64 random(7);
  for (const auto& info : arch::dsp_op_infos())
    for (int i = 0; i < 20; ++i) {
      const DspOp op = random_op(info, random);
      const std::uint32_t word = arch::encode_dsp_op(op);
      DspOp back;
      REQUIRE(arch::decode_dsp_op(word, back) == DspDecodeFault::kNone);
      REQUIRE(back.code == op.code);
      const bool targets = std::any_of(info.operands.begin(), info.operands.end(),
                                       [](const arch::DspOperand& o) { return o.file == '@'; });
      if (targets) continue;  // text names labels
      const std::string text = arch::disassemble_dsp_op(op, 0);
      INFO(text);
      const auto program = good(text + "\n");
      REQUIRE(program.words.size() == 1);
      CHECK(program.words[0] == word);
    }
}

TEST_CASE("any word either decodes to what encodes to it again, or is refused") {
  std::mt19937_64 random(8);
  int decoded = 0;
  for (int i = 0; i < 200000; ++i) {
    const auto word = static_cast<std::uint32_t>(random());
    DspOp op;
    if (arch::decode_dsp_op(word, op) != DspDecodeFault::kNone) continue;
    ++decoded;
    REQUIRE(arch::encode_dsp_op(op) == word);
  }
  CHECK(decoded > 1000);
}

TEST_CASE("numbers of operations fit their slots, and each name is there once") {
  std::map<std::string, int> names;
  for (const auto& info : arch::dsp_op_infos()) {
    CHECK(info.opcode < 128);
    CHECK(++names[info.name] == 1);
  }
}

TEST_CASE("a line may be repeated as often as .rep allows") {
  const auto program = dsp_asm::assemble(".rep 100000\n nop\n.endrep\n", "t.dsp");
  REQUIRE(program.ok());
  CHECK(program->words.size() == 100000);
}

TEST_CASE("labels, packets, constants, repetition, macros and conditions") {
  CHECK(listing("start: movi r1, 5 || vld v1, [r2]+1\n jmp start\n") ==
        "    0  movi r1, 5 || vld v1, [r2]+1\n    2  jmp 0\n");
  CHECK(listing("  vst v1, [r2] || add r1, r1, r2 ; slots in any order\n") ==
        "    0  add r1, r1, r2 || vst v1, [r2]\n");
  CHECK(listing(".equ A 3\n.rep 2, i\n vmov v{A + i}, v{2*i}\n.endrep\n") ==
        "    0  vmov v3, v0\n    1  vmov v4, v2\n");
  CHECK(listing(".macro twice d, s\n add d, s, s\n.endm\n twice r1, r2\n twice r3, r4\n") ==
        "    0  add r1, r2, r2\n    1  add r3, r4, r4\n");
  CHECK(listing(".if 1 > 2\n nop\n.else\n halt\n.endif\n") == "    0  halt\n");
  CHECK(listing(".reg acc a2\n.reg x v7\n vmac.h acc, x, x\n") == "    0  vmac.h a2, v7, v7\n");
  CHECK(listing(" (!m2) vadd.h v1, v2, v3\n ldw r1, [r2 - 3]%c1\n") ==
        "    0  (!m2) vadd.h v1, v2, v3\n    1  ldw r1, [r2 - 3]%c1\n");
  CHECK(listing(" li r1, 0x12345678\n li r2, -5\n mov r3, r1\n ret\n") ==
        "    0  movi r1, 22136\n    1  movhi r1, 4660\n    2  movi r2, -5\n    3  add r3, r1, r0\n "
        "   4  jr r31\n");
  CHECK(good(".param N 4\n movi r1, N\n", {.parameters = {{"N", 9}}}).words ==
        good(" movi r1, 9\n").words);
  CHECK(good(" mtc clen2, r4\n mfc r5, mail_in\n").words.size() == 2);
  CHECK(listing(" movi r1, 1 | 6 & 3 || vmov v1, v2\n") == "    0  movi r1, 3 || vmov v1, v2\n");
  std::string empty = ".rep 1\n.endrep\n", chain = " movi r1, -1", deep = "1";
  for (int i = 0; i < 30; ++i) empty = ".rep 1\n" + empty + ".endrep\n";
  CHECK(good(empty).words.empty());
  for (int i = 0; i < 300; ++i) chain += " + -(-1)";
  CHECK(good(chain + "\n").words == good(" movi r1, 299\n").words);  // long, not deep
  for (int i = 0; i < 5000; ++i) deep = (i % 2 ? "-" : "~(") + deep;
  for (int i = 0; i < 2500; ++i) deep += ")";
  CHECK(error_of(" movi r1, " + deep + "\n").find("nested too deeply") != std::string::npos);
  for (int i = 0; i < 30; ++i) empty = ".rep 1\n" + empty + ".endrep\n";
  CHECK(error_of(empty).find("nested too deeply") != std::string::npos);
}

TEST_CASE("errors name line and column") {
  const std::pair<const char*, const char*> cases[] = {
      {"\n  vadd.q v1, v2, v3\n", "t.dsp:2:3: there is no operation 'vadd.q'"},
      {" add r1, r2\n", "t.dsp:1:12: ',' expected"},
      {" add r1, r2, v3\n", "t.dsp:1:14: a scalar register (r0 to r31) expected, not 'v3'"},
      {" add r1, r2, r32\n", "t.dsp:1:14: a scalar register"},
      {" vmac.h a4, v1, v2\n", "t.dsp:1:9: an accumulator (a0 to a3) expected"},
      {" vzip v3, v1, v2, 2\n", "t.dsp:1:7: an even vector register"},
      {" addi r1, r1, 5000\n", "t.dsp:1:15: 5000 does not fit (-2048 to 2047)"},
      {" vld v1, [r2 + 200]\n", "t.dsp:1:14: 200 does not fit (-128 to 127 accesses of 128 bytes)"},
      {" jmp nowhere\n", "t.dsp:1:2: there is no label 'nowhere'"},
      {"a: nop\na: nop\n", "t.dsp:2:1: 'a' is defined twice"},
      {" add r1, r1, r1 || sub r2, r2, r2\n", "t.dsp:1:20: a second operation in slot S"},
      {" addi r2, r2, 1 || ldw r1, [r2]+1\n",
       "t.dsp:1:20: two operations of a packet write one register"},
      {" ldw r1, [r1]+1\n", "t.dsp:1:2: two operations of a packet write one register"},
      {" (m0) mul r1, r1, r1\n", "t.dsp:1:2: 'mul' takes no predicate"},
      {" movi r1, WHAT + 1\n", "t.dsp:1:11: 'WHAT' is not defined"},
      {" movi r1, 1 / 0\n", "t.dsp:1:13: 1 / 0 has no value"},
      {" nop nop\n", "t.dsp:1:6: 'nop' is too much here"},
      {".rep 3\n nop\n", "t.dsp:1:1: no .endrep for this"},
      {".bogus\n", "t.dsp:1:1: there is no directive '.bogus'"},
      {".param N 2\n.require N == 3\n", "t.dsp:2:10: the program requires N == 3"},
      {".macro m x\n movi r1, x\n.endm\n m 70000\n", "t.dsp:2:11: 70000 does not fit"},
      {".macro m x\n m x\n.endm\n m 1\n", "nested too deeply"},
      {".sched\n jmp a\na: nop\n.endsched\n", "t.dsp:2:2: control flow within .sched"},
      {".sched\n nop\n", "t.dsp:1:1: .sched without .endsched"},
      {" mtc bogus, r1\n", "t.dsp:1:6: 'bogus' is no control register"},
      {" ldw r1, [r2]+1%c7\n", "t.dsp:1:17: a circular buffer expected"},
      {".rep 100000\n.rep 100000\n.equ A 1\n.endrep\n.endrep\n", "the program grows without end"},
      {".rep 100000\n.rep 100000\n.endrep\n.endrep\n", "t.dsp:2:1: the program grows without end"},
  };
  for (const auto& [text, message] : cases) {
    const std::string error = error_of(text);
    INFO(error);
    CHECK(error.find(message) != std::string::npos);
  }
  CHECK(error_of("nop\n", {.parameters = {{"N", 1}}}).find("there is no parameter 'N'") !=
        std::string::npos);
  std::string far = "a: nop\n";
  for (int i = 0; i < 3000; ++i) far += " nop\n";
  CHECK(error_of(far + " beq r1, r2, a\n").find("t.dsp:3002:2: 'a' is too far away") !=
        std::string::npos);
}

TEST_CASE("hostile texts give errors, not crashes") {
  std::mt19937_64 random(5);
  const std::string seedtext =
      ".param N 2\n.rep N, i\n vadd.h v{i+1}, v2, v3 || ldw r1, [r2]+1%c0\n.endrep\n.sched\n "
      "vmac.h a0, v1, v2\n.endsched\nx: loop 0, r1, x\n li r1, (3 << 2) | 1\n";
  int errors = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = seedtext;
    for (int k = 0; k < 3; ++k) {
      const std::size_t at = random() % text.size();
      if (random() % 2)
        text[at] = "()[]{}+-%|;:,.#09azvr\n\t"[random() % 23];
      else
        text.erase(at, random() % 5);
    }
    errors += !dsp_asm::assemble(text, "t.dsp").ok();
  }
  CHECK(errors > 1000);
}

TEST_CASE("program files are read back, and refused when damaged") {
  const auto words = good(" nop\n halt\n").words;
  auto bytes = dsp_asm::write_program(words);
  CHECK(dsp_asm::read_program(bytes, "f").value() == words);
  for (const std::size_t at : {0u, 4u, 8u}) {
    auto damaged = bytes;
    damaged[at] ^= 0x40;
    CHECK(!dsp_asm::read_program(damaged, "f").ok());
  }
  bytes.pop_back();
  CHECK(!dsp_asm::read_program(bytes, "f").ok());
  CHECK(!dsp_asm::read_program({}, "f").ok());
}

}  // namespace deputy::dsp_test
