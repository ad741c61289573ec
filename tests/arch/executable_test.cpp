// The executable file: what is written comes back, and no change to the bytes gets past the reader.
#include "arch/executable.h"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "arch/executable_check.h"

using namespace deputy;
using namespace deputy::arch;

namespace {

PlacedTensor tensor(const std::string& name, DType dtype, Shape shape, Region region,
                    std::uint64_t offset) {
  PlacedTensor t;
  t.desc = {name, dtype, std::move(shape), {}};
  t.placement = Placement::kRegion;
  t.region = region;
  t.offset = offset;
  return t;
}

Executable sample() {
  Executable e;
  e.model_name = "sample";
  e.numerics = Numerics::kFp32;
  e.target.clock_mhz = 312.5;
  e.target.mac.oc_lanes = 16;
  e.tensors = {tensor("in", DType::kInt8, {1, 4, 4, 2}, Region::kFastArena, 0),
               tensor("w", DType::kInt32, {2, 3}, Region::kConstants, 64),
               tensor("out", DType::kFloat32, {1, 8}, Region::kSlowArena, 128),
               tensor("gone", DType::kInt8, {7}, Region::kFastArena, 0)};
  e.tensors[0].desc.quant = {{0.25f, 0.5f}, {-3, 4}, 3};
  e.tensors[0].source_index = 5;
  e.tensors[1].constant = true;
  e.tensors[3].placement = Placement::kNone;
  e.inputs = {0};
  e.outputs = {2, 2};
  e.ops.resize(2);
  e.ops[0] = {"gone", OpKind::CONV_2D, 0, true, false, "", 1234};
  e.ops[1] = {"out", OpKind::SOFTMAX, 1, false, false, "no circuit for it", 0};
  e.programs = {{{0x0401, 0, 0, 0}, {0}}};
  Step npu;
  npu.kind = StepKind::kNpu;
  npu.inputs = {0};
  npu.outputs = {0};
  Step host;
  host.source_op = 1;
  host.attrs.beta = 0.5f;
  host.attrs.pad_left = -2;
  host.attrs.keep_dims = true;
  host.inputs = {0, kNoTensor, 1};
  host.outputs = {2};
  e.steps = {npu, host};
  e.constants.assign(100, 0xAB);
  e.fast_arena_bytes = 64;
  e.slow_arena_bytes = 160;
  return e;
}

std::string read_problem(const Executable& e) {
  const auto result = read_executable(write_executable(e), "x.dpx");
  return result.ok() ? "" : result.error().text();
}

}  // namespace

TEST_CASE("an executable comes back as it was written") {
  const Executable e = sample();
  const auto bytes = write_executable(e);
  const auto result = read_executable(bytes, "x.dpx");
  REQUIRE(result.ok());
  const Executable& r = *result;
  CHECK(r.model_name == "sample");
  CHECK(r.numerics == Numerics::kFp32);
  CHECK(r.target.clock_mhz == 312.5);
  CHECK(r.target.mac.oc_lanes == 16);
  REQUIRE(r.tensors.size() == 4);
  CHECK(r.tensors[0].desc.shape == Shape{1, 4, 4, 2});
  CHECK(r.tensors[0].desc.quant == e.tensors[0].desc.quant);
  CHECK(r.tensors[0].source_index == 5);
  CHECK(r.tensors[1].constant);
  CHECK(r.tensors[2].offset == 128);
  CHECK(r.tensors[3].placement == Placement::kNone);
  CHECK(r.outputs == std::vector<std::uint32_t>{2, 2});
  CHECK(r.ops[1].reason == "no circuit for it");
  CHECK(r.ops[0].macs == 1234);
  CHECK(r.steps[1].attrs.beta == 0.5f);
  CHECK(r.steps[1].attrs.pad_left == -2);
  CHECK(r.steps[1].attrs.keep_dims);
  CHECK(r.steps[1].inputs == std::vector<std::uint32_t>{0, kNoTensor, 1});
  CHECK(r.programs[0].words == e.programs[0].words);
  CHECK(r.constants == e.constants);
  CHECK(write_executable(r) == bytes);
}

TEST_CASE("the header is laid out as documented") {
  const auto bytes = write_executable(sample());
  CHECK(std::string(bytes.begin(), bytes.begin() + 7) == "DPTYEXE");
  CHECK(bytes[8] == kExecutableVersion);
  CHECK(bytes[12] == kSectionCount);
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a as its authors publish it
  for (std::size_t i = 24; i < bytes.size(); ++i) hash = (hash ^ bytes[i]) * 1099511628211u;
  for (int i = 0; i < 8; ++i) CHECK(bytes[16 + i] == static_cast<std::uint8_t>(hash >> (8 * i)));
  CHECK(content_hash(bytes) == hash);
  // The last section is the 100 constant bytes, at a multiple of 64, at the end of the file.
  CHECK((bytes.size() - 100) % 64 == 0);
  CHECK(bytes[bytes.size() - 100] == 0xAB);
}

TEST_CASE("executables that make no sense are refused in words") {
  const auto expect = [](auto&& change, const std::string& words) {
    Executable e = sample();
    change(e);
    CHECK_THAT(read_problem(e), Catch::Contains(words) && Catch::Contains("x.dpx"));
  };
  expect([](Executable& e) { e.numerics = static_cast<Numerics>(3); }, "rounding mode");
  expect([](Executable& e) { e.target.mac.oc_lanes = 0; }, "oc_lanes is out of range");
  expect([](Executable& e) { e.target.clock_mhz = std::nan(""); }, "clock_mhz is out of range");
  expect([](Executable& e) { e.tensors[0].offset = 33; },
         "tensor 0: 32 bytes at 33 leave their region of 64 bytes");
  expect([](Executable& e) { e.tensors[0].offset = ~std::uint64_t{0} >> 1; }, "out of range");
  expect([](Executable& e) { e.tensors[0].desc.shape = {1, -4, 4, 2}; }, "shape is out of range");
  expect(
      [](Executable& e) {
        e.tensors[2].desc.shape = {65536, 65536, 65536, 65536};
      },
      "more bytes than a region");
  expect([](Executable& e) { e.tensors[2].offset = 126; }, "not a multiple of its element size");
  expect([](Executable& e) { e.tensors[0].desc.quant.zero_point.pop_back(); },
         "2 scales but 1 zero points");
  expect([](Executable& e) { e.tensors[0].desc.quant.axis = 4; }, "along axis 4");
  expect([](Executable& e) { e.tensors[0].desc.dtype = static_cast<DType>(8); },
         "unknown element type");
  expect([](Executable& e) { e.tensors[0].region = static_cast<Region>(3); }, "unknown region");
  expect([](Executable& e) { e.inputs = {4}; }, "graph input: tensor 4 of 4");
  expect([](Executable& e) { e.inputs = {1}; }, "lies in the constants");
  expect([](Executable& e) { e.outputs = {3}; }, "tensor 3 has no storage");
  expect([](Executable& e) { e.ops[0].kind = static_cast<OpKind>(4000); }, "unknown kind 4000");
  expect([](Executable& e) { e.programs[0].source_ops = {2}; }, "names op 2 of 2");
  expect([](Executable& e) { e.steps[0].kind = static_cast<StepKind>(2); }, "unknown kind of step");
  expect([](Executable& e) { e.steps[0].program = 1; }, "step 0: program 1 of 1");
  expect([](Executable& e) { e.steps[1].source_op = 2; }, "step 1: op 2 of 2");
  expect([](Executable& e) { e.steps[0].inputs = {kNoTensor}; },
         "step 0: input: tensor 4294967295");
  expect([](Executable& e) { e.steps[1].outputs = {1}; }, "lies in the constants");
  expect([](Executable& e) { e.steps[1].attrs.activation = 4; }, "unknown fused activation");
  expect([](Executable& e) { e.fast_arena_bytes = std::uint64_t{1} << 32; }, "fast arena");
}

TEST_CASE("a changed or cut file is refused by its hash") {
  const auto good = write_executable(sample());
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    auto bytes = good;
    bytes[random() % bytes.size()] ^= static_cast<std::uint8_t>(1u << (random() % 8));
    CHECK_FALSE(read_executable(bytes, "x").ok());
  }
  for (std::size_t n = 0; n < good.size(); ++n)
    CHECK_FALSE(read_executable(std::span(good).first(n), "x").ok());
}

TEST_CASE("hostile files with a right hash are read or refused, never crashed on") {
  const auto good = write_executable(sample());
  std::mt19937 random(2);
  int refused = 0;
  for (int i = 0; i < 6000; ++i) {
    auto bytes = good;
    for (int flips = 1 + static_cast<int>(random() % 4); flips > 0; --flips) {
      const std::size_t at = 24 + random() % (bytes.size() - 24);
      if (random() % 4 == 0)
        bytes[at] = std::array<std::uint8_t, 4>{0x00, 0xFF, 0x7F, 0x80}[random() % 4];
      else
        bytes[at] ^= static_cast<std::uint8_t>(1u << (random() % 8));
    }
    if (random() % 8 == 0) bytes.resize(24 + random() % (bytes.size() - 24));
    const std::uint64_t hash = content_hash(bytes);
    for (int b = 0; b < 8; ++b) bytes[16 + b] = static_cast<std::uint8_t>(hash >> (8 * b));
    const auto result = read_executable(bytes, "x");
    refused += !result.ok();
    if (result.ok()) CHECK(executable_problem(*result).empty());
    if (result.ok()) CHECK(write_executable(*result) == bytes);  // one canonical form
  }
  CHECK(refused > 1000);
  CHECK(refused < 6000);
}
