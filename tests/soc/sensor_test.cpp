// The sensor on a whole board, through its driver. Frame times are worked out by hand from link
// rate and period.
#include "soc/sensor.h"

#include <catch2/catch.hpp>
#include <cstring>

#include "arch/memory_map.h"
#include "host_runtime/hal/sensor_driver.h"
#include "soc/platform.h"

namespace deputy::soc_test {
namespace {

using host_runtime::IntcDriver;
using host_runtime::SensorDriver;
using host_runtime::SensorSetup;

constexpr std::uint32_t kBytes = 1000, kStride = 1024, kCount = 4;
constexpr std::uint64_t kUs = 1'000'000;

// 10 MB/s: a frame of 1000 bytes comes in within 100 us.
soc::RunRecord on_board(
    const soc::GivenFrames& scene,
    const std::function<void(HwPort&, SensorDriver&, SensorSetup, std::uint8_t*)>& body) {
  soc::SocConfig config;
  config.sensor.mb_per_s = 10;
  soc::PlatformOptions options;
  options.sensor_frames = scene;
  soc::Platform platform(config, options);
  auto record = platform.run([&](HwPort& port) -> base::Status {
    IntcDriver intc(port);
    SensorDriver sensor(port, intc);
    DEPUTY_ASSIGN(const SharedMemory memory, port.alloc(MemoryKind::kSram, kCount * kStride, 64));
    SensorSetup setup;
    setup.base = memory.address, setup.count = kCount, setup.stride = kStride,
    setup.frame_bytes = kBytes;
    body(port, sensor, setup, memory.host);
    sensor.stop();
    return {};
  });
  REQUIRE(record.ok());
  CHECK(record->imbalances == std::vector<std::string>{});
  return *record;
}

std::vector<std::uint8_t> frame(std::uint8_t first) {
  std::vector<std::uint8_t> out(kBytes);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::uint8_t>(first + i * 7);
  return out;
}

}  // namespace

TEST_CASE(
    "a sensor writes its frames round the ring at its rate, and drops those without a buffer") {
  const soc::GivenFrames scene = {frame(1), frame(2), frame(3), frame(4),
                                  frame(5), frame(6), frame(7)};
  const soc::RunRecord record = on_board(scene, [&](HwPort& port, SensorDriver& sensor,
                                                    SensorSetup setup, std::uint8_t* memory) {
    setup.period_ns = 200'000;
    REQUIRE(sensor.start(setup).ok());
    const std::uint64_t start = port.now_ps();
    port.sleep_until(start +
                     1150 * kUs);  // begins at 0, 200, ... 1000 us: four are written, two dropped
    CHECK(sensor.head() == 4);
    CHECK(sensor.dropped() == 2);
    for (std::uint32_t i = 0; i < kCount; ++i)
      CHECK(std::memcmp(memory + i * kStride, scene[i].data(), kBytes) == 0);
    CHECK(memory[kBytes] == 0);  // nothing beyond the frame
    sensor.release(2);
    port.sleep_until(start + 1350 * kUs);  // the scene went on: frame 4 of the ring is its seventh
    CHECK(sensor.head() == 5);
    CHECK(std::memcmp(memory, scene[6].data(), kBytes) == 0);
    CHECK(std::memcmp(memory + kStride, scene[1].data(), kBytes) == 0);
  });
  CHECK(record.counters.at("sensor.frames") == 5);
  CHECK(record.counters.at("sensor.dropped") == 2);
  CHECK(record.initiator_traffic.at("sensor").at("sram").write_bytes == 5 * kBytes);
  REQUIRE(record.sensor_ready_ps.size() == 5);
  for (std::size_t i = 1; i < 4; ++i)
    CHECK(record.sensor_ready_ps[i] - record.sensor_ready_ps[i - 1] == 200 * kUs);
  CHECK(record.sensor_ready_ps[4] - record.sensor_ready_ps[0] == 1200 * kUs);
}

TEST_CASE(
    "a sensor whose frames take longer than its period loses those that begin meanwhile, and "
    "counts them") {
  const soc::RunRecord record =
      on_board({frame(1), frame(2), frame(3), frame(4)},
               [&](HwPort& port, SensorDriver& sensor, SensorSetup setup, std::uint8_t* memory) {
                 setup.period_ns = 40'000;  // a frame takes 100 us: the first goes on when two
                                            // others should begin, and so does the fourth
                 REQUIRE(sensor.start(setup).ok());
                 const std::uint64_t start = port.now_ps();
                 port.sleep_until(start + 235 * kUs);
                 CHECK(sensor.head() == 2);
                 CHECK(sensor.missed() == 4);
                 CHECK(sensor.dropped() == 0);
                 CHECK(std::memcmp(memory + kStride, frame(4).data(), kBytes) == 0);
               });
  CHECK(record.counters.at("sensor.missed") == 4);
}

TEST_CASE("a sensor interrupts at its watermark, and at a dropped frame") {
  on_board({}, [&](HwPort& port, SensorDriver& sensor, SensorSetup setup, std::uint8_t*) {
    setup.period_ns = 200'000, setup.watermark = 3;
    REQUIRE(sensor.start(setup).ok());
    sensor.enable_interrupts(arch::kSensorWatermark | arch::kSensorDropped);
    const std::uint64_t start = port.now_ps();
    const auto line = static_cast<std::uint32_t>(arch::IrqLine::kSensor);
    REQUIRE(port.wait_irq(line, start + 2000 * kUs));
    CHECK(sensor.head() == 3);
    CHECK(port.now_ps() - start > 490 * kUs);  // the third frame is in at 500 us
    CHECK(port.now_ps() - start < 520 * kUs);
    CHECK(sensor.take_interrupts() == arch::kSensorWatermark);
    sensor.release(3);
    REQUIRE(port.wait_irq(line, start + 2000 * kUs));
    CHECK(sensor.head() == 6);
    CHECK(sensor.take_interrupts() == arch::kSensorWatermark);
    port.sleep_until(start + 1450 * kUs);  // full with frame 6 at 1300; the next is dropped at 1400
    CHECK(sensor.take_interrupts() == (arch::kSensorWatermark | arch::kSensorDropped));
    CHECK(sensor.dropped() == 1);
  });
}

TEST_CASE(
    "a sensor without a period waits for a buffer and drops nothing; offset binary flips the "
    "sign") {
  const soc::GivenFrames scene = {frame(9), frame(77)};
  on_board(scene, [&](HwPort& port, SensorDriver& sensor, SensorSetup setup, std::uint8_t* memory) {
    setup.twos_complement = false;
    REQUIRE(sensor.start(setup).ok());
    const std::uint64_t start = port.now_ps();
    port.sleep_until(start + 350 * kUs);  // one every 100 us
    CHECK(sensor.head() == 3);
    port.sleep_until(start + 2000 * kUs);
    CHECK(sensor.head() == kCount);
    for (std::uint32_t i = 0; i < kBytes; ++i) REQUIRE(memory[kStride + i] == (scene[1][i] ^ 0x80));
    sensor.release(1);
    port.sleep_until(start + 2110 * kUs);
    CHECK(sensor.head() == kCount + 1);
    CHECK(sensor.dropped() == 0);
  });
}

TEST_CASE("a sensor stops at a bus error and says where; its driver refuses rings that cannot be") {
  on_board({}, [&](HwPort& port, SensorDriver& sensor, SensorSetup setup, std::uint8_t*) {
    SensorSetup bad = setup;
    bad.stride = 512;
    CHECK(sensor.start(bad).error().kind == base::ErrorKind::kUsage);
    bad = setup, bad.count = 0;
    CHECK(sensor.start(bad).error().kind == base::ErrorKind::kUsage);
    bad = setup, bad.base += 4;
    CHECK(sensor.start(bad).error().kind == base::ErrorKind::kUsage);
    setup.base = 0x70000000;  // nothing is there
    REQUIRE(sensor.start(setup).ok());
    sensor.enable_interrupts(arch::kSensorFailed);
    REQUIRE(port.wait_irq(static_cast<std::uint32_t>(arch::IrqLine::kSensor),
                          port.now_ps() + 1000 * kUs));
    CHECK(sensor.take_interrupts() == arch::kSensorFailed);
    CHECK(sensor.error_address() == 0x70000000);
    CHECK(sensor.head() == 0);
  });
}

}  // namespace deputy::soc_test
