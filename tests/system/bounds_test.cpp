// Bounds: what the report says an operator could have taken.
#include "tools/bounds.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/system/deputy_process.h"
#include "workloads/networks.h"

using namespace deputy;
using namespace deputy::test;

TEST_CASE("bounds come from bytes and rates") {
  soc::SocConfig soc;
  soc.npu.clock_mhz = 500, soc.noc.clock_mhz = 500, soc.noc.width_bytes = 8,
  soc.sram.width_bytes = 4;
  soc.dram.model = "fixed", soc.dram.fixed_mb_per_s = 500;
  const tools::MemoryRates rates = tools::memory_rates(soc);
  CHECK(rates.sram == 4);  // the SRAM is narrower than the interconnect
  CHECK(rates.dram == 1);
  CHECK(rates.decoder == 8);
  soc.dram.model = "simple";  // 16 bits at 3200 MT/s: 6.4 GB/s, more than the interconnect's 4
  CHECK(tools::memory_rates(soc).dram == 8);

  soc::NpuOpRecord record;
  record.unit_cycles = 100, record.spm_cycles = 20;
  record.load_bytes = 1000, record.store_bytes = 200, record.dram_load_bytes = 90;
  record.decoded_bytes = 1600;
  const tools::Bounds b = tools::bounds_of(record, rates);
  CHECK(b.compute == 100);
  CHECK(b.scratchpad == 20);
  CHECK(b.dram == 90);
  CHECK(b.decoder == 200);
  CHECK(b.sram == 277.5);
  CHECK(b.cycles() == 277.5);
  CHECK(b.name() == "SRAM");
  CHECK(tools::Bounds().name() == "none");
  record.decoded_bytes = 4000;
  CHECK(tools::bounds_of(record, rates).cycles() == 500);
  CHECK(tools::bounds_of(record, rates).name() == "decoder");
}

TEST_CASE("operators share the NPU's time, and no network beats its bound") {
  TempFolder t;
  for (const auto& info : workloads::networks()) {
    INFO(info.name);
    REQUIRE(run_deputy({"network", info.name, "-o", t.file("m.tflite")}).exit_code == 0);
    REQUIRE(run_deputy({"run", t.file("m.tflite"), "--timing-only", "--quiet", "--engine", "npu",
                        "--report", t.file("r.json")})
                .exit_code == 0);
    const auto report = nlohmann::json::parse(read_text(t.file("r.json")));
    double shares = 0, largest = 0;
    for (const auto& op : report["ops"]) {
      if (op["engine"] != "npu") continue;
      shares += op["own_cycles"].get<double>();
      if (op.contains("bound_cycles"))
        largest = std::max(largest, op["bound_cycles"]["largest"].get<double>());
    }
    CHECK(shares == Approx(report["cycles"]["npu_busy"].get<double>())
                        .margin(0.51 * static_cast<double>(report["ops"].size())));
    CHECK(report["bound_ratio"].get<double>() >= 1);
    CHECK(report["bound_cycles"]["largest"].get<double>() >= largest);
  }
}
