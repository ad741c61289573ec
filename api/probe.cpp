#include "api/probe.h"

#include <fmt/format.h>

#include "arch/memory_map.h"
#include "arch/registers.h"
#include "arch/silicon.h"
#include "host_runtime/runtime/device.h"
#include "host_runtime/runtime/session.h"

namespace deputy::api {
namespace {

using Outputs = std::vector<std::vector<std::uint8_t>>;

base::Result<Outputs> run_once(host_runtime::Device& device, const arch::Executable& executable,
                               const ProbeCase& c) {
  const auto file = arch::write_executable(executable);
  DEPUTY_ASSIGN(const auto session, host_runtime::Session::load(device, file, c.name));
  DEPUTY_TRY(session->run(c.inputs));
  Outputs out;
  for (const std::uint32_t tensor : session->executable().outputs) {
    DEPUTY_ASSIGN(auto bytes, session->read_tensor(tensor));
    out.push_back(std::move(bytes));
  }
  return out;
}

// "" when equal.
std::string difference(const Outputs& npu, const Outputs& cpu) {
  for (std::size_t o = 0; o < cpu.size(); ++o) {
    std::size_t different = 0, first = 0;
    for (std::size_t i = 0; i < cpu[o].size(); ++i)
      if (npu[o][i] != cpu[o][i] && different++ == 0) first = i;
    if (different != 0)
      return fmt::format("{} of {} bytes differ, the first at {}: {} instead of {}", different,
                         cpu[o].size(), first, npu[o][first], cpu[o][first]);
  }
  return "";
}

// A device with a reset engine and a clean record for whoever comes after a fault.
std::unique_ptr<host_runtime::Device> new_device(HwPort& port) {
  return std::make_unique<host_runtime::Device>(port, host_runtime::DeviceOptions{});
}

ProbeOutcome run_case(HwPort& port, std::unique_ptr<host_runtime::Device>& device,
                      const ProbeCase& c, delegate::CompileOptions options) {
  const auto outcome = [&](ProbeState state, std::string text) {
    return ProbeOutcome{c.name, state, std::move(text)};
  };
  options.numerics = c.numerics;
  options.engine = delegate::EnginePolicy::kNpu;
  const auto npu = delegate::compile(c.graph, options);
  options.engine = delegate::EnginePolicy::kCpu;
  const auto cpu = delegate::compile(c.graph, options);
  for (const auto* compiled : {&npu, &cpu})
    if (!compiled->ok()) return outcome(ProbeState::kSkipped, compiled->error().text());
  if (!npu->ops[0].on_npu)
    return outcome(ProbeState::kSkipped, "this NPU does not take it: " + npu->ops[0].reason);
  if (npu->programs.empty())
    return outcome(ProbeState::kSkipped, "it is no work: its output is its input's storage");
  const auto want = run_once(*device, *cpu, c);
  if (!want.ok())
    return outcome(ProbeState::kSkipped, "not run on the CPU: " + want.error().text());
  const auto got = run_once(*device, *npu, c);
  if (!got.ok()) {
    // Only the hardware's faults count against it.
    const bool hardware = got.error().kind == base::ErrorKind::kHardwareFault;
    if (hardware) device.reset(), device = new_device(port);
    return outcome(hardware ? ProbeState::kFailed : ProbeState::kSkipped, got.error().text());
  }
  const std::string different = difference(*got, *want);
  return outcome(different.empty() ? ProbeState::kPassed : ProbeState::kFailed, different);
}

}  // namespace

base::Result<ProbeReport> probe(HwPort& port, std::span<const ProbeCase> cases,
                                const delegate::CompileOptions& options,
                                const std::function<void(std::size_t)>& progress) {
  ProbeReport out;
  auto device = new_device(port);
  DEPUTY_TRY(device->start());
  DEPUTY_TRY(device->npu().check_target(options.npu, "the probe"));
  const std::uint32_t revision = port.read32(arch::kNpuBase + arch::npu_reg::kRevision);
  out.hardware = arch::hardware_version(revision), out.firmware = arch::firmware_version(revision);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    progress(i);
    out.outcomes.push_back(run_case(port, device, cases[i], options));
  }
  out.findings = locate_faults(cases, out.outcomes, out.hardware);
  return out;
}

}  // namespace deputy::api
