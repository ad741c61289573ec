// What drivers ask before they trust a device: its ID, its version, its configuration.
#include "arch/sensor_registers.h"
#include "host_runtime/hal/sensor_driver.h"
#include "tests/conformance/models.h"
#include "tests/support/forwarding_port.h"

using namespace deputy;
using namespace deputy::conformance;
using namespace deputy::host_runtime;

namespace {

constexpr std::uint64_t kNobody = 0x7000'0000;

/// One register reads as something else.
class OtherRegister final : public test::ForwardingPort {
 public:
  OtherRegister(HwPort& port, std::uint64_t address, std::uint32_t value)
      : ForwardingPort(port), address_(address), value_(value) {}
  std::uint32_t read32(std::uint64_t address) override {
    const std::uint32_t real = port_.read32(address);
    return address == address_ ? value_ : real;
  }

 private:
  std::uint64_t address_;
  std::uint32_t value_;
};

}  // namespace

CONFORMANCE_CASE("probing: every block answers with its ID and version") {
  board.run({}, [](HwPort& port) -> base::Status {
    const std::pair<std::uint64_t, std::span<const arch::RegisterInfo>> blocks[] = {
        {arch::kNpuBase, arch::npu_registers()},
        {arch::kDmaBase, arch::dma_registers()},
        {arch::kIntcBase, arch::intc_registers()},
        {arch::kNpuQueueBase, arch::queue_registers()},
        {arch::kDmaQueueBase, arch::queue_registers()},
        {arch::kSyncBase, arch::sync_registers()}};
    for (const auto& [base, registers] : blocks) {
      CHECK(port.read32(base) == registers[0].reset);
      port.write32(base, 0);  // read only
      CHECK(port.read32(base) == registers[0].reset);
    }
    CHECK(port.bus_errors() == 0);
    Device device(port, {});
    return device.start();
  });
}

CONFORMANCE_CASE("probing: another ID, another version and nobody are refused by name") {
  board.run({}, [](HwPort& port) -> base::Status {
    const std::pair<std::uint64_t, const char*> blocks[] = {{arch::kNpuBase, "npu"},
                                                            {arch::kIntcBase, "intc"},
                                                            {arch::kSyncBase, "sync"},
                                                            {arch::kNpuQueueBase, "queue"},
                                                            {arch::kDmaQueueBase, "queue"}};
    for (const auto& [base, name] : blocks) {
      const std::uint32_t real = port.read32(base);
      for (const std::uint32_t id : {real ^ 1, real ^ 0x100, std::uint32_t{0}, ~std::uint32_t{0}}) {
        OtherRegister other(port, base, id);
        Device device(other, {});
        const base::Status started = device.start();
        INFO(name << " with ID " << id);
        REQUIRE_FALSE(started.ok());
        CHECK(started.error().kind == base::ErrorKind::kHardwareFault);
        CHECK_THAT(started.error().text(), Catch::Contains(name));
        CHECK_FALSE(device.create_context({}).ok());
      }
    }
    Device device(port, {});  // and none of it has left a trace
    auto session = load(device, model({3, 1}), 1);
    DEPUTY_TRY(session->run(std::vector<Bytes>{ramp(3)}));
    CHECK(*session->read_tensor(2) == Affine{3, 1}(ramp(3)));
    return {};
  });
}

CONFORMANCE_CASE("probing: a program for another NPU is refused with the field that differs") {
  board.run({}, [](HwPort& port) -> base::Status {
    const std::uint64_t config0 = arch::kNpuBase + arch::npu_reg::kConfig0,
                        config1 = arch::kNpuBase + arch::npu_reg::kConfig1;
    const std::tuple<std::uint64_t, std::uint32_t, const char*> changes[] = {
        {config0, port.read32(config0) ^ 0x1F, "oc_lanes"},
        {config1, port.read32(config1) / 2, "spm.bytes"}};
    for (const auto& [address, value, field] : changes) {
      OtherRegister other(port, address, value);
      Device device(other, {});
      const auto session = Session::load(device, model({3, 1}), "m");
      REQUIRE_FALSE(session.ok());
      CHECK_THAT(session.error().text(), Catch::Contains(field));
    }
    return {};
  });
}

CONFORMANCE_CASE("probing: where nobody is, reads give ones, writes nothing, and both count") {
  board.run({}, [](HwPort& port) -> base::Status {
    CHECK(port.read32(kNobody) == 0xFFFFFFFF);
    CHECK(port.bus_errors() == 1);
    port.write32(kNobody, 5);
    CHECK(port.bus_errors() == 2);
    CHECK(port.read32(kNobody) == 0xFFFFFFFF);
    CHECK(port.bus_errors() == 3);
    return {};
  });
}

CONFORMANCE_CASE("probing: the sensor's driver refuses another ID and rings it cannot hold",
                 {Capability::kSensor}) {
  board.run({}, [](HwPort& port) -> base::Status {
    const std::uint32_t real = port.read32(arch::kSensorBase);
    for (const std::uint32_t id : {real ^ 1, ~std::uint32_t{0}}) {
      OtherRegister other(port, arch::kSensorBase, id);
      IntcDriver intc(other);
      CHECK(SensorDriver(other, intc).probe().error().kind == base::ErrorKind::kHardwareFault);
    }
    IntcDriver intc(port);
    SensorDriver sensor(port, intc);
    CHECK(sensor.probe().ok());
    const SensorSetup good{.base = arch::kDramBase, .count = 2, .stride = 256, .frame_bytes = 200};
    const auto refused = [&](auto change) {
      SensorSetup bad = good;
      change(bad);
      const base::Status status = sensor.start(bad);
      return !status.ok() && status.error().kind == base::ErrorKind::kUsage;
    };
    CHECK(refused([](SensorSetup& s) { s.base += 32; }));         // alignment
    CHECK(refused([](SensorSetup& s) { s.stride = 200; }));       // stride of no whole lines
    CHECK(refused([](SensorSetup& s) { s.frame_bytes = 257; }));  // longer than the stride
    CHECK(refused([](SensorSetup& s) { s.frame_bytes = 0; }));
    CHECK(refused([](SensorSetup& s) { s.count = 0; }));
    CHECK(refused([](SensorSetup& s) { s.count = 256; }));
    CHECK(refused([](SensorSetup& s) { s.watermark = 3; }));
    CHECK(sensor.head() == 0);  // nothing has begun
    return {};
  });
}
