// Frames from the sensor through a network in every way the runtime has. The oracle of the values
// is the CPU's kernels, run without the sensor, the NPU and the frames in flight.
#include "tools/runtime_bench.h"

#include <catch2/catch.hpp>

#include "tests/system/deputy_process.h"
#include "tools/cli/common.h"
#include "tools/copy_bench.h"
#include "workloads/networks.h"

using namespace deputy;
using tools::Movement;

namespace {

tools::StreamCase stream_case(const char* soc, delegate::Graph graph) {
  tools::CommonOptions common;
  common.soc = test::project_file(std::string("configs/soc/") + soc + ".yaml");
  auto options = tools::simulate_options(common);
  REQUIRE(options.ok());
  tools::StreamCase out;
  out.name = graph.name, out.graph = std::move(graph), out.options = *options;
  return out;
}

/// Streams the case in all six ways, and holds every frame's outputs against the CPU's of the same
/// scene.
void check_every_way(const tools::StreamCase& what, std::uint64_t frame_and_result_bytes) {
  const auto prepared = tools::prepare(what);
  if (!prepared.ok()) FAIL(prepared.error().text());
  REQUIRE(prepared->host_steps == 0);
  tools::SimulateOptions cpu = what.options;
  cpu.engine = delegate::EnginePolicy::kCpu;
  std::vector<std::vector<std::uint8_t>> expected;
  for (const auto& scene : prepared->scene) {
    const auto alone = tools::simulate(what.graph, cpu, {scene});
    REQUIRE(alone.ok());
    expected.push_back(alone->outputs[0]);
  }
  CHECK(expected[0] != expected[1]);

  for (const bool async : {false, true})
    for (const Movement movement : {Movement::kCopy, Movement::kMap, Movement::kZeroCopy}) {
      INFO((async ? "async " : "sync ") << tools::movement_name(movement));
      const auto row = tools::run_stream(*prepared, async, movement);
      if (!row.ok()) FAIL(row.error().text());
      REQUIRE(row->outputs.size() == static_cast<std::size_t>(what.frames));
      for (std::size_t i = 0; i < row->outputs.size(); ++i)
        CHECK(row->outputs[i] == expected[i % expected.size()]);
      CHECK(row->copied_per_frame == (movement == Movement::kCopy ? frame_and_result_bytes : 0));
      CHECK(row->dropped == 0);
      CHECK(row->p50_us > 0);
      CHECK(row->p99_us >= row->p50_us);
      if (async && movement == Movement::kZeroCopy) CHECK(row->npu_busy >= 0.95);
    }
}

}  // namespace

TEST_CASE(
    "every way of moving frames computes what the CPU computes, and zero-copy copies nothing") {
  auto graph = workloads::build_network("ds_cnn");
  REQUIRE(graph.ok());
  tools::StreamCase what = stream_case("wearable", *graph);
  what.io = delegate::IoPlacement::kSram, what.period_ns = 1'000'000, what.frames = 12;
  check_every_way(what, 49 * 10 + 12);
}

TEST_CASE(
    "frames in flight overlap preparation on the host with inference, and the timeline says so") {
  test::TempFolder folder;
  auto graph = workloads::build_network("ds_cnn");
  REQUIRE(graph.ok());
  tools::SimulateOptions options = stream_case("wearable", *graph).options;
  options.timing_only = true, options.frames = 6;
  const auto s = tools::simulate(*graph, options, {std::vector<std::uint8_t>(490)});
  if (!s.ok()) FAIL(s.error().text());
  REQUIRE(s->frames);
  const auto& busy = s->frames->busy;
  double both = 0;
  for (const auto& npu : busy.at("npu"))
    both += soc::busy_within(busy.at("host"), npu.start_ps, npu.end_ps);
  CHECK(both > 0);  // the host works while the NPU does
  CHECK(s->frames->utilisation.at("npu") > 0.5);
  for (const auto& [engine, share] : s->frames->utilisation) CHECK(share <= 1.0 + 1e-9);
  const std::string text = tools::timeline_text(*s->frames);
  CHECK_THAT(text, Catch::Contains("npu") && Catch::Contains("host") &&
                       Catch::Contains("6 frames, 3 in flight"));
}

TEST_CASE("the camera case runs on the NPU alone, and zero-copy saves 30 % of its latency") {
  tools::StreamCase what = stream_case("imaging", workloads::build_camera_network());
  what.options.timing_only = true;  // values: the slow test below
  what.period_ns = 33'333'333, what.frames = 4;
  const auto prepared = tools::prepare(what);
  if (!prepared.ok()) FAIL(prepared.error().text());
  CHECK(prepared->host_steps == 0);
  CHECK(prepared->frame_bytes == 640 * 480 * 3);
  const auto copy = tools::run_stream(*prepared, false, Movement::kCopy);
  const auto zero = tools::run_stream(*prepared, false, Movement::kZeroCopy);
  REQUIRE(copy.ok());
  REQUIRE(zero.ok());
  CHECK(copy->copied_per_frame == 640 * 480 * 3 + 7);
  CHECK(zero->copied_per_frame == 0);
  // TI's guide: 839 to 928 MB/s; the rest of the difference is waking up for the copy.
  CHECK(copy->p50_us - zero->p50_us > 921600 / 928.0);
  CHECK(zero->p50_us < 0.7 * copy->p50_us);
}

TEST_CASE(
    "maintaining and copying a range costs what the host's figures say, and the DMA engine wins "
    "from some size on") {
  const soc::SocConfig soc = stream_case("imaging", workloads::build_camera_network()).options.soc;
  const auto rows = tools::measure_copies(soc, {64, 4096, 65536});
  if (!rows.ok()) FAIL(rows.error().text());
  const double cycle_ps = 1e6 / soc.host.clock_mhz;
  for (const tools::CopyRow& r : *rows) {
    // One call, and a line after the other.
    const double maintained = soc.host.maintenance_call + static_cast<double>(r.bytes) /
                                                              soc.host.cache_line_bytes *
                                                              soc.host.maintenance_line;
    CHECK(static_cast<double>(r.invalidate_ps) / cycle_ps ==
          Approx(maintained).epsilon(1e-3));  // a cycle is whole ps
    CHECK(static_cast<double>(r.clean_ps) / cycle_ps == Approx(maintained).epsilon(1e-3));
    CHECK(static_cast<double>(r.copy_ps) / cycle_ps >=
          0.999 * (2 * maintained + static_cast<double>(r.bytes) * soc.host.copy_byte));
  }
  const auto from = tools::dma_pays_from(soc, 1 << 20);
  REQUIRE(from.ok());
  REQUIRE(*from > 256);
  const auto around = tools::measure_copies(soc, {*from / 2, *from * 2});
  REQUIRE(around.ok());
  CHECK((*around)[0].dma_ps > (*around)[0].copy_ps);
  CHECK((*around)[1].dma_ps < (*around)[1].copy_ps);
}

TEST_CASE("twenty camera frames in every way give the CPU's outputs", "[.slow]") {
  tools::StreamCase what = stream_case("imaging", workloads::build_camera_network());
  what.period_ns = 33'333'333, what.frames = 20;
  check_every_way(what, 640 * 480 * 3 + 7);
}
