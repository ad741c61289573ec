// A session in two halves: LoadedModel (load_model.h) holds what does not change between runs,
// Session runs its steps.
#include "host_runtime/runtime/session.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "base/check.h"
#include "host_runtime/runtime/coherence.h"
#include "host_runtime/runtime/load_model.h"

namespace deputy::host_runtime {
namespace {

using base::Error;
using base::ErrorKind;

class SynchronousSession final : public Session {
 public:
  SynchronousSession(HwPort& port, std::unique_ptr<LoadedModel> model)
      : port_(port),
        coherence_(port),
        model_(std::move(model)),
        outputs_(executable().outputs.size()) {}

  const arch::Executable& executable() const override { return model_->executable; }
  const InferenceRecord& record() const override { return record_; }

  base::Status run(std::span<const std::vector<std::uint8_t>> inputs) override {
    state_ = State::kFailed;
    record_ = {};
    if (port_.functional()) DEPUTY_TRY(check_inputs(inputs));
    record_.start_ps = port_.now_ps();
    copy_in(inputs);
    for (std::uint32_t i = 0; i < executable().steps.size(); ++i) {
      StepRecord step{i, port_.now_ps(), 0};
      const base::Status status = executable().steps[i].kind == arch::StepKind::kNpu
                                      ? run_program(model_->programs[executable().steps[i].program])
                                      : run_host(model_->host_steps[i]);
      step.end_ps = port_.now_ps();
      record_.steps.push_back(step);
      if (!status.ok()) {
        record_.end_ps = step.end_ps;
        return at_step(status.error(), i);
      }
    }
    copy_out();
    record_.end_ps = port_.now_ps();
    state_ = State::kDone;
    return {};
  }

  base::Result<std::vector<std::uint8_t>> read_tensor(std::uint32_t tensor) const override {
    const auto error = [&](std::string what, std::string remedy) {
      return Error{ErrorKind::kInput, fmt::format("tensor {}", tensor), std::move(what),
                   std::move(remedy)};
    };
    if (tensor >= executable().tensors.size())
      return error(fmt::format("the model has {} tensors", executable().tensors.size()), "");
    if (!port_.functional())
      return error("only time was simulated, there are no values", "run without timing-only");
    if (state_ == State::kNew) return error("nothing has run yet", "call run() first");
    if (state_ == State::kFailed)
      return error("the last run failed, its values are not valid", "run again");
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      if (executable().outputs[i] == tensor) return outputs_[i];
    const arch::TensorView view = model_->view(tensor);
    if (view.data == nullptr)
      return error(fmt::format("'{}' lived only inside the NPU", view.desc->name),
                   "compile with all tensors kept");
    return std::vector<std::uint8_t>(view.data, view.data + view.desc->bytes());
  }

 private:
  enum class State : std::uint8_t { kNew, kDone, kFailed };

  base::Status check_inputs(std::span<const std::vector<std::uint8_t>> inputs) const {
    const auto& ids = executable().inputs;
    if (inputs.size() != ids.size())
      return Error{
          ErrorKind::kInput, executable().model_name,
          fmt::format("the model takes {} inputs, {} were given", ids.size(), inputs.size()), ""};
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const arch::TensorDesc& desc = executable().tensors[ids[i]].desc;
      if (inputs[i].size() != static_cast<std::size_t>(desc.bytes()))
        return Error{ErrorKind::kInput, fmt::format("input {} '{}'", i, desc.name),
                     fmt::format("{} bytes expected ({} {}), {} given", desc.bytes(),
                                 dtype_name(desc.dtype), shape_text(desc.shape), inputs[i].size()),
                     "give the tensor's bytes, little-endian, in C order"};
    }
    return {};
  }

  // The caller's side of a copy is private memory, not on the bus: only the shared side is touched.
  void charge_copy(const MemoryTouch& touch) {
    port_.charge(CpuKernel::kCopy, touch.bytes, std::span(&touch, 1));
    record_.copied_bytes += touch.bytes;
  }

  void copy_in(std::span<const std::vector<std::uint8_t>> inputs) {
    for (std::size_t i = 0; i < executable().inputs.size(); ++i) {
      const MemoryTouch touch = model_->touch(executable().inputs[i], true);
      if (touch.bytes == 0) continue;
      coherence_.before_cpu_write(touch.address, touch.bytes);
      if (port_.functional())
        std::memcpy(model_->view(executable().inputs[i]).data, inputs[i].data(), touch.bytes);
      charge_copy(touch);
    }
  }

  void copy_out() {
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const MemoryTouch touch = model_->touch(executable().outputs[i], false);
      outputs_[i].resize(touch.bytes);
      if (touch.bytes == 0) continue;
      coherence_.before_cpu_read(touch.address, touch.bytes);
      if (port_.functional())
        std::memcpy(outputs_[i].data(), model_->view(executable().outputs[i]).data, touch.bytes);
      charge_copy(touch);
    }
  }

  base::Status run_host(const HostStep& step) {
    for (const MemoryTouch& t : step.touches)
      t.write ? coherence_.before_cpu_write(t.address, t.bytes)
              : coherence_.before_cpu_read(t.address, t.bytes);
    if (port_.functional())
      DEPUTY_TRY(
          run_host_op(step.kind, *step.attrs, step.inputs, step.outputs, executable().numerics));
    // The operator's memory traffic goes with its first kind of work.
    std::span<const MemoryTouch> touches = step.touches;
    for (const arch::HostWork& work : step.work) {
      port_.charge(work.kernel, work.amount, touches);
      touches = {};
    }
    return {};
  }

  base::Status run_program(const LoadedProgram& program) {
    for (const auto* ranges : {&program.reads, &program.writes})
      for (const AddressRange& r : *ranges) coherence_.before_engine(r.address, r.bytes);
    base::Status status = model_->npu.submit(program.stream.address(), program.stream.bytes());
    if (status.ok()) status = model_->npu.wait(port_.now_ps() + program.budget_ps);
    for (const AddressRange& r : program.writes) coherence_.after_engine_write(r.address, r.bytes);
    return status;
  }

  /// Says which operator it was: the step's, or that of the instruction the NPU stopped at.
  Error at_step(Error error, std::uint32_t index) const {
    const arch::Step& step = executable().steps[index];
    const bool host = step.kind == arch::StepKind::kHost;
    const auto op = host ? std::optional(step.source_op) : model_->npu.fault_tag();
    std::string what = host ? "" : fmt::format("program {}", step.program);
    if (op && *op < executable().ops.size()) {
      const arch::SourceOp& source = executable().ops[*op];
      what += fmt::format("{}{} '{}'", host ? "" : ", ", arch::op_name(source.kind), source.name);
    }
    error.where =
        fmt::format("step {} ({}){}{}", index, what, error.where.empty() ? "" : ": ", error.where);
    return error;
  }

  HwPort& port_;
  Coherence coherence_;
  std::unique_ptr<LoadedModel> model_;
  std::vector<std::vector<std::uint8_t>> outputs_;
  InferenceRecord record_;
  State state_ = State::kNew;
};

}  // namespace

base::Result<std::unique_ptr<Session>> Session::load(HwPort& port,
                                                     std::span<const std::uint8_t> file,
                                                     const std::string& name) {
  DEPUTY_ASSIGN(auto model, load_model(port, file, name));
  return std::unique_ptr<Session>(std::make_unique<SynchronousSession>(port, std::move(model)));
}

}  // namespace deputy::host_runtime
