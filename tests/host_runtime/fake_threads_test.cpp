// Host threads on the fake port: the same order of things as on the simulator, in virtual time.
#include <catch2/catch.hpp>

#include "arch/registers.h"
#include "host_runtime/ports/fake_port.h"

using namespace deputy;
using namespace deputy::host_runtime;

namespace {
constexpr std::uint64_t kNoDeadline = ~std::uint64_t{0};
constexpr std::uint32_t kDmaLine = static_cast<std::uint32_t>(arch::IrqLine::kDma);
constexpr std::uint64_t kIntc = arch::kIntcBase;
namespace intc_reg = arch::intc_reg;
}  // namespace

TEST_CASE("fake threads: run when the starter blocks, in the order of starting") {
  FakePort port;
  std::vector<int> order;
  const ThreadId first = port.start_thread([&] { order.push_back(1); });
  const ThreadId second = port.start_thread([&] {
    port.sleep_until(5000);
    order.push_back(2);
  });
  const ThreadId third = port.start_thread([&] { order.push_back(3); });
  CHECK(order.empty());
  port.join(second);
  CHECK(order == std::vector<int>{1, 3, 2});
  CHECK(port.now_ps() == 5000);
  CHECK(port.unjoined_threads() == 2);
  port.join(first);
  port.join(third);
  CHECK(port.unjoined_threads() == 0);
}

TEST_CASE("fake threads: sleeping and waiting pass in the order of time") {
  FakePort port;
  std::vector<std::pair<int, std::uint64_t>> log;
  const auto note = [&](int who) { log.emplace_back(who, port.now_ps()); };
  port.write32(kIntc + intc_reg::kEnableSet, 1u << kDmaLine);
  const std::uint64_t start = port.now_ps();
  port.after(3000, [&] { port.write32(kIntc + intc_reg::kForce, 1u << kDmaLine); });
  const ThreadId waiter = port.start_thread([&] {
    CHECK_FALSE(port.wait_irq(kDmaLine, start + 1000));
    note(1);
    CHECK(port.wait_irq(kDmaLine, kNoDeadline));
    note(1);
  });
  const ThreadId sleeper = port.start_thread([&] {
    port.sleep_until(start + 2000);
    note(2);
    port.sleep_until(start);  // long ago
    note(2);
  });
  port.join(waiter);
  port.join(sleeper);
  const std::uint64_t forced = start + 3000 + FakePort::kRegisterPs;
  CHECK(log == std::vector<std::pair<int, std::uint64_t>>{
                   {1, start + 1000}, {2, start + 2000}, {2, start + 2000}, {1, forced}});
}

TEST_CASE("fake threads: the lock is held over waits and goes round in the order of asking") {
  FakePort port;
  std::vector<int> order;
  std::vector<ThreadId> threads;
  port.lock();
  for (int i = 0; i < 3; ++i)
    threads.push_back(port.start_thread([&, i] {
      for (int round = 0; round < 2; ++round) {
        port.lock();
        order.push_back(i);
        port.sleep_until(port.now_ps() + 100);
        order.push_back(i);
        port.unlock();
      }
    }));
  port.sleep_until(1000);
  CHECK(order.empty());
  port.unlock();
  for (const ThreadId t : threads) port.join(t);
  CHECK(order == std::vector<int>{0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2});
}

TEST_CASE("fake threads: what a thread throws reaches who joins it") {
  FakePort port;
  const ThreadId thread = port.start_thread([] { throw std::runtime_error("in the thread"); });
  CHECK_THROWS_WITH(port.join(thread), "in the thread");
}

TEST_CASE("fake threads: a port that goes unwinds the threads that still wait") {
  int alive = 0;
  struct Counted {
    int& alive;
    explicit Counted(int& a) : alive(a) { ++alive; }
    ~Counted() { --alive; }
  };
  {
    FakePort port;
    port.start_thread([&] {
      const Counted counted(alive);
      port.wait_irq(kDmaLine, kNoDeadline);
    });
    port.start_thread([&] {
      const Counted counted(alive);
      port.lock();
      port.sleep_until(kNoDeadline);
    });
    port.sleep_until(1);
    CHECK(alive == 2);
    port.start_thread([&] { FAIL("never has its turn"); });
  }
  CHECK(alive == 0);
}
