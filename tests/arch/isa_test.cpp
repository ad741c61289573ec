// The instruction set's encoding, checked against values written down by hand.
#include "arch/isa.h"

#include <catch2/catch.hpp>

using namespace deputy::arch;

TEST_CASE("a LOAD has the documented bits") {
  Instruction in;
  in.header.tag = 0x1234;
  in.header.wait_compute = 7;
  Load load;
  load.region = 2;
  load.traffic = 1;
  load.spm_addr = 0x100;
  load.mem_offset = 0x12'3456'789A;
  load.row_bytes = 64;
  load.rows = 3;
  load.planes = 2;
  in.op = load;
  std::vector<std::uint32_t> words;
  encode(in, words);
  REQUIRE(words.size() == 12);
  CHECK(words[0] == 0x1234'0C10u);  // tag, 12 words, opcode 0x10
  CHECK(words[1] == 0);
  CHECK(words[2] == 7);
  CHECK(words[4] == (2u | (1u << 4) | (0x100u << 6)));
  CHECK(words[5] == 0x3456'789Au);
  CHECK((words[6] & 0xFF) == 0x12u);
  CHECK((words[6] >> 8) == 64u);
  CHECK(words[7] == (3u | (2u << 16)));
}

TEST_CASE("every instruction survives encode and decode at its field limits") {
  for_each_instruction([&]<class T>(T) {
    for (const bool high : {false, true}) {
      T op;
      T::fields(op, [&](auto& member, const deputy::base::Field& f) {
        member = static_cast<std::remove_reference_t<decltype(member)>>(
            static_cast<std::int64_t>(high ? field_high(f) : field_low(f)));
      });
      std::vector<std::uint32_t> words;
      Instruction in;
      in.header.wait_load = 0xFFFFFFFF;
      in.op = op;
      encode(in, words);
      const Decoded out = decode(words);
      INFO(T::kName);
      REQUIRE(out.fault == DecodeFault::kNone);
      std::vector<std::uint32_t> again;
      encode(out.instruction, again);
      CHECK(again == words);
    }
  });
}

TEST_CASE("bad streams are refused with their cause") {
  std::vector<std::uint32_t> words;
  encode(Instruction{{}, Fill{0, 16, -1}}, words);
  auto broken = words;
  broken[0] = (broken[0] & ~0xFFu) | 0x99;
  CHECK(decode(broken).fault == DecodeFault::kUnknownOpcode);
  broken = words;
  broken[0] += 1 << 8;
  CHECK(decode(broken).fault == DecodeFault::kBadLength);
  CHECK(decode(std::span(words).first(words.size() - 1)).fault == DecodeFault::kTruncated);
  CHECK(decode(std::span(words).first(3)).fault == DecodeFault::kTruncated);
  broken = words;
  broken[5] = 0;  // count
  const Decoded out = decode(broken);
  CHECK(out.fault == DecodeFault::kBadField);
  CHECK(std::string(out.field) == "count");
}
