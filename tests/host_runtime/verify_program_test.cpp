// The command-stream verifier: what it lets through, what it refuses, and what it says a stream
// touches.
#include "host_runtime/runtime/verify_program.h"

#include <catch2/catch.hpp>
#include <random>

#include "arch/progress_bound.h"

using namespace deputy;
using namespace deputy::host_runtime;

namespace {

ProgramLimits limits() {
  ProgramLimits l;
  l.target.spm.bytes = 4096;
  l.region_bytes = {1000, 2000, 0, 0, 0, 0, 0, 0};
  l.writable[1] = l.writable[2] = true;
  l.op_count = 2;
  return l;
}

template <class T>
T transfer(int region, std::uint64_t offset, std::uint32_t row_bytes, std::uint32_t spm_addr = 0) {
  T t;
  t.region = static_cast<std::uint8_t>(region);
  t.mem_offset = offset;
  t.row_bytes = row_bytes;
  t.spm_addr = spm_addr;
  return t;
}

struct Stream {
  std::vector<std::uint32_t> words;
  Stream& add(arch::Operation op, std::uint32_t wait_load = 0, std::uint16_t tag = 0) {
    arch::Instruction i;
    i.header.wait_load = wait_load;
    i.header.tag = tag;
    i.op = op;
    arch::encode(i, words);
    return *this;
  }
  std::string problem() const {
    const auto result = verify_program(words, limits(), "m.dpx, program 0");
    return result.ok() ? "" : result.error().text();
  }
};

}  // namespace

TEST_CASE("a sound stream passes with its footprint") {
  arch::Store tile = transfer<arch::Store>(1, 100, 10);
  tile.rows = 3, tile.planes = 2;
  tile.mem_row_stride = 20, tile.mem_plane_stride = 200;
  tile.spm_row_stride = 10, tile.spm_plane_stride = 30;
  Stream s;
  s.add(transfer<arch::Load>(1, 50, 30))
      .add(transfer<arch::Load>(1, 0, 60))
      .add(transfer<arch::Load>(0, 999, 1));
  s.add(arch::Fill{}, 3).add(tile).add(arch::End{}, 3);
  const auto result = verify_program(s.words, limits(), "p");
  REQUIRE(result.ok());
  CHECK(result->reads == std::vector<RegionRange>{{0, 999, 1000}, {1, 0, 80}});  // merged
  CHECK(result->writes == std::vector<RegionRange>{{1, 100, 350}});  // 100 + 200 + 40 + 10
  // Six instructions, 91 + 60 bytes, nine rows (1 + 1 + 1 + 6), one compute of some cycles at 200
  // MHz.
  const std::uint64_t known = 6 * 1000 + 4 * (91 + 60) + 256 * 9;
  CHECK(result->budget_ps >= 100'000'000'000 + 16 * known * 5000);
  CHECK(result->budget_ps < 100'000'000'000 + 16 * (known + 1000) * 5000);
}

TEST_CASE("unsound streams are refused in words") {
  CHECK_THAT(
      Stream().problem(),
      Catch::Contains("m.dpx, program 0: command stream, offset 0x0: the stream ends without END"));
  CHECK_THAT(Stream().add(arch::Fill{}).problem(), Catch::Contains("ends without END"));
  CHECK_THAT(Stream().add(arch::End{}).add(arch::End{}).problem(),
             Catch::Contains("instructions follow END"));
  CHECK_THAT(Stream().add(transfer<arch::Load>(1, 0, 4), 1).problem(),
             Catch::Contains("LOAD: waits for an instruction"));
  CHECK_THAT(Stream().add(arch::Fill{}, 0, 2).problem(), Catch::Contains("tag 2 of 2 operators"));
  CHECK_THAT(Stream().add(transfer<arch::Load>(1, 1999, 2)).problem(),
             Catch::Contains("bytes 1999 to 2001 leave region 1 of 2000 bytes"));
  CHECK_THAT(Stream().add(transfer<arch::Load>(2, 0, 1)).problem(),
             Catch::Contains("region 2 is not bound"));
  CHECK_THAT(Stream().add(transfer<arch::Store>(0, 0, 1)).problem(),
             Catch::Contains("region 0, which is constant"));
  CHECK_THAT(Stream().add(transfer<arch::Load>(1, 0, 2, 4095)).problem(),
             Catch::Contains("touches the scratchpad up to byte 4097, it has 4096"));
  CHECK_THAT(Stream()
                 .add(arch::LoadWeights{.mem_offset = 1990, .stream_bytes = 11, .region = 1})
                 .problem(),
             Catch::Contains("LOADW: bytes 1990 to 2001 leave region 1 of 2000 bytes"));
  CHECK_THAT(Stream().add(arch::LoadWeights{.region = 2}).problem(),
             Catch::Contains("region 2 is not bound"));
  CHECK_THAT(Stream().add(arch::LoadWeights{.spm_addr = 4000, .bytes = 97}).problem(),
             Catch::Contains("touches the scratchpad up to byte 4097, it has 4096"));
  CHECK_THAT(Stream().add(arch::LoadWeights{.table_addr = 3952}).problem(),
             Catch::Contains("touches the scratchpad up to byte 4097, it has 4096"));
  CHECK(Stream()
            .add(arch::LoadWeights{.fixed_code = 1, .table_addr = 3952})
            .add(arch::End{})
            .problem()
            .empty());
  arch::Load far = transfer<arch::Load>(1, 0, 1);
  far.rows = far.planes = 65535, far.mem_row_stride = far.mem_plane_stride = 0xFFFFFFFF;
  CHECK_THAT(Stream().add(far).problem(), Catch::Contains("leave region 1"));
  far.mem_row_stride = far.mem_plane_stride = 0;
  far.spm_row_stride = far.spm_plane_stride = (1u << 26) - 1;
  CHECK_THAT(Stream().add(far).problem(), Catch::Contains("touches the scratchpad"));
  Stream cut = Stream().add(arch::Fill{}).add(arch::End{});
  cut.words.resize(cut.words.size() - 1);
  CHECK_THAT(cut.problem(), Catch::Contains("ends inside an instruction"));
  Stream unknown = Stream().add(arch::End{});
  unknown.words[0] = unknown.words[0] & ~0xFFu;
  CHECK_THAT(unknown.problem(), Catch::Contains("unknown opcode"));
}

TEST_CASE("the budget of the slowest program is bounded") {
  ProgramLimits slow = limits();
  slow.target.clock_mhz = 1e-6;  // a cycle a second
  Stream s;
  s.add(arch::Fill{}).add(arch::End{});
  CHECK(verify_program(s.words, slow, "p")->budget_ps == 1'000'000'000'000'000);
}

TEST_CASE("a job may be silent for as long as the board's own bound says") {
  Stream s;
  s.add(arch::Fill{}).add(arch::End{});
  for (const std::uint64_t transaction_ps :
       {std::uint64_t{1'000'000}, std::uint64_t{100'000'000}, std::uint64_t{10'000'000'000}})
    for (const std::uint64_t division : {1u, 16u, 1000u}) {
      ProgramLimits with = limits();
      with.transaction_ps = transaction_ps, with.clock_division = division;
      const auto footprint = verify_program(s.words, with, "p");
      REQUIRE(footprint.ok());
      CHECK(footprint->progress_ps >=
            arch::npu_progress_gap_ps(with.target, 0, transaction_ps, division));
      CHECK(footprint->progress_ps >= 1'000'000'000);
    }
}

TEST_CASE("what passes after random changes still stays inside its memory") {
  Stream base;
  base.add(transfer<arch::Load>(1, 50, 30))
      .add(arch::LoadWeights{
          .mem_offset = 40, .stream_bytes = 30, .spm_addr = 100, .bytes = 60, .fixed_code = 1})
      .add(arch::Fill{}, 1)
      .add(transfer<arch::Store>(1, 100, 10))
      .add(arch::End{}, 1);
  std::mt19937 random(7);
  int passed = 0;
  for (int i = 0; i < 5000; ++i) {
    auto words = base.words;
    for (int flips = 1 + static_cast<int>(random() % 3); flips > 0; --flips)
      words[random() % words.size()] ^= 1u << (random() % 32);
    if (random() % 16 == 0) words.resize(random() % words.size());
    const auto result = verify_program(words, limits(), "p");
    if (!result.ok()) continue;
    ++passed;
    for (const auto* ranges : {&result->reads, &result->writes})
      for (const RegionRange& r : *ranges)
        CHECK(r.end <= limits().region_bytes[static_cast<std::size_t>(r.region)]);
    for (const RegionRange& r : result->writes) CHECK(r.region == 1);
  }
  CHECK(passed > 50);
}

TEST_CASE(
    "a LOADW may decode what a STORE has copied from the constants, until something else is "
    "written there") {
  ProgramLimits l = limits();
  const std::vector<std::uint8_t> constants(1000, 0);
  l.contents[0] = constants;
  const auto problem = [&](const Stream& s) {
    const auto result = verify_program(s.words, l, "m.dpx, program 0");
    return result.ok() ? std::string() : result.error().text();
  };
  // A stream of zeros decodes or not; the same must be said of its copy.
  const auto load = [](std::uint32_t region, std::uint64_t at) {
    return arch::LoadWeights{.mem_offset = at,
                             .stream_bytes = 60,
                             .spm_addr = 512,
                             .region = region,
                             .bytes = 8,
                             .fixed_code = 1};
  };
  Stream direct;
  direct.add(load(0, 100)).add(arch::End{});
  const auto copying = [&](std::uint32_t second) {
    Stream s;
    s.add(transfer<arch::Load>(0, 100, 32)).add(transfer<arch::Load>(0, 132, 28, 32));
    s.add(transfer<arch::Store>(1, 700, 32)).add(transfer<arch::Store>(1, 732, second, 32));
    return s;
  };
  Stream copied = copying(28);
  copied.add(load(1, 700)).add(arch::End{});
  const auto after = [](const std::string& text) {
    return text.empty() ? text : text.substr(text.find("LOADW"));
  };
  CHECK(after(problem(copied)) == after(problem(direct)));
  Stream partly = copying(27);
  partly.add(load(1, 700)).add(arch::End{});
  CHECK_THAT(problem(partly), Catch::Contains("not constant"));
  Stream overwritten = copying(28);
  overwritten.add(transfer<arch::Load>(1, 0, 8, 64))
      .add(transfer<arch::Store>(1, 710, 8, 64))
      .add(load(1, 700))
      .add(arch::End{});
  CHECK_THAT(problem(overwritten), Catch::Contains("not constant"));
}
