// The instruction set's encoding, checked against values written down by hand.
#include "arch/isa.h"

#include <catch2/catch.hpp>

using namespace deputy::arch;

TEST_CASE("a LOAD has the documented bytes") {
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
  load.mem_row_stride = 100;
  load.spm_row_stride = 64;   // dense: left out
  load.spm_plane_stride = 0;  // 192 would be dense
  in.op = load;
  std::vector<std::uint32_t> words;
  encode(in, words);
  // Sizes of wait_load, wait_compute, wait_store, region | traffic, spm_addr, mem_offset, row_bytes
  // | rows, planes, mem_row_stride, mem_plane_stride | spm_row_stride, spm_plane_stride.
  const std::vector<std::uint8_t> bytes = {
      0x10,       6,          0x34,       0x12,    // opcode, words, tag
      0b01000100, 0b01111001, 0b00010101, 0b0100,  // sizes
      7,          2,          1,          0x00,   0x01, 0x9A, 0x78, 0x56,
      0x34,       0x12,       64,         3,      2,    100,  0};
  REQUIRE(words.size() == 6);
  for (std::size_t i = 0; i < words.size() * 4; ++i) {
    INFO(i);
    CHECK((words[i / 4] >> (i % 4 * 8) & 0xFF) == (i < bytes.size() ? bytes[i] : 0u));
  }
}

TEST_CASE("fields that follow from others take no byte, and come back") {
  Conv conv;
  conv.ifm_h = conv.ifm_w = 9, conv.ifm_c = 5, conv.ofm_h = conv.ofm_w = 7, conv.ofm_c = 300;
  conv.k_h = conv.k_w = 3, conv.stride_h = conv.stride_w = 2;
  conv.ifm_px_stride = 5, conv.ifm_row_stride = 45, conv.ofm_px_stride = 300,
  conv.ofm_row_stride = 2100, conv.w_oc_stride = 45;
  std::vector<std::uint32_t> dense, other;
  encode({{}, conv}, dense);
  const Conv back = std::get<Conv>(decode(dense).instruction.op);
  CHECK(back.w_oc_stride == 45);
  CHECK(back.ofm_row_stride == 2100);
  CHECK(back.k_w == 3);
  CHECK(back.stride_w == 2);
  conv.ofm_row_stride = 0, conv.k_w = 2;  // 0 is a value like others
  encode({{}, conv}, other);
  CHECK(other.size() > dense.size());
  const Conv odd = std::get<Conv>(decode(other).instruction.op);
  CHECK(odd.ofm_row_stride == 0);
  CHECK(odd.k_w == 2);
  CHECK(odd.w_oc_stride == 45);
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
  encode(Instruction{{}, Fill{0, 16, -1}}, words);  // sizes 2 bytes, count, value
  REQUIRE(words.size() == 2);
  auto broken = words;
  broken[0] = (broken[0] & ~0xFFu) | 0x99;
  CHECK(decode(broken).fault == DecodeFault::kUnknownOpcode);
  for (const std::uint32_t length : {0u, 1u, 3u, 255u}) {
    broken = words;
    broken[0] = (broken[0] & ~0xFF00u) | length << 8;
    broken.resize(300);
    CHECK(decode(broken).fault == DecodeFault::kBadLength);
  }
  CHECK(decode(std::span(words).first(1)).fault == DecodeFault::kTruncated);
  CHECK(decode(std::span(words).first(0)).fault == DecodeFault::kTruncated);
  broken = words;
  broken[1] = (broken[1] & 0xFF00FFFFu);  // count 0
  Decoded out = decode(broken);
  CHECK(out.fault == DecodeFault::kBadField);
  CHECK(std::string(out.field) == "count");
  broken = words;
  broken[1] |= 3;  // wait_load with four bytes: more than there are
  CHECK(decode(broken).fault == DecodeFault::kBadLength);
  // A two-byte value for a field of 8 bits: out of range, also where the low byte alone would pass.
  words.clear();
  Load dense;
  Transfer::imply(dense);
  encode(Instruction{{}, dense}, words);
  REQUIRE(words.size() == 2);
  broken = {words[0] + (1u << 8), words[1] | 0b10000000u, 0x0101};  // region = 0x0101
  out = decode(broken);
  CHECK(out.fault == DecodeFault::kBadField);
  CHECK(std::string(out.field) == "region");
}

TEST_CASE("decoding never reads past the span, and what it accepts has legal fields") {
  std::uint64_t state = 88172645463325252u;
  const auto next = [&] {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
  };
  std::vector<std::uint8_t> opcodes;
  for_each_instruction(
      [&]<class T>(T) { opcodes.push_back(static_cast<std::uint8_t>(T::kOpcode)); });
  int accepted = 0;
  for (int i = 0; i < 200000; ++i) {
    std::vector<std::uint32_t> words(2 + next() % 24);
    for (auto& w : words) w = static_cast<std::uint32_t>(next() & next());
    words[0] = opcodes[next() % opcodes.size()] |
               static_cast<std::uint32_t>(words.size() - next() % 2) << 8;
    const Decoded out = decode(words);
    if (out.fault != DecodeFault::kNone) continue;
    ++accepted;
    std::visit([](const auto& op) { REQUIRE(first_bad_field(op) == nullptr); }, out.instruction.op);
    std::vector<std::uint32_t> again;
    encode(out.instruction, again);
    REQUIRE(again.size() <= words.size());
    const Decoded twice = decode(again);
    REQUIRE(disassemble(twice.instruction) == disassemble(out.instruction));
  }
  CHECK(accepted > 100);
}
