// The IOMMU's driver over the TLM port: what it maps, engines reach; what it takes away, they do
// not.
#include "host_runtime/hal/iommu_driver.h"

#include <catch2/catch.hpp>
#include <cstring>

#include "soc/platform.h"
#include "tests/soc/queue_host.h"
#include "tests/support/source_dir.h"

namespace deputy::soc_test {
namespace {
constexpr std::uint64_t kPage = arch::kPageBytes;
}

TEST_CASE("a context opened by the driver reaches what it maps, until it is unmapped or closed") {
  auto config = soc::load_soc_config(tests::source_dir() + "/configs/soc/wearable.yaml", {});
  REQUIRE(config.ok());
  soc::Platform platform(*config, {});
  const auto record = platform.run([&](HwPort& port) -> base::Status {
    Host h(port);
    host_runtime::IntcDriver intc(port);
    host_runtime::IommuDriver iommu(port, intc);
    DEPUTY_TRY(iommu.probe());
    DEPUTY_TRY(iommu.open(5));
    const std::uint64_t base = h.dram.address;
    DEPUTY_TRY(iommu.map(5, base, base, 8 * kPage, false));
    DEPUTY_TRY(iommu.map(5, base + 0x10000, base + 0x30000, 2 * kPage,
                         true));  // elsewhere, not the identity
    DEPUTY_TRY(iommu.map(5, base + 0x80000, base + 0x80000, 2 * kPage, false));
    std::uint64_t value = 0;
    const auto copy = [&](int engine, std::uint8_t byte) {
      std::memset(h.dram.host, byte, kBytes);
      port.clean(base, kBytes);
      arch::QueueEntry job =
          engine == Host::kDma ? h.copy(0x80000, 0, 0x10000) : h.npu_copy(0x81000, 0, 0x10000);
      job.signal[0] = point(0, ++value), job.fail_fast = 1;
      h.submit(engine, 0, job);
      const bool came = h.wait(0, value);
      REQUIRE(came);
      const bool ok = h.failure(0) == SyncFailure::kNone;
      if (!ok) port.write32(arch::kSyncBase + sync::kClear, 1), value = 0;
      port.invalidate(base, h.dram.bytes);
      return ok && h.dram.host[0x30000] == byte && h.dram.host[0x30000 + kBytes - 1] == byte;
    };
    for (const int engine : {Host::kNpu, Host::kDma}) h.enable(engine, 0, 0, 5);
    CHECK(copy(Host::kDma, 1));
    CHECK(copy(Host::kNpu, 2));
    CHECK(h.dram.host[0x10000] == 0);
    CHECK_FALSE(iommu.take_fault().has_value());

    DEPUTY_TRY(iommu.unmap(5, base + 0x10000, kPage));
    CHECK_FALSE(copy(Host::kDma, 3));
    CHECK(h.dram.host[0x30000] == 2);
    CHECK(port.wait_irq(static_cast<std::uint32_t>(arch::IrqLine::kIommu), port.now_ps()));
    const auto fault = iommu.take_fault();
    REQUIRE(fault.has_value());
    CHECK(fault->address == base + 0x10000);
    CHECK(fault->initiator == arch::IommuInitiator::kDmaWrite);
    CHECK(fault->context == 5);
    CHECK(fault->write);
    CHECK_FALSE(port.wait_irq(static_cast<std::uint32_t>(arch::IrqLine::kIommu), port.now_ps()));

    DEPUTY_TRY(iommu.map(5, base + 0x10000, base + 0x30000, kPage, true));
    CHECK(copy(Host::kNpu, 4));
    iommu.close(5);
    CHECK_FALSE(copy(Host::kNpu, 5));
    const auto closed = iommu.take_fault();
    REQUIRE(closed.has_value());
    CHECK(closed->initiator == arch::IommuInitiator::kNpuCommand);
    CHECK(h.dram.host[0x30000] == 4);
    return {};
  });
  if (!record.ok()) FAIL(record.error().text());
  CHECK(record->imbalances == std::vector<std::string>{});
  CHECK(record->counters.at("iommu.faults") == 2);
}

}  // namespace deputy::soc_test
