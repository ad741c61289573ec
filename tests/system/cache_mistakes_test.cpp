// The runtime without one of its cache maintenance calls, each in turn: the bytes are still right, or the cache's
// checker says what is missing. A wrong output that nobody reports is what must not be.
#include <catch2/catch.hpp>
#include <numeric>
#include <optional>

#include "arch/executable.h"
#include "host_runtime/runtime/session.h"
#include "tests/system/deputy_process.h"
#include "tools/cli/common.h"
#include "workloads/networks.h"
#include "workloads/random.h"

using namespace deputy;
using namespace deputy::host_runtime;

namespace {

using Bytes = std::vector<std::uint8_t>;

/// Swallows one maintenance call; everything else goes through.
class ForgetfulPort : public HwPort {
 public:
  ForgetfulPort(HwPort& port, std::optional<std::uint64_t> forgotten) : port_(port), forgotten_(forgotten) {}
  std::uint64_t calls() const { return calls_; }

  void clean(std::uint64_t address, std::uint64_t bytes) override {
    if (calls_++ != forgotten_) port_.clean(address, bytes);
  }
  void invalidate(std::uint64_t address, std::uint64_t bytes) override {
    if (calls_++ != forgotten_) port_.invalidate(address, bytes);
  }

  std::uint32_t read32(std::uint64_t address) override { return port_.read32(address); }
  void write32(std::uint64_t address, std::uint32_t value) override { port_.write32(address, value); }
  std::uint64_t bus_errors() const override { return port_.bus_errors(); }
  base::Result<SharedMemory> alloc(MemoryKind kind, std::uint64_t bytes, std::uint64_t align) override {
    return port_.alloc(kind, bytes, align);
  }
  void free(const SharedMemory& memory) override { port_.free(memory); }
  void announce(const MemoryTouch& touch) override { port_.announce(touch); }
  std::uint32_t wait_irqs(std::uint32_t lines, std::uint64_t deadline_ps) override { return port_.wait_irqs(lines, deadline_ps); }
  void wake_waiters() override { port_.wake_waiters(); }
  void sleep_until(std::uint64_t time_ps) override { port_.sleep_until(time_ps); }
  ThreadId start_thread(std::function<void()> body) override { return port_.start_thread(std::move(body)); }
  ThreadId current_thread() override { return port_.current_thread(); }
  void join(ThreadId thread) override { port_.join(thread); }
  void lock() override { port_.lock(); }
  void unlock() override { port_.unlock(); }
  std::uint64_t now_ps() override { return port_.now_ps(); }
  void charge(CpuKernel kernel, std::uint64_t amount, std::span<const MemoryTouch> touches) override {
    port_.charge(kernel, amount, touches);
  }
  bool functional() const override { return port_.functional(); }

 private:
  HwPort& port_;
  std::optional<std::uint64_t> forgotten_;
  std::uint64_t calls_ = 0;
};

struct Outcome {
  std::vector<Bytes> outputs;  ///< of the frames that ended well
  bool failed = false;
  std::uint64_t calls = 0;
  soc::RunRecord record;
};

struct Model {
  tools::SimulateOptions options;
  Bytes file;
  std::vector<Bytes> inputs;

  explicit Model(const char* network) {
    tools::CommonOptions common;
    common.soc = test::project_file("configs/soc/wearable.yaml");
    common.sets.push_back("host.coherent=false");
    auto simulate = tools::simulate_options(common);
    REQUIRE(simulate.ok());
    options = *simulate;
    auto graph = workloads::build_network(network);
    REQUIRE(graph.ok());
    auto executable = delegate::compile(*graph, tools::compile_options(options));
    REQUIRE(executable.ok());
    file = arch::write_executable(*executable);
    for (std::uint64_t seed : {1, 2}) inputs.push_back(workloads::seeded_input(graph->tensor(graph->inputs[0]).desc, seed));
  }

  Outcome run(std::optional<std::uint64_t> forgotten) const {
    Outcome out;
    soc::Platform platform(options.soc, {});
    auto ran = platform.run_to_end([&](HwPort& real) -> base::Status {
      ForgetfulPort port(real, forgotten);
      const base::Status status = [&]() -> base::Status {
        Device device(port, {});
        DEPUTY_ASSIGN(auto session, Session::load(device, file, "m"));
        for (const Bytes& input : inputs) {
          DEPUTY_TRY(session->run(std::vector<Bytes>{input}));
          DEPUTY_ASSIGN(auto output, session->read_tensor(session->executable().outputs[0]));
          out.outputs.push_back(std::move(output));
        }
        return {};
      }();
      out.calls = port.calls();
      return status;
    });
    out.failed = !ran.status.ok();
    out.record = std::move(ran.record);
    return out;
  }
};

void forget_each(const char* network, std::uint64_t every) {
  const Model m(network);
  const Outcome good = m.run({});
  REQUIRE_FALSE(good.failed);
  CHECK(good.record.imbalances == std::vector<std::string>{});
  REQUIRE(good.calls > 4);
  std::uint64_t wrong = 0, told = 0;
  for (std::uint64_t n = 0; n < good.calls; n += every) {
    INFO(network << ", without maintenance call " << n << " of " << good.calls);
    const Outcome bad = m.run(n);
    const bool same = !bad.failed && bad.outputs == good.outputs;
    const bool found = !bad.record.cache_findings.empty();
    CHECK((same || found));
    wrong += !same, told += found;
  }
  CHECK(wrong > 0);
  CHECK(told >= wrong);
}

}  // namespace

TEST_CASE("a forgotten clean or invalidate is harmless or reported") { forget_each("ds_cnn", 3); }

TEST_CASE("every forgotten clean or invalidate is harmless or reported", "[.slow]") {
  for (const char* network : {"ds_cnn", "ecg_tcn"}) forget_each(network, 1);
}
