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

/// The sample with its input and its output in external regions.
Executable external_sample() {
  Executable e = sample();
  e.tensors[0].region = Region::kExternal0;
  e.tensors[2].region = Region::kExternal1;
  e.tensors[2].offset = 0;
  e.steps[0].outputs = {2};
  e.externals = {{0, 32, false, 64, ExternalMemory::kSram},
                 {2, 32, true, 128, ExternalMemory::kDram}};
  return e;
}

/// What computes "in" from "in" on the CPU, as program 0 of the sample says it does.
Executable fallback_for_sample() {
  Executable f;
  f.model_name = "sample, program 0";
  f.numerics = Numerics::kFp32;
  f.tensors = {sample().tensors[0], sample().tensors[0]};
  f.tensors[1].offset = 32;
  f.inputs = {0}, f.outputs = {1};
  f.ops.resize(1);
  Step step;
  step.inputs = {0}, step.outputs = {1};
  f.steps = {step};
  f.fast_arena_bytes = 64;
  return f;
}
Executable fallback_sample(const Executable& fallback) {
  Executable e = sample();
  e.fallbacks = {write_executable(fallback)};
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
  expect([](Executable& e) { e.tensors[0].desc.dtype = static_cast<DType>(kDTypeCount); },
         "unknown element type");
  expect([](Executable& e) { e.tensors[0].region = static_cast<Region>(8); }, "unknown region");
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

TEST_CASE("external regions come back, with their memory") {
  const auto read = read_executable(write_executable(external_sample()), "x");
  REQUIRE(read.ok());
  REQUIRE(read->externals.size() == 2);
  CHECK(read->externals[1].tensor == 2);
  CHECK(read->externals[1].written);
  CHECK(read->externals[1].align == 128);
  CHECK(read->region_bytes(Region::kExternal1) == 32);
  CHECK(read->region_bytes(Region::kExternal2) == 0);
  CHECK(!read->region_written(Region::kExternal0));
  CHECK(read->region_written(Region::kExternal1));
  CHECK(!read->region_written(Region::kExternal2));
  CHECK(read->region_in_sram(Region::kExternal0));
  CHECK(!read->region_in_sram(Region::kExternal1));
  CHECK(read->region_in_sram(Region::kFastArena));
}

TEST_CASE("wrong external regions are refused in words") {
  const auto expect = [](auto&& change, const std::string& words) {
    Executable e = external_sample();
    change(e);
    CHECK_THAT(read_problem(e), Catch::Contains(words) && Catch::Contains("x.dpx"));
  };
  expect([](Executable& e) { e.externals.pop_back(); },
         "tensor 2: it lies in external region 1 of 1");
  expect(
      [](Executable& e) {
        e.tensors[3].placement = Placement::kRegion, e.tensors[3].region = Region::kExternal4;
      },
      "tensor 3: it lies in external region 4 of 2");
  expect([](Executable& e) { e.externals.resize(6); }, "6 external regions, the limit is 5");
  expect([](Executable& e) { e.externals[1].tensor = 4; }, "external region 1: tensor 4 of 4");
  expect([](Executable& e) { std::swap(e.externals[0], e.externals[1]); },
         "external region 0: tensor 2 does not lie at its start");
  expect([](Executable& e) { e.externals[0].bytes = 64; }, "64 bytes for a tensor of 32");
  expect([](Executable& e) { e.externals[0].bytes = 31; }, "leave their region of 31 bytes");
  expect([](Executable& e) { e.tensors[0].offset = 32, e.externals[0].bytes = 64; },
         "does not lie at its start");
  for (const std::uint32_t align : {0u, 48u, 8192u, 2u})
    expect([&](Executable& e) { e.externals[1].align = align; },
           "an alignment of " + std::to_string(align) + " bytes");
  expect([](Executable& e) { e.externals[1].memory = static_cast<ExternalMemory>(2); },
         "unknown memory");
  expect([](Executable& e) { e.externals[0].written = true; }, "an input that is written");
  expect([](Executable& e) { e.externals[1].written = false; }, "an output that is not written");
  expect([](Executable& e) { e.inputs = {}; }, "must be a graph input or else a graph output");
  expect([](Executable& e) { e.outputs = {2, 0}; }, "must be a graph input or else a graph output");
  expect([](Executable& e) { e.steps[0].outputs = {0}; },
         "lies in the external region of an input");
  const auto inside = [](Executable& e) {  // an alias of the input
    e.tensors[3] = e.tensors[0];
    e.tensors[3].desc.name = "alias";
  };
  Executable alias = external_sample();
  inside(alias), alias.steps[1].inputs = {3, kNoTensor, 1};
  CHECK(read_problem(alias).empty());
  expect([&](Executable& e) { inside(e), e.outputs.push_back(3); },
         "graph output: tensor 3 lies in the external region of tensor 0");
  expect([&](Executable& e) { inside(e), e.inputs.push_back(3); },
         "graph input: tensor 3 lies in the external region of tensor 0");
  expect([&](Executable& e) { inside(e), e.steps[1].outputs = {3}; },
         "lies in the external region of an input");
}

TEST_CASE("a fallback for every program comes back") {
  const Executable e = fallback_sample(fallback_for_sample());
  const auto read = read_executable(write_executable(e), "x");
  REQUIRE(read.ok());
  CHECK(read->fallbacks == e.fallbacks);
  CHECK(write_executable(*read) == write_executable(e));
}

TEST_CASE("wrong fallbacks are refused in words") {
  const auto refused = [](const Executable& e, const std::string& words) {
    CHECK_THAT(read_problem(e), Catch::Contains(words) && Catch::Contains("x.dpx"));
  };
  const auto expect = [&](auto&& change, const std::string& words) {
    Executable inner = fallback_for_sample();
    change(inner);
    refused(fallback_sample(inner), words);
  };
  expect(
      [](Executable& f) {
        f.inputs = {0, 0};
      },
      "fallback 0: it has 2 inputs, the program's step 1");
  expect([](Executable& f) { f.outputs = {}; },
         "fallback 0: it has 0 outputs, the program's step 1");
  expect([](Executable& f) { f.tensors[0].desc.name = "other"; },
         "its input 0 is not the step's 'in'");
  expect([](Executable& f) { f.tensors[1].desc.quant = {}; },
         "its output 0 is not the step's 'in'");
  expect([](Executable& f) { f.tensors[1].desc.dtype = DType::kUint8; },
         "its output 0 is not the step's 'in'");
  expect(
      [](Executable& f) {
        f.tensors[0].desc.shape = {32};
        f.tensors[0].desc.quant = {};
      },
      "its input 0 is not");
  expect([](Executable& f) { f.numerics = Numerics::kSingle; }, "it has another rounding mode");
  expect([](Executable& f) { f.programs.resize(1); }, "it needs more than the CPU");
  expect([](Executable& f) { f.steps[0].outputs = {7}; },
         "fallback 0: not a valid executable: step 0");
  expect(
      [](Executable& f) {
        f.tensors[1].region = Region::kExternal0, f.tensors[1].offset = 0;
        f.externals = {{1, 32, true, 64, ExternalMemory::kDram}};
      },
      "it needs more than the CPU");
  // One in a fallback in a fallback: refused before it is looked at.
  Executable nested = fallback_sample(fallback_for_sample());
  refused(fallback_sample(nested),
          "fallback 0: not a valid executable: a fallback with fallbacks of its own");
  Executable e = fallback_sample(fallback_for_sample());
  e.fallbacks.push_back(e.fallbacks[0]);
  refused(e, "2 fallbacks for 1 programs");
  e.fallbacks = {{}};
  refused(e, "fallback 0: not a valid executable: 0 bytes are shorter");
  e.fallbacks = {std::vector<std::uint8_t>(5000, 0xFF)};
  refused(e, "does not begin with DPTYEXE");
  auto cut = write_executable(fallback_for_sample());
  cut.pop_back();
  e.fallbacks = {cut};
  refused(e, "the content hash");
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
  Executable sound = external_sample();
  Executable fallback = fallback_for_sample();
  fallback.outputs = sound.steps[0].outputs = {};
  sound.fallbacks = {write_executable(fallback)};
  REQUIRE(read_problem(sound).empty());
  const auto good = write_executable(sound);
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

TEST_CASE("hostile fallbacks with right hashes are read or refused, never crashed on") {
  const auto good = write_executable(fallback_for_sample());
  std::mt19937 random(4);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    auto bytes = good;
    for (int flips = 1 + static_cast<int>(random() % 3); flips > 0; --flips)
      bytes[24 + random() % (bytes.size() - 24)] ^= static_cast<std::uint8_t>(1u << (random() % 8));
    const std::uint64_t hash = content_hash(bytes);
    for (int b = 0; b < 8; ++b) bytes[16 + b] = static_cast<std::uint8_t>(hash >> (8 * b));
    Executable e = sample();
    e.fallbacks = {bytes};
    const auto file = write_executable(e);
    const auto result = read_executable(file, "x");
    refused += !result.ok();
    if (result.ok()) CHECK(write_executable(*result) == file);
  }
  CHECK(refused > 500);
  CHECK(refused < 2000);
}
