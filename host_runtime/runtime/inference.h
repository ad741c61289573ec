// One inference in flight: a walk over the executable's steps that never waits. NPU steps go into
// the context's ring; the host's steps run inside advance(), when the steps before them are done.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "host_runtime/runtime/device.h"
#include "host_runtime/runtime/load_model.h"

namespace deputy::host_runtime {

/// One step as it ran, times absolute in ps.
struct StepRecord {
  std::uint32_t step = 0;  ///< index into Executable::steps
  std::uint64_t start_ps = 0, end_ps = 0;
};

/// One inference.
struct InferenceRecord {
  std::uint64_t start_ps = 0, end_ps = 0;  ///< first input copy to last output copy
  std::vector<StepRecord> steps;
  std::uint64_t copied_bytes = 0;       ///< bytes the CPU copied in and out
  std::uint32_t restarts = 0;           ///< times it began again from its inputs after a fault
  std::vector<std::uint32_t> degraded;  ///< programs that the CPU computed in the NPU's place
  std::vector<std::uint32_t> off_dsp;   ///< steps that the CPU did in the DSP's place
};

/// What an inference works on; owned by the session, which outlives it.
struct InferenceTask {
  const LoadedModel* model = nullptr;
  ModelMemory* memory = nullptr;
  std::shared_ptr<Context> context;
  std::optional<std::uint8_t> timeline;  ///< none: only the host can wait for the end
  std::uint64_t last_value =
      0;  ///< of the timeline at the end; kValues before it are for the steps
  std::vector<Fence> waits;
  std::uint64_t deadline_ps = ~std::uint64_t{0};
  std::vector<Buffer> inputs, outputs;
  /// Puts the inputs back after a fault, when the programs may have overwritten them; empty: they
  /// are intact.
  std::function<void()> restore_inputs;
  /// Can it begin again at all?
  bool can_restart = false;
  /// Computes a program on the CPU from its step's inputs; null: there is no fallback.
  std::function<base::Status(std::uint32_t program)> fallback;
};

class Inference final : public HostWork {
 public:
  Inference(Device& device, InferenceTask task);

  const Fence& fence() const { return fence_; }
  const InferenceRecord& record() const { return record_; }
  InferenceRecord& record() { return record_; }
  /// Over, and nothing of it is left in a ring: its memory may be used again.
  bool quiet() const;
  /// The timeline failed, or may have: it must not be used again.
  bool timeline_spent() const { return fence_.state() == FenceState::kFailed; }
  void cancel();

  bool advance() override;
  bool done() const override { return !fence_.pending(); }
  std::uint32_t priority() const override { return task_.context->priority(); }
  std::uint64_t wake_ps() const override { return task_.deadline_ps; }
  std::uint64_t bound_ps() const override {
    return inference_bound_ps(device_.options(), *task_.model);
  }

  /// Timeline values that an inference takes: one a job, those that begin again included, and one
  /// for the end.
  static constexpr std::uint64_t kValues = 1 << 20;

 private:
  const arch::Executable& executable() const { return task_.model->executable; }
  bool host_may_start();
  bool advance_npu();
  bool advance_dsp();
  bool dsp_job_over();
  /// Takes the job at the current step, which is over: null when that settles it, the job when it
  /// is to be seen to.
  std::shared_ptr<Job> failed_job(const char* engine);
  arch::QueueEntry job_entry(std::uint32_t step, const SharedBuffer& stream);
  bool push_job(std::uint32_t step, EngineId engine, const LoadedProgram& job,
                arch::QueueEntry entry, std::shared_ptr<Job>& into);
  /// While the current step's job is on its way, hands the next step's to its engine, to wait
  /// there.
  bool push_next();
  /// The next step's job must not run: the one before it failed.
  void withdraw_next();
  void engine_wrote();
  bool job_over();
  void run_on_cpu(std::uint32_t program);
  void run_host(std::uint32_t step);
  void publish_outputs();
  void step_done();
  void restart();
  void complete();
  void fail(base::Error error, arch::SyncFailure code);
  base::Error at_step(base::Error error, std::optional<std::uint32_t> tag) const;

  Device& device_;
  InferenceTask task_;
  Fence fence_;
  InferenceRecord record_;
  std::uint32_t step_ = 0;
  std::uint64_t jobs_ = 0;
  std::uint64_t step_start_ps_ = 0;
  std::shared_ptr<Job> job_, next_job_;  ///< of the current step and, waiting for it, of the next
  std::shared_ptr<Job>
      withdrawn_;  ///< until it has left its ring nothing is signalled that it waits for
  std::vector<std::shared_ptr<Job>> left_behind_;  ///< given up, but still in a ring
  std::vector<int> attempts_;                      ///< by program
  int dsp_attempts_ = 0;                           ///< at the current step
  bool engine_signalled_ = false;
};

/// Runs a host operator on its operands in `memory`, with cache maintenance and cost.
base::Status run_host_step(Device& device, const LoadedModel& model, const ModelMemory& memory,
                           std::uint32_t step);

}  // namespace deputy::host_runtime
