#include "sim/fault_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace deputy::sim {
namespace {

constexpr const char* kMasters[] = {"npu.load",  "npu.store", "npu.cmd", "npu.queue", "dma.read",
                                    "dma.write", "dma.queue", "dsp.dma", "dsp.queue"};
constexpr const char* kFetchers[] = {"npu", "dma", "npu.queue", "dma.queue", "dsp", "dsp.queue"};
constexpr const char* kEngines[] = {"npu", "dma", "dsp"};
constexpr const char* kNpu[] = {"npu"};
constexpr const char* kLines[] = {"npu",   "dma", "npu.queue", "dma.queue", "sync",
                                  "iommu", "ecc", "sensor",    "dsp",       "dsp.queue"};
constexpr const char* kQueues[] = {"npu.queue", "dma.queue", "dsp.queue"};
constexpr const char* kMemories[] = {"sram", "dram"};

constexpr FaultKindInfo kKinds[] = {
    {FaultKind::kBusError, "bus_error", kMasters, "a transaction that reaches a memory's channel",
     "answered with an error; nothing moves"},
    {FaultKind::kStuckTransaction, "stuck_transaction", kMasters, "a transaction",
     "never answered: the channel stands still until its engine is reset"},
    {FaultKind::kCommandParity, "command_parity", kFetchers,
     "a fetch: a bus transaction of commands (NPU), a descriptor (DMA), a command list (DSP), an "
     "entry (queues)",
     "one bit flips on the way; the parity of its word is wrong"},
    {FaultKind::kParseError, "parse_error", kEngines, "a command or descriptor taken up",
     "the decoder finds no such opcode, or no such descriptor"},
    {FaultKind::kEngineFault, "engine_fault", kEngines, "a command or descriptor taken up",
     "the engine's own checks stop the job"},
    {FaultKind::kEngineHang, "engine_hang", kEngines, "a command or descriptor taken up",
     "the engine stands still until it is reset"},
    {FaultKind::kEngineSlow, "engine_slow", kEngines, "a command or descriptor taken up",
     "the engine goes on at 1/factor of its speed until it is reset"},
    {FaultKind::kThrottle, "throttle", kNpu, "none: it begins at at_ns",
     "the clock is divided by factor for duration_ns"},
    {FaultKind::kLostInterrupt, "lost_interrupt", kLines, "a rising edge of the line",
     "does not become pending"},
    {FaultKind::kLateInterrupt, "late_interrupt", kLines, "a rising edge of the line",
     "becomes pending delay_ns later"},
    {FaultKind::kLostDoorbell, "lost_doorbell", kFetchers,
     "a write to TAIL (queues) or a start by CMD (engines)", "has no effect"},
    {FaultKind::kLostSignal, "lost_signal", kQueues, "a job or fence that ends well",
     "its timelines do not move; HEAD does"},
    {FaultKind::kLateSignal, "late_signal", kQueues, "a job that ends well",
     "its end is noticed delay_ns later"},
    {FaultKind::kEccSingle, "ecc_single", kMemories, "a read",
     "corrected and counted; takes delay_ns longer"},
    {FaultKind::kEccDouble, "ecc_double", kMemories, "a read by a device",
     "a bus error, counted, with its address"},
};

base::Error bad(const std::string& where, std::string what, std::string remedy) {
  return {base::ErrorKind::kConfig, where, std::move(what), std::move(remedy)};
}

template <class Range, class Name>
std::string joined(const Range& range, Name&& name) {
  std::string out;
  for (const auto& item : range) out += (out.empty() ? "" : ", ") + std::string(name(item));
  return out;
}

}  // namespace

std::span<const FaultKindInfo> fault_kinds() { return kKinds; }
const FaultKindInfo& fault_kind_info(FaultKind kind) {
  return kKinds[static_cast<std::size_t>(kind)];
}

FaultKind fault_kind(const Fault& fault) {
  const auto it = std::ranges::find_if(kKinds, [&](const auto& k) { return fault.kind == k.name; });
  DEPUTY_CHECK(it != std::end(kKinds), "a fault of an unknown kind was not refused");
  return it->kind;
}

base::Status check_fault(const Fault& f, const std::string& where) {
  const auto it = std::ranges::find_if(kKinds, [&](const auto& k) { return f.kind == k.name; });
  if (it == std::end(kKinds))
    return bad(where, fmt::format("there is no kind of fault '{}'", f.kind),
               "use one of " + joined(kKinds, [](const auto& k) { return k.name; }));
  if (std::ranges::find(it->targets, f.target) == it->targets.end())
    return bad(where, fmt::format("{} cannot happen at '{}'", f.kind, f.target),
               "use one of " + joined(it->targets, [](const char* t) { return t; }));
  // A parameter that the kind ignores is a misunderstanding, not a default.
  const Fault usual;
  const auto kind = it->kind;
  const auto is = [&](auto... kinds) { return ((kind == kinds) || ...); };
  using enum FaultKind;
  const struct {
    const char* name;
    bool changed, meant;
  } uses[] = {
      {"nth", f.nth != usual.nth, kind != kThrottle},
      {"repeat", f.repeat != usual.repeat, kind != kThrottle},
      {"address", f.address != usual.address, f.bytes != 0},
      {"bytes", f.bytes != usual.bytes, is(kBusError, kStuckTransaction, kEccSingle, kEccDouble)},
      {"ring", f.ring != usual.ring,
       is(kLostDoorbell, kLostSignal, kLateSignal) && f.target.ends_with(".queue")},
      {"bit", f.bit != usual.bit, kind == kCommandParity},
      {"factor", f.factor != usual.factor, is(kEngineSlow, kThrottle)},
      {"delay_ns", f.delay_ns != usual.delay_ns, is(kLateInterrupt, kLateSignal, kEccSingle)},
      {"duration_ns", f.duration_ns != usual.duration_ns, kind == kThrottle},
  };
  for (const auto& use : uses)
    if (use.changed && !use.meant)
      return bad(where, fmt::format("{} does not use '{}'", f.kind, use.name), "remove it");
  if (is(kLateInterrupt, kLateSignal) && f.delay_ns == 0)
    return bad(where, f.kind + " needs delay_ns", "say how late");
  return {};
}

base::Result<FaultPlan> parse_fault_plan(base::Config config) {
  FaultPlan plan;
  for (std::size_t i = 0;; ++i) {
    const std::string key = fmt::format("faults.{}", i);
    if (!config.has_group(key)) break;
    Fault fault;
    DEPUTY_TRY(config.load(key, fault));
    const auto* at = config.find(key + ".kind");
    DEPUTY_TRY(check_fault(fault, at ? at->where : key));
    plan.faults.push_back(std::move(fault));
  }
  DEPUTY_TRY(config.finish());
  return plan;
}

base::Result<FaultPlan> load_fault_plan(const std::string& path) {
  DEPUTY_ASSIGN(auto config, base::Config::from_file(path));
  return parse_fault_plan(std::move(config));
}

}  // namespace deputy::sim
