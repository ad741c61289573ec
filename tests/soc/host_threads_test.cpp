// Host threads and the core that they share: 200 MHz (5 ns), a switch 600 cycles, an interrupt 30 +
// 600 cycles. Cycles are worked out by hand in each test.
#include "soc/host_threads.h"

#include <catch2/catch.hpp>
#include <random>

#include "arch/memory_map.h"
#include "soc/platform.h"
#include "tests/soc/bench.h"
#include "tests/support/source_dir.h"

namespace deputy::soc_test {
namespace {

constexpr std::uint64_t kSram = arch::kSramBase, kDram = arch::kDramBase, kIntc = arch::kIntcBase;
constexpr std::uint64_t kNoDeadline = ~std::uint64_t{0};
constexpr std::uint64_t kCycle = 5000;

void compute(Board& b, std::uint64_t cycles) { b.port.charge(CpuKernel::kMacInt8, cycles, {}); }
std::uint64_t cycle(Board& b) { return b.port.now_ps() / kCycle; }

Board::Options sliced(std::int32_t microseconds) {
  Board::Options o;
  o.config.host.time_slice_us = microseconds;
  return o;
}

soc::SocConfig wearable() {
  auto config = soc::load_soc_config(tests::source_dir() + "/configs/soc/wearable.yaml", {});
  if (!config.ok()) FAIL(config.error().text());
  return *config;
}

}  // namespace

TEST_CASE("host threads: one core, one after the other, a switch each time") {
  simulate({}, [](Board& b) {
    std::uint64_t began = 0;
    const ThreadId thread = b.port.start_thread([&] {
      began = cycle(b);
      compute(b, 1000);
    });
    CHECK(thread == 1);
    compute(b, 1500);
    CHECK(cycle(b) == 1500);
    b.port.join(thread);
    CHECK(began == 1500 + 600);
    CHECK(cycle(b) == 1500 + 600 + 1000 + 600);
    CHECK(b.port.busy_ps() == b.port.now_ps());
    CHECK(b.port.threads().switches() == 2);
    const ThreadId second = b.port.start_thread([] {});
    CHECK(second == 2);
    b.port.join(second);
    CHECK(cycle(b) == 3700 + 2 * 600);
  });
}

TEST_CASE("host threads: the core changes hands when a slice is used up") {
  simulate(sliced(10), [](Board& b) {  // 2000 cycles
    std::uint64_t ended = 0;
    const ThreadId thread = b.port.start_thread([&] {
      compute(b, 3000);
      ended = cycle(b);
    });
    compute(b, 5000);
    CHECK(ended == 2000 + (600 + 2000) + (600 + 2000) + (600 + 1000));
    CHECK(cycle(b) == ended + 600 + 1000);
    CHECK(b.port.threads().switches() == 4);
    CHECK(b.port.busy_ps() == b.port.now_ps());
    b.port.join(thread);  // it has ended: at once
    CHECK(cycle(b) == ended + 600 + 1000);
  });
}

TEST_CASE("host threads: who has the core longer than a slice makes way for whoever comes") {
  simulate(sliced(10), [](Board& b) {
    std::uint64_t woken = 0;
    b.port.write32(kIntc + arch::intc_reg::kEnable, 1);  // 17 cycles
    const ThreadId waiter = b.port.start_thread([&] {
      CHECK(b.port.wait_irq(0, kNoDeadline));
      woken = cycle(b);
    });
    b.spawn([&] {
      sc_core::wait(10'000 * sc_core::sc_time(5, sc_core::SC_NS));
      b.intc.set_line(0, true);
    });
    // The waiter asked for the core at cycle 17, gets it at 2000 (the first slice counts from the
    // start of the first thread), and waits at 2600; we are back at 3200 and work until the
    // interrupt at 10000 + 17.
    compute(b, 20'000);
    CHECK(woken == 10'017 + 630);
    CHECK(cycle(b) == 17 + 20'000 + 600 + 600 + 630 + 600);
    b.port.join(waiter);
    CHECK(b.port.busy_ps() == b.port.now_ps());
  });
}

TEST_CASE("host threads: waiting does not occupy the core") {
  simulate({}, [](Board& b) {
    b.port.write32(kIntc + arch::intc_reg::kEnable, 0x3);
    std::vector<int> order;
    const ThreadId sleeper = b.port.start_thread([&] {
      b.port.sleep_until(50'000 * kCycle);
      CHECK(cycle(b) == 50'000 + 630);
      order.push_back(2);
      b.port.sleep_until(1);  // long ago
      CHECK(cycle(b) == 50'000 + 630);
    });
    const ThreadId first = b.port.start_thread([&] {
      CHECK(b.port.wait_irq(0, kNoDeadline));
      order.push_back(0);
      b.port.write32(kIntc + arch::intc_reg::kPending, 1);
    });
    const ThreadId second = b.port.start_thread([&] {
      CHECK(b.port.wait_irq(1, kNoDeadline));
      order.push_back(1);
      CHECK_FALSE(b.port.wait_irq(0, b.port.now_ps() + 10 * kCycle));
      order.push_back(10);
    });
    b.spawn([&] {
      sc_core::wait(150, sc_core::SC_US);  // cycle 30000
      b.intc.set_line(0, true);
      sc_core::wait(50, sc_core::SC_US);  // cycle 40000
      b.intc.set_line(1, true);
    });
    b.port.sleep_until(20'000 * kCycle);  // all of them wait: nothing uses the core
    CHECK(cycle(b) == 20'000 + 630);
    for (const ThreadId t : {sleeper, first, second}) b.port.join(t);
    CHECK(order == std::vector<int>{0, 1, 10, 2});
    CHECK(b.port.busy_ps() < b.port.now_ps() / 4);
  });
}

TEST_CASE(
    "host threads: one interrupt wakes all who wait for its line, the first acknowledges it") {
  simulate({}, [](Board& b) {
    b.port.write32(kIntc + arch::intc_reg::kEnable, 1);
    int served = 0;
    std::vector<ThreadId> threads;
    for (int i = 0; i < 3; ++i)
      threads.push_back(b.port.start_thread([&] {
        CHECK(b.port.wait_irq(0, kNoDeadline));
        ++served;
        b.port.write32(kIntc + arch::intc_reg::kPending, 1);
      }));
    b.spawn([&] {
      for (int i = 0; i < 3; ++i) {
        sc_core::wait(1, sc_core::SC_MS);
        CHECK(served == i);
        b.intc.set_line(0, false);
        b.intc.set_line(0, true);
      }
    });
    for (const ThreadId t : threads) b.port.join(t);
    CHECK(served == 3);
  });
}

TEST_CASE("host threads: the lock goes round in the order of asking") {
  simulate(sliced(1), [](Board& b) {
    std::vector<int> order;
    std::vector<ThreadId> threads;
    b.port.lock();  // before there are other threads
    for (int i = 0; i < 4; ++i)
      threads.push_back(b.port.start_thread([&, i] {
        for (int round = 0; round < 3; ++round) {
          b.port.lock();
          order.push_back(i);
          compute(b, 1000);  // held over slices
          order.push_back(i);
          b.port.unlock();
        }
      }));
    compute(b, 10'000);
    CHECK(order.empty());
    b.port.unlock();
    for (const ThreadId t : threads) b.port.join(t);
    REQUIRE(order.size() == 24);
    // No two inside at once, and nobody twice while another one waits.
    for (std::size_t i = 0; i < order.size(); i += 2) CHECK(order[i] == order[i + 1]);
    for (std::size_t i = 0; i < order.size(); i += 8) {
      std::vector<int> round = {order[i], order[i + 2], order[i + 4], order[i + 6]};
      CHECK(round == std::vector<int>{0, 1, 2, 3});
    }
    b.port.lock();
    b.port.unlock();
  });
}

TEST_CASE("host threads: random work adds up, whoever does it") {
  std::mt19937 random(5);
  const auto below = [&](std::uint32_t n) { return random() % n; };
  for (int repeat = 0; repeat < 20; ++repeat) {
    Board::Options o = sliced(static_cast<std::int32_t>(1 + below(30)));
    std::vector<std::vector<std::uint32_t>> work(1 + below(5));
    std::uint64_t bytes = 0, compute_cycles = 0;
    for (auto& list : work)
      for (std::uint32_t i = below(20); i > 0; --i) {
        list.push_back(below(4) == 0 ? 0x8000'0000 | (64 + below(8000)) : below(9000));
        if (list.back() & 0x8000'0000)
          bytes += list.back() & 0x7FFF'FFFF;
        else
          compute_cycles += list.back();
      }
    simulate(o, [&](Board& b) {
      const auto run = [&b](const std::vector<std::uint32_t>& list) {
        for (const std::uint32_t item : list) {
          const MemoryTouch touch{kDram + 1000, item & 0x7FFF'FFFF, true};
          if (item & 0x8000'0000)
            b.port.charge(CpuKernel::kMacInt8, 0, std::span(&touch, 1));
          else
            compute(b, item);
        }
      };
      std::vector<ThreadId> threads;
      for (const auto& list : work) threads.push_back(b.port.start_thread([&] { run(list); }));
      run(work[0]);
      for (const std::uint32_t item : work[0])
        item& 0x8000'0000 ? bytes += item& 0x7FFF'FFFF : compute_cycles += item;
      for (const ThreadId t : threads) b.port.join(t);
      CHECK(b.port.busy_ps() == b.port.now_ps());  // nobody ever waits for anything but the core
      const std::uint64_t switching = sim::to_ps(b.port.threads().switching());
      CHECK(switching == b.port.threads().switches() * 600 * kCycle);
      CHECK(b.port.now_ps() >= switching + compute_cycles * kCycle);
      if (bytes == 0) CHECK(b.port.now_ps() == switching + compute_cycles * kCycle);
      const Books sums = books(b);
      CHECK(sums.initiators == bytes);
      CHECK(sums.memories == bytes);
    });
  }
}

TEST_CASE("host threads: a run with threads is the same again") {
  const auto once = [] {
    soc::Platform platform(wearable(), {});
    std::string log;
    const auto record = platform.run([&](HwPort& port) -> base::Status {
      std::vector<ThreadId> threads;
      for (int i = 0; i < 3; ++i)
        threads.push_back(port.start_thread([&, i] {
          for (int j = 0; j < 20; ++j) {
            const MemoryTouch touch{kSram + 4096u * static_cast<unsigned>(i), 5000, true};
            port.charge(CpuKernel::kElementwise, 1000u * static_cast<unsigned>(i),
                        std::span(&touch, 1));
            port.lock();
            log += std::to_string(i) + "@" + std::to_string(port.now_ps()) + " ";
            port.unlock();
          }
        }));
      for (const ThreadId t : threads) port.join(t);
      return {};
    });
    REQUIRE(record.ok());
    CHECK(record->imbalances.empty());
    CHECK(record->counters.at("host.threads") == 3);
    CHECK(record->counters.at("host.context_switches") > 3);
    return log + std::to_string(record->kernel_events) + "/" + std::to_string(record->end_ps);
  };
  CHECK(once() == once());
}

TEST_CASE("host threads: one that is not joined is the run's error") {
  struct Counted {
    int& alive;
    HwPort& port;
    Counted(int& a, HwPort& p) : alive(a), port(p) { ++alive; }
    ~Counted() {
      port.read32(kIntc);  // destructors may use the port, as drivers' do
      --alive;
    }
  };
  for (const bool runs : {false, true}) {
    int alive = 0;
    {
      soc::Platform platform(wearable(), {});
      const auto record = platform.run([&](HwPort& port) -> base::Status {
        port.start_thread([&] {
          if (!runs) return;
          const Counted counted(alive, port);
          port.wait_irq(3, kNoDeadline);
        });
        port.charge(CpuKernel::kMacInt8, 1'000'000, {});
        return {};
      });
      REQUIRE_FALSE(record.ok());
      CHECK(record.error().kind == base::ErrorKind::kHardwareFault);
      CHECK_THAT(record.error().text(),
                 Catch::Contains("host thread 1 was started and not joined"));
      CHECK((record.error().text().find("has not ended") != std::string::npos) == runs);
    }
    CHECK(alive == 0);
  }
}

TEST_CASE("host threads: when every one waits for ever, the run says who for what") {
  {
    soc::Platform platform(wearable(), {});
    const auto record = platform.run([](HwPort& port) -> base::Status {
      const ThreadId first = port.start_thread([&] { port.wait_irq(5, kNoDeadline); });
      const ThreadId second = port.start_thread([&] {
        port.lock();
        port.join(first);
      });
      port.sleep_until(port.now_ps() + 1'000'000'000);
      port.lock();
      port.join(second);
      return {};
    });
    REQUIRE_FALSE(record.ok());
    const std::string text = record.error().text();
    CHECK_THAT(text,
               Catch::Contains("nothing is left to happen, but the host program has not returned"));
    CHECK_THAT(text, Catch::Contains("thread 0 waits for the lock, which has thread 2"));
    CHECK_THAT(text, Catch::Contains("thread 1 waits for interrupt lines, mask 32"));
    CHECK_THAT(text, Catch::Contains("thread 2 waits for the end of thread 1"));
  }
  soc::Platform next(wearable(), {});
  CHECK(next.run([](HwPort&) -> base::Status { return {}; }).ok());
}

}  // namespace deputy::soc_test
