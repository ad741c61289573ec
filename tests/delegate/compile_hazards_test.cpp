// The waits that the tracker derives, on hand-made streams whose hazards are known.
#include <catch2/catch.hpp>

#include "delegate/codegen/hazards.h"
#include "delegate/codegen/program_builder.h"
#include "tests/support/npu_interpreter.h"

namespace deputy::delegate {
namespace {

arch::Load load(std::uint32_t spm, std::uint64_t memory, std::uint32_t bytes) {
  arch::Load l;
  l.region = 1, l.spm_addr = spm, l.mem_offset = memory, l.row_bytes = bytes;
  return l;
}
arch::Store store(std::uint32_t spm, std::uint64_t memory, std::uint32_t bytes) {
  arch::Store s;
  s.region = 1, s.spm_addr = spm, s.mem_offset = memory, s.row_bytes = bytes;
  return s;
}
arch::Fill fill(std::uint32_t spm, std::uint32_t bytes) {
  arch::Fill f;
  f.addr = spm, f.count = bytes;
  return f;
}
void check(const Waits& w, std::uint32_t l, std::uint32_t c, std::uint32_t s) {
  CHECK(w.load == l);
  CHECK(w.compute == c);
  CHECK(w.store == s);
}

}  // namespace

TEST_CASE("a read waits for the write of another queue, and for no other") {
  HazardTracker t;
  check(t.add(load(0, 0, 64)), 0, 0, 0);     // load 1
  check(t.add(load(64, 64, 64)), 0, 0, 0);   // load 2
  check(t.add(store(0, 512, 64)), 1, 0, 0);  // reads what load 1 wrote
  check(t.add(store(96, 640, 8)), 2, 0, 0);
  check(t.add(store(200, 700, 8)), 0, 0, 0);  // bytes that nobody wrote
}

TEST_CASE("a write waits for earlier reads and writes of its bytes") {
  HazardTracker t;
  t.add(load(0, 0, 64));                  // load 1
  t.add(store(0, 512, 64));               // store 1 reads 0..64
  check(t.add(fill(32, 64)), 1, 0, 1);    // overwrites half of what store 1 reads and load 1 wrote
  check(t.add(load(0, 0, 16)), 0, 0, 1);  // its bytes were only read by store 1
  check(t.add(load(90, 0, 2)), 0, 1, 0);  // the fill's tail
}

TEST_CASE("memory is tracked as the scratchpad is") {
  HazardTracker t;
  t.add(load(0, 100, 50));                    // load 1 reads memory 100..150
  check(t.add(store(200, 149, 1)), 1, 0, 0);  // may not overwrite it earlier
  check(t.add(load(300, 149, 1)), 0, 0, 1);   // reads what the store wrote
  check(t.add(load(300, 150, 1)), 0, 0, 0);
}

TEST_CASE("a copy that exceeds the instruction's fields is cut into several") {
  arch::NpuConfig npu;
  npu.spm.bytes = 1 << 20;
  ProgramBuilder builder(npu);
  const std::uint32_t spm = builder.allocate(std::vector<std::int64_t>{140000})[0];
  // 70000 rows of 2 bytes, 3 bytes apart: more rows than the field holds.
  builder.load({arch::Region::kFastArena, 0}, spm, Box::dense(1, 70000, 2, 0, 3),
               arch::Traffic::kFeatureMap);
  const auto program = test::decode_program(builder.finish().words);
  REQUIRE(program.size() == 3);
  std::vector<std::uint8_t> memory(210000);
  for (std::size_t i = 0; i < memory.size(); ++i)
    memory[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
  std::vector<std::uint8_t> copy(140000), none;
  test::NpuInterpreter interpreter(npu, {none, memory, copy});
  for (const auto& i : program) interpreter.execute(i.op);
  arch::Store out;
  out.region = 2, out.row_bytes = 140000;
  interpreter.execute(out);
  for (std::size_t i = 0; i < 70000; ++i) {
    REQUIRE(copy[2 * i] == memory[3 * i]);
    REQUIRE(copy[2 * i + 1] == memory[3 * i + 1]);
  }
}

}  // namespace deputy::delegate
