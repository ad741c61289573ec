#include "host_runtime/runtime/bounds.h"

#include <algorithm>

#include "host_runtime/runtime/device.h"
#include "host_runtime/runtime/load_model.h"
#include "host_runtime/runtime/self_test.h"

namespace deputy::host_runtime {
namespace {

std::uint64_t cycles_ps(const BoardTimes& board, std::uint64_t cycles) {
  return cycles * static_cast<std::uint64_t>(1e6 / board.host.clock_mhz + 1);
}

std::uint64_t tensor_bytes(const LoadedModel& model, std::span<const std::uint32_t> ids) {
  std::uint64_t bytes = 0;
  for (const std::uint32_t id : ids)
    if (id != arch::kNoTensor)
      bytes += static_cast<std::uint64_t>(model.executable.tensors[id].desc.bytes());
  return bytes;
}

std::uint64_t step_bytes(const LoadedModel& model, const arch::Step& step) {
  return tensor_bytes(model, step.inputs) + tensor_bytes(model, step.outputs);
}

std::uint64_t host_steps_ps(const BoardTimes& board, const LoadedModel& model) {
  std::uint64_t sum = 0;
  for (std::size_t s = 0; s < model.executable.steps.size(); ++s)
    if (model.executable.steps[s].kind == arch::StepKind::kHost)
      sum += host_bound_ps(board, model.host_steps[s].work,
                           step_bytes(model, model.executable.steps[s]));
  return sum;
}

}  // namespace

// Register accesses of one attempt: looks, interrupts, a ring set up again with all its entries.
// Each is a transaction at most, and the entries are written and cleaned.
std::uint64_t driver_bound_ps(const DeviceOptions& options) {
  constexpr std::uint64_t kAccesses = 256;
  const std::uint64_t each = static_cast<std::uint64_t>(options.board.host.register_access);
  return cycles_ps(options.board, kAccesses * each) + kAccesses * options.board.transaction_ps / 8 +
         host_bound_ps(options.board, {},
                       std::uint64_t{options.ring_entries} * arch::kQueueEntryBytes);
}

std::uint64_t attempt_bound_ps(const DeviceOptions& options, const JobLimits& limits) {
  // The first look sees the job, a look past the limit stops it: two watchdogs. A doorbell and an
  // interrupt that were lost are found by one look each.
  return std::max(limits.budget_ps, limits.progress_ps) + 4 * options.watchdog_ps +
         driver_bound_ps(options);
}

std::uint64_t job_bound_ps(const DeviceOptions& options, const JobLimits& limits) {
  return attempt_bound_ps(options, limits) *
         static_cast<std::uint64_t>(options.recovery.most_attempts());
}

std::uint64_t host_bound_ps(const BoardTimes& board, std::span<const arch::HostWork> work,
                            std::uint64_t bytes) {
  std::uint64_t cycles = 0;
  for (const arch::HostWork& w : work) cycles += arch::host_cycles(board.host, w.kernel, w.amount);
  // Each cache line may be maintained before and after; each part of the traffic begins a
  // transaction of its own.
  const std::uint64_t maintenance =
      2 * arch::maintenance_cycles(board.host, 0, bytes + board.host.cache_line_bytes);
  const std::uint64_t chunks =
      bytes / static_cast<std::uint64_t>(board.host.chunk_bytes) + bytes / 4096 + 4;
  return cycles_ps(board, cycles + maintenance) + chunks * board.transaction_ps;
}

std::uint64_t inference_bound_ps(const DeviceOptions& options, const LoadedModel& model) {
  const auto attempts = static_cast<std::uint64_t>(options.recovery.most_attempts());
  std::uint64_t once = host_steps_ps(options.board, model), again = 0;
  for (const arch::Step& step : model.executable.steps) {
    if (step.dsp_job < model.dsp_jobs.size()) {
      once += job_bound_ps(options, model.dsp_jobs[step.dsp_job].limits) +
              host_bound_ps(options.board, {}, step_bytes(model, step));
      if (options.recovery.unhealthy_after != 0) once += job_bound_ps(options, self_test_limits());
    }
    if (step.kind != arch::StepKind::kNpu) continue;
    const JobLimits& limits = model.programs[step.program].limits;
    once +=
        job_bound_ps(options, limits) + host_bound_ps(options.board, {}, step_bytes(model, step));
    // An engine that is out of service is tested before each job.
    if (options.recovery.unhealthy_after != 0) once += job_bound_ps(options, self_test_limits());
    // Each failure of a program that ate its operands lets the inference begin again.
    if (!limits.restartable) again += attempts;
    if (model.fallbacks.empty()) continue;
    const LoadedModel& fallback = *model.fallbacks[step.program];
    const arch::HostWork copy[] = {{CpuKernel::kCopy, step_bytes(model, step)}};
    once += host_steps_ps(options.board, fallback) +
            2 * host_bound_ps(options.board, copy, 2 * copy[0].amount);
  }
  const arch::HostWork inputs[] = {
      {CpuKernel::kCopy, tensor_bytes(model, model.executable.inputs)}};
  once += 2 * host_bound_ps(options.board, inputs, 2 * inputs[0].amount);
  return once * (1 + again);
}

}  // namespace deputy::host_runtime
