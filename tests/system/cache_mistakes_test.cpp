// The runtime without one of its cache maintenance calls, each in turn: the bytes are still right,
// or the cache's checker says what is missing. A wrong output that nobody reports is what must not
// be.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <numeric>
#include <optional>
#include <regex>
#include <sstream>

#include "arch/executable.h"
#include "host_runtime/runtime/session.h"
#include "tests/support/forwarding_port.h"
#include "tests/system/deputy_process.h"
#include "tools/cli/common.h"
#include "workloads/networks.h"
#include "workloads/random.h"

using namespace deputy;
using namespace deputy::host_runtime;

namespace {

using Bytes = std::vector<std::uint8_t>;

/// Swallows one maintenance call; everything else goes through.
class ForgetfulPort final : public test::ForwardingPort {
 public:
  ForgetfulPort(HwPort& port, std::optional<std::uint64_t> forgotten)
      : ForwardingPort(port), forgotten_(forgotten) {}
  std::uint64_t calls() const { return calls_; }

  void clean(std::uint64_t address, std::uint64_t bytes) override {
    if (calls_++ != forgotten_) port_.clean(address, bytes);
  }
  void invalidate(std::uint64_t address, std::uint64_t bytes) override {
    if (calls_++ != forgotten_) port_.invalidate(address, bytes);
  }

 private:
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
  bool copies = false;

  /// `with_copies`: the DMA engine brings the input and takes the output away, and the network ends
  /// on the CPU.
  explicit Model(const char* network, bool with_copies = false) : copies(with_copies) {
    tools::CommonOptions common;
    common.soc = test::project_file("configs/soc/wearable.yaml");
    if (copies) common.force.push_back("SOFTMAX=cpu");
    auto simulate = tools::simulate_options(common);
    REQUIRE(simulate.ok());
    options = *simulate;
    if (copies) options.io = delegate::IoPlacement::kDram;
    auto graph = workloads::build_network(network);
    REQUIRE(graph.ok());
    auto executable = delegate::compile(*graph, tools::compile_options(options));
    REQUIRE(executable.ok());
    if (copies) REQUIRE(executable->steps.back().kind == arch::StepKind::kHost);
    file = arch::write_executable(*executable);
    for (std::uint64_t seed : {1, 2})
      inputs.push_back(workloads::seeded_input(graph->tensor(graph->inputs[0]).desc, seed));
  }

  base::Status run_alone(Device& device, Outcome& out) const {
    DEPUTY_ASSIGN(auto session, Session::load(device, file, "m"));
    for (const Bytes& input : inputs) {
      DEPUTY_TRY(session->run(std::vector<Bytes>{input}));
      DEPUTY_ASSIGN(auto output, session->read_tensor(session->executable().outputs[0]));
      out.outputs.push_back(std::move(output));
    }
    return {};
  }

  // All is in flight at once: the copy behind the network waits in hardware for what the CPU has
  // yet to write.
  base::Status run_between_copies(Device& device, Outcome& out) const {
    DEPUTY_ASSIGN(auto context, device.default_context());
    DEPUTY_ASSIGN(auto session,
                  Session::load(device, file, "m", {.context = context, .frames = 1}));
    Session::Frame& frame = session->frame(0);
    DEPUTY_ASSIGN(Buffer camera, Buffer::make(device.space(), MemoryKind::kDram,
                                              frame.input(0).bytes(), kCacheLine));
    DEPUTY_ASSIGN(Buffer radio, Buffer::make(device.space(), MemoryKind::kDram,
                                             frame.output(0).bytes(), kCacheLine));
    for (const Bytes& input : inputs) {
      DEPUTY_TRY(camera.write(input));
      DEPUTY_ASSIGN(const Fence in, device.copy(context, frame.input(0), camera, {}));
      DEPUTY_ASSIGN(const Fence ran, frame.submit({.waits = {in}}));
      DEPUTY_ASSIGN(const Fence sent,
                    device.copy(context, radio, frame.output(0), std::vector<Fence>{ran}));
      DEPUTY_TRY(device.wait(sent, ~std::uint64_t{0}));
      DEPUTY_ASSIGN(auto output, radio.read());
      out.outputs.push_back(std::move(output));
    }
    return {};
  }

  Outcome run(std::optional<std::uint64_t> forgotten) const {
    Outcome out;
    soc::Platform platform(options.soc, {});
    auto ran = platform.run_to_end([&](HwPort& real) -> base::Status {
      ForgetfulPort port(real, forgotten);
      const base::Status status = [&]() -> base::Status {
        Device device(port, {});
        return copies ? run_between_copies(device, out) : run_alone(device, out);
      }();
      out.calls = port.calls();
      return status;
    });
    out.failed = !ran.status.ok();
    out.record = std::move(ran.record);
    return out;
  }
};

// Without its numbers, which change with the model of time and with where memory is.
std::string words(const std::string& text) {
  return std::regex_replace(text, std::regex("(0x[0-9a-f]+|[0-9.]+)"), "#");
}

/// The findings of all runs.
std::vector<std::string> forget_each(const char* network, std::uint64_t every,
                                     bool copies = false) {
  const Model m(network, copies);
  std::vector<std::string> findings;
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
    findings.insert(findings.end(), bad.record.cache_findings.begin(),
                    bad.record.cache_findings.end());
  }
  CHECK(wrong > 0);
  CHECK(told >= wrong);
  return findings;
}

}  // namespace

TEST_CASE("a forgotten clean or invalidate is harmless or reported") { forget_each("ds_cnn", 3); }

TEST_CASE(
    "a chain over both engines and the CPU does the maintenance it needs, and the document shows "
    "what is found if not") {
  const auto findings = forget_each("ds_cnn", 1, true);
  std::ifstream file(test::project_file("docs/coherence.md"));
  std::stringstream text;
  text << file.rdbuf();
  std::vector<std::string> quoted;
  for (std::string line; std::getline(text, line);)
    if (line.starts_with("missing clean: at ")) quoted.push_back(words(line));
  REQUIRE(quoted.size() == 1);
  const auto found =
      std::ranges::find_if(findings, [&](const std::string& f) { return words(f) == quoted[0]; });
  CHECK(found != findings.end());
  for (const std::string& finding : findings) UNSCOPED_INFO(finding);
  CHECK(findings.size() > 10);
}

TEST_CASE("every forgotten clean or invalidate is harmless or reported", "[.slow]") {
  for (const char* network : {"ds_cnn", "ecg_tcn"}) forget_each(network, 1);
}
