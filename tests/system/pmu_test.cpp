// The NPU's performance counters, read by its driver through the register port: equal to the
// report's statistics.
#include <catch2/catch.hpp>

#include "arch/registers.h"
#include "host_runtime/hal/npu_driver.h"
#include "tests/system/deputy_process.h"
#include "tools/simulate.h"

using namespace deputy;

TEST_CASE("the driver's performance counters are the report's statistics") {
  auto graph = tools::load_model(test::project_file("workloads/ecg/ecg_beats.tflite"));
  REQUIRE(graph.ok());
  tools::SimulateOptions options;
  auto soc = soc::load_soc_config(test::project_file("configs/soc/wearable.yaml"), {});
  REQUIRE(soc.ok());
  options.soc = *soc;
  auto executable = delegate::compile(*graph, tools::compile_options(options));
  REQUIRE(executable.ok());
  const auto file = arch::write_executable(*executable);
  const auto events = arch::pmu_events();
  std::vector<std::uint64_t> counted(events.size());
  soc::Platform platform(options.soc, {.timing_only = true, .seed = 1});
  std::uint64_t runs = 0;
  auto record = platform.run([&](HwPort& port) -> base::Status {
    host_runtime::Device device(port, {});
    auto session = host_runtime::Session::load(device, file, "model");
    if (!session.ok()) return session.error();
    host_runtime::NpuDriver driver(port);
    for (std::size_t first = 0; first < events.size(); first += arch::kPmuCounters, ++runs) {
      for (std::uint32_t n = 0; n < arch::kPmuCounters && first + n < events.size(); ++n)
        driver.count(n, events[first + n].event);
      if (auto status = (*session)->run({}); !status.ok()) return status;
      for (std::uint32_t n = 0; n < arch::kPmuCounters && first + n < events.size(); ++n)
        counted[first + n] = driver.counted(n);
    }
    return {};
  });
  REQUIRE(record.ok());
  // Each event is counted in one inference; the report's statistics are of all of them. Bytes and
  // instructions repeat; times depend on where refreshes fall, so they are compared with the jobs
  // of their inference.
  REQUIRE(runs > 0);
  REQUIRE(record->npu_jobs.size() % runs == 0);
  const std::size_t jobs = record->npu_jobs.size() / runs;
  const auto sum = [&](arch::PmuEvent event, auto&& of) {
    const auto index = static_cast<std::size_t>(event), run = index / arch::kPmuCounters;
    std::uint64_t total = 0;
    for (std::size_t j = run * jobs; j < (run + 1) * jobs; ++j) total += of(record->npu_jobs[j]);
    INFO(events[index].name);
    CHECK(counted[index] == total);
  };
  using Job = npu_model::NpuJobRecord;
  using enum arch::PmuEvent;
  sum(kCycles, [](const Job& j) { return j.cycles; });
  sum(kInstructions, [](const Job& j) { return j.instructions; });
  sum(kMacActive, [](const Job& j) { return j.mac_active_cycles; });
  sum(kComputeActive, [](const Job& j) { return j.compute_active_cycles; });
  sum(kLoadActive, [](const Job& j) { return j.load_active_cycles; });
  sum(kStoreActive, [](const Job& j) { return j.store_active_cycles; });
  sum(kStallLoad, [](const Job& j) { return j.stall_load_cycles; });
  sum(kStallStore, [](const Job& j) { return j.stall_store_cycles; });
  sum(kIdle, [](const Job& j) {
    return j.cycles - j.compute_active_cycles - j.stall_load_cycles - j.stall_store_cycles;
  });
  sum(kCommandBytes, [](const Job& j) { return j.command_bytes; });
  // The books hold operators' bytes to the ports' (soc/books.cpp), the ports' are counted here.
  const auto& ports = record->initiator_traffic;
  std::uint64_t read = 0, written = 0;
  for (const auto& [target, count] : ports.at("npu.load")) read += count.read_bytes;
  for (const auto& [target, count] : ports.at("npu.store")) written += count.write_bytes;
  CHECK(counted[static_cast<std::size_t>(kBytesRead)] * runs == read);
  CHECK(counted[static_cast<std::size_t>(kBytesWritten)] * runs == written);
  CHECK(read > 0);
  CHECK(record->counters.at("npu.stall_load_cycles") > 0);
}

TEST_CASE("stalls of an NPU whose clock is divided in the middle of a job fit into the job") {
  auto graph = tools::load_model(test::project_file("workloads/ecg/ecg_beats.tflite"));
  REQUIRE(graph.ok());
  tools::SimulateOptions options;
  auto soc = soc::load_soc_config(test::project_file("configs/soc/wearable.yaml"), {});
  REQUIRE(soc.ok());
  options.soc = *soc, options.timing_only = true;
  options.engine = delegate::EnginePolicy::kNpu;
  sim::Fault f;
  f.kind = "throttle", f.target = "npu", f.at_ns = 40'000, f.duration_ns = 1'000'000'000,
  f.factor = 16;
  options.faults = {{f}};
  const auto s = tools::simulate(*graph, options, {});
  REQUIRE(s.ok());
  REQUIRE(s->soc.faults[0].fired == 1);
  std::uint64_t stalls = 0;
  for (const auto& job : s->soc.npu_jobs) {
    stalls += job.stall_load_cycles + job.stall_store_cycles;
    CHECK(job.compute_active_cycles + job.stall_load_cycles + job.stall_store_cycles <=
          job.cycles + 2);
  }
  CHECK(stalls > 0);
}
