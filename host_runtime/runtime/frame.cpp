#include "host_runtime/runtime/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace deputy::host_runtime {
using base::Error;
using base::ErrorKind;

namespace {
// A row: the last dimension, of images the last two.
std::uint64_t row_stride(const arch::TensorDesc& desc) {
  const Shape& shape = desc.shape;
  std::int64_t rows = 1;
  for (std::size_t d = 0; d + (shape.size() > 2 ? 2 : 1) < shape.size(); ++d) rows *= shape[d];
  return rows > 1 ? static_cast<std::uint64_t>(desc.bytes() / rows) : 0;
}
}  // namespace

base::Result<std::unique_ptr<ModelFrame>> ModelFrame::make(Device& device, const LoadedModel& model,
                                                           std::shared_ptr<Context> context,
                                                           const ModelFrame* shared) {
  std::unique_ptr<ModelFrame> out(new ModelFrame(device, model, std::move(context)));
  DEPUTY_ASSIGN(out->memory_,
                ModelMemory::make(device, model, shared ? &shared->memory_ : nullptr));
  if (!model.executable.programs.empty() || !model.dsp_jobs.empty()) {
    DEPUTY_ASSIGN(out->timeline_, device.create_timeline());
  }
  for (const auto& fallback : model.fallbacks) {
    DEPUTY_ASSIGN(out->fallback_memory_.emplace_back(),
                  ModelMemory::make(device, *fallback, nullptr));
  }
  for (const std::uint32_t id : model.executable.inputs) out->inputs_.push_back(out->buffer_of(id));
  for (const std::uint32_t id : model.executable.outputs)
    out->outputs_.push_back(out->buffer_of(id));
  return out;
}

ModelFrame::~ModelFrame() {
  if (timeline_) device_.retire_timeline(*timeline_);
}

// The tensor's own memory, or its place in the arenas, which live as long as the frame.
Buffer ModelFrame::buffer_of(std::uint32_t tensor) {
  const arch::PlacedTensor& t = model_.executable.tensors[tensor];
  if (external(tensor))
    return *memory_.external(t.region).view(t.offset, static_cast<std::uint64_t>(t.desc.bytes()));
  const MemoryTouch touch = memory_.touch(tensor, false);
  return Buffer::import(device_.space(), {touch.address, touch.bytes,
                                          touch.bytes ? memory_.view(tensor).data : nullptr});
}

bool ModelFrame::external(std::uint32_t tensor) const {
  return model_.executable.tensors[tensor].region > arch::Region::kSlowArena;
}

BufferRequirements ModelFrame::requirements(std::uint32_t tensor) const {
  const arch::PlacedTensor& t = model_.executable.tensors[tensor];
  std::uint64_t alignment = std::max(kCacheLine, device_.space().page);
  if (external(tensor))
    alignment = std::max<std::uint64_t>(
        alignment,
        model_.executable.externals[static_cast<std::size_t>(arch::external_index(t.region))]
            .align);
  return {static_cast<std::uint64_t>(t.desc.bytes()), alignment,
          model_.executable.region_in_sram(t.region) ? MemoryKind::kSram : MemoryKind::kDram,
          row_stride(t.desc), cpu_computes_with(tensor)};
}

// A fallback computes with whatever its program does.
bool ModelFrame::cpu_computes_with(std::uint32_t tensor) const {
  return !model_.fallbacks.empty() ||
         std::ranges::any_of(model_.executable.steps, [&](const arch::Step& step) {
           return step.kind == arch::StepKind::kHost &&
                  (std::ranges::count(step.inputs, tensor) != 0 ||
                   std::ranges::count(step.outputs, tensor) != 0);
         });
}

base::Status ModelFrame::bind_input(std::size_t index, const Buffer& buffer) {
  return bind(model_.executable.inputs.at(index), inputs_[index], buffer);
}
base::Status ModelFrame::bind_output(std::size_t index, const Buffer& buffer) {
  return bind(model_.executable.outputs.at(index), outputs_[index], buffer);
}

base::Status ModelFrame::bind(std::uint32_t tensor, Buffer& slot, const Buffer& buffer) {
  const arch::TensorDesc& desc = model_.executable.tensors[tensor].desc;
  const RuntimeGuard guard(device_.space().lock);
  if (!idle())
    return Error{ErrorKind::kBusy, desc.name, "the frame is in flight", "wait for its fence"};
  if (!external(tensor))
    return Error{ErrorKind::kInput, fmt::format("tensor '{}'", desc.name),
                 "the executable keeps it in an arena of its own",
                 "compile with external inputs and outputs"};
  const BufferRequirements wanted = requirements(tensor);
  DEPUTY_TRY(buffer.fits(wanted, fmt::format("tensor '{}'", desc.name)));
  DEPUTY_ASSIGN(auto mapping,
                Mapping::make(context_->space(), buffer.address(), wanted.bytes, true));
  DEPUTY_ASSIGN(slot, buffer.view(0, wanted.bytes));
  memory_.bind_external(model_.executable.tensors[tensor].region, slot, std::move(mapping));
  return {};
}

// What is written lies apart from everything else that is bound: the compiler has counted on it.
base::Status ModelFrame::bindings_apart() const {
  const auto& exe = model_.executable;
  const auto overlap = [](const Buffer& a, const Buffer& b) {
    return a.address() < b.address() + b.bytes() && b.address() < a.address() + a.bytes();
  };
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    const arch::PlacedTensor& output = exe.tensors[exe.outputs[o]];
    if (!external(exe.outputs[o])) continue;
    const auto apart = [&](std::uint32_t id, const Buffer& other) -> base::Status {
      const arch::PlacedTensor& t = exe.tensors[id];
      if (!external(id) || t.region == output.region || !overlap(outputs_[o], other)) return {};
      return Error{ErrorKind::kInput, fmt::format("tensor '{}'", output.desc.name),
                   fmt::format("its buffer overlaps that of '{}'", t.desc.name),
                   "bind buffers that lie apart"};
    };
    for (std::size_t i = 0; i < inputs_.size(); ++i) DEPUTY_TRY(apart(exe.inputs[i], inputs_[i]));
    for (std::size_t i = 0; i < o; ++i) DEPUTY_TRY(apart(exe.outputs[i], outputs_[i]));
  }
  return {};
}

// Programs overwrite inputs that lie in an arena; a restart needs them again.
void ModelFrame::save_inputs() {
  saved_inputs_.clear();
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    auto& bytes = saved_inputs_.emplace_back();
    if (external(model_.executable.inputs[i])) continue;
    if (auto read = inputs_[i].read(); read.ok()) bytes = std::move(*read);
  }
}

// The program's step on the CPU: its inputs copied into the fallback's arenas, its outputs copied
// back.
base::Status ModelFrame::run_fallback(std::uint32_t program) {
  const LoadedModel& fallback = *model_.fallbacks[program];
  const ModelMemory& memory = fallback_memory_[program];
  Coherence& coherence = device_.space().coherence;
  const auto copy = [&](const ModelMemory& from, std::uint32_t source, const ModelMemory& to,
                        std::uint32_t target) {
    const MemoryTouch touches[] = {from.touch(source, false), to.touch(target, true)};
    if (touches[0].bytes == 0) return;
    coherence.before_cpu_read(touches[0].address, touches[0].bytes);
    coherence.before_cpu_write(touches[1].address, touches[1].bytes);
    if (device_.port().functional())
      std::memcpy(to.view(target).data, from.view(source).data, touches[0].bytes);
    device_.port().charge(CpuKernel::kCopy, touches[0].bytes, touches);
  };
  const auto step = std::ranges::find_if(model_.executable.steps, [&](const arch::Step& s) {
    return s.kind == arch::StepKind::kNpu && s.program == program;
  });
  for (std::size_t i = 0; i < step->inputs.size(); ++i)
    copy(memory_, step->inputs[i], memory, fallback.executable.inputs[i]);
  for (std::uint32_t s = 0; s < fallback.executable.steps.size(); ++s)
    DEPUTY_TRY(run_host_step(device_, fallback, memory, s));
  for (std::size_t i = 0; i < step->outputs.size(); ++i)
    copy(memory, fallback.executable.outputs[i], memory_, step->outputs[i]);
  return {};
}

base::Result<Fence> ModelFrame::submit(const SubmitOptions& options) {
  const RuntimeGuard guard(device_.space().lock);
  if (!idle())
    return Error{ErrorKind::kBusy, model_.executable.model_name, "the frame is in flight",
                 "wait for its fence"};
  DEPUTY_TRY(bindings_apart());
  // What it waits for may write them.
  for (const Buffer& input : inputs_)
    if (options.waits.empty() && input.undefined())
      return undefined_input(model_.executable.model_name);
  if (inference_ && inference_->timeline_spent() && timeline_) {
    device_.retire_timeline(*timeline_);
    timeline_.reset();
    DEPUTY_ASSIGN(timeline_, device_.create_timeline());
    value_ = 0;
  }
  InferenceTask task;
  task.model = &model_, task.memory = &memory_, task.context = context_;
  task.timeline = timeline_;
  value_ += Inference::kValues;
  task.last_value = value_;
  task.waits = options.waits, task.deadline_ps = options.deadline_ps;
  task.inputs = inputs_, task.outputs = outputs_;
  const RecoveryPolicy& policy = device_.options().recovery;
  if (!model_.executable.programs.empty() && (policy.most_attempts() > 1 || policy.cpu_fallback)) {
    // What an inference waits for may write its inputs, so there is nothing to save yet.
    task.can_restart =
        options.waits.empty() ||
        std::ranges::all_of(model_.executable.inputs, [&](auto id) { return external(id); });
    if (task.can_restart) {
      save_inputs();
      task.restore_inputs = [this] {
        for (std::size_t i = 0; i < inputs_.size(); ++i)
          if (!saved_inputs_[i].empty()) (void)inputs_[i].write(saved_inputs_[i]);
      };
    }
  }
  if (!model_.fallbacks.empty())
    task.fallback = [this](std::uint32_t program) { return run_fallback(program); };
  inference_ = std::make_shared<Inference>(device_, std::move(task));
  device_.add_work(inference_);
  device_.poll_works();
  return inference_->fence();
}

const InferenceRecord& ModelFrame::record() const {
  static const InferenceRecord none;
  return inference_ ? inference_->record() : none;
}

}  // namespace deputy::host_runtime
