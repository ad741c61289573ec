// Frames from the sensor through a network in every way the runtime has. The oracle of the values is the CPU's kernels, run
// without the sensor, the NPU and the frames in flight.
#include <catch2/catch.hpp>

#include "tests/system/deputy_process.h"
#include "tools/cli/common.h"
#include "tools/runtime_bench.h"
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

}  // namespace

TEST_CASE("every way of moving frames computes what the CPU computes, and zero-copy copies nothing") {
  auto graph = workloads::build_network("ds_cnn");
  REQUIRE(graph.ok());
  tools::StreamCase what = stream_case("wearable", *graph);
  what.io = delegate::IoPlacement::kSram, what.period_ns = 1'000'000, what.frames = 12;
  const auto prepared = tools::prepare(what);
  if (!prepared.ok()) FAIL(prepared.error().text());
  REQUIRE(prepared->host_steps == 0);

  tools::SimulateOptions cpu = what.options;
  cpu.engine = delegate::EnginePolicy::kCpu;
  std::vector<std::vector<std::uint8_t>> expected;
  for (const auto& scene : prepared->scene) {
    const auto alone = tools::simulate(*graph, cpu, {scene});
    REQUIRE(alone.ok());
    expected.push_back(alone->outputs[0]);
  }
  CHECK(expected[0] != expected[1]);

  for (const bool async : {false, true})
    for (const Movement movement : {Movement::kCopy, Movement::kMap, Movement::kZeroCopy}) {
      INFO((async ? "async " : "sync ") << tools::movement_name(movement));
      const auto row = tools::run_stream(*prepared, async, movement);
      if (!row.ok()) FAIL(row.error().text());
      REQUIRE(row->outputs.size() == 12);
      for (std::size_t i = 0; i < row->outputs.size(); ++i) CHECK(row->outputs[i] == expected[i % expected.size()]);
      CHECK(row->copied_per_frame == (movement == Movement::kCopy ? 49 * 10 + 12 : 0));
      CHECK(row->dropped == 0);
      CHECK(row->p50_us > 0);
      CHECK(row->p99_us >= row->p50_us);
      if (async && movement == Movement::kZeroCopy) CHECK(row->npu_busy >= 0.95);
    }
}

TEST_CASE("frames in flight overlap preparation on the host with inference, and the timeline says so") {
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
  for (const auto& npu : busy.at("npu")) both += soc::busy_within(busy.at("host"), npu.start_ps, npu.end_ps);
  CHECK(both > 0);  // the host works while the NPU does
  CHECK(s->frames->utilisation.at("npu") > 0.5);
  for (const auto& [engine, share] : s->frames->utilisation) CHECK(share <= 1.0 + 1e-9);
  const std::string text = tools::timeline_text(*s->frames);
  CHECK_THAT(text, Catch::Contains("npu") && Catch::Contains("host") && Catch::Contains("6 frames, 3 in flight"));
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

TEST_CASE("the camera network's outputs are the CPU's", "[.slow]") {
  const tools::StreamCase what = stream_case("imaging", workloads::build_camera_network());
  tools::SimulateOptions cpu = what.options, npu = what.options;
  cpu.engine = delegate::EnginePolicy::kCpu, npu.engine = delegate::EnginePolicy::kNpu, npu.strict = true;
  const auto inputs = tools::load_inputs(what.graph, {}, 1);
  REQUIRE(inputs.ok());
  const auto a = tools::simulate(what.graph, cpu, *inputs), b = tools::simulate(what.graph, npu, *inputs);
  REQUIRE(a.ok());
  REQUIRE(b.ok());
  CHECK(a->outputs == b->outputs);
}
