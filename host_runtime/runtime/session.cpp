// A session in two halves: LoadedModel (load_model.h) holds what does not change between runs, a
// frame what one inference at a time works in.
#include "host_runtime/runtime/session.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "host_runtime/runtime/frame.h"

namespace deputy::host_runtime {
namespace {

using base::Error;
using base::ErrorKind;

class LoadedSession final : public Session {
 public:
  LoadedSession(Device& device, std::unique_ptr<LoadedModel> model)
      : device_(device), model_(std::move(model)), outputs_(model_->executable.outputs.size()) {}

  ~LoadedSession() override {
    const RuntimeGuard guard(device_.space().lock);
    for (auto& frame : frames_) frame->cancel();
    // The watchdog ends whatever hangs.
    (void)device_.wait_until(
        [&] { return std::ranges::all_of(frames_, [](const auto& f) { return f->idle(); }); },
        ~std::uint64_t{0});
  }

  base::Status make_frames(const SessionOptions& options) {
    std::shared_ptr<Context> context = model_->context;
    if (!context) context = std::make_shared<Context>();
    for (int i = 0; i < options.frames; ++i) {
      const ModelFrame* shared = i > 0 && model_->arenas_shareable() ? frames_[0].get() : nullptr;
      DEPUTY_ASSIGN(auto frame, ModelFrame::make(device_, *model_, context, shared));
      frames_.push_back(std::move(frame));
    }
    return {};
  }

  const arch::Executable& executable() const override { return model_->executable; }
  const InferenceRecord& record() const override { return record_; }
  std::size_t frames() const override { return frames_.size(); }
  Frame& frame(std::size_t index) override { return *frames_.at(index); }
  BufferRequirements input_requirements(std::size_t index) const override {
    return frames_[0]->requirements(executable().inputs.at(index));
  }
  BufferRequirements output_requirements(std::size_t index) const override {
    return frames_[0]->requirements(executable().outputs.at(index));
  }

  base::Status run(std::span<const std::vector<std::uint8_t>> inputs) override {
    const RuntimeGuard guard(device_.space().lock);
    state_ = State::kFailed;
    record_ = {};
    if (device_.port().functional()) DEPUTY_TRY(check_inputs(inputs));
    const std::uint64_t start = device_.port().now_ps(), copied = device_.space().copied_bytes;
    ModelFrame& frame = *frames_[0];
    for (std::size_t i = 0; i < executable().inputs.size(); ++i)
      DEPUTY_TRY(copy_in(frame.input(i), inputs, i));
    DEPUTY_ASSIGN(const Fence fence, frame.submit({}));
    const base::Status status = device_.wait(fence, ~std::uint64_t{0});
    record_ = frame.record();
    record_.start_ps = start;
    if (!status.ok()) return status;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      DEPUTY_ASSIGN(outputs_[i], frame.output(i).read());
    }
    record_.end_ps = device_.port().now_ps();
    record_.copied_bytes = device_.space().copied_bytes - copied;
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
    if (!device_.port().functional())
      return error("only time was simulated, there are no values", "run without timing-only");
    if (state_ == State::kNew) return error("nothing has run yet", "call run() first");
    if (state_ == State::kFailed)
      return error("the last run failed, its values are not valid", "run again");
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      if (executable().outputs[i] == tensor) return outputs_[i];
    const MemoryTouch touch = frames_[0]->memory().touch(tensor, false);
    const arch::TensorView view = frames_[0]->memory().view(tensor);
    if (view.data == nullptr)
      return error(fmt::format("'{}' lived only inside the NPU", view.desc->name),
                   "compile with all tensors kept");
    if (touch.bytes != 0) device_.space().coherence.before_cpu_read(touch.address, touch.bytes);
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

  // Without values nobody has to give any, but the copy still costs.
  base::Status copy_in(Buffer& to, std::span<const std::vector<std::uint8_t>> inputs,
                       std::size_t i) {
    if (device_.port().functional()) return to.write(inputs[i]);
    return to.write(std::vector<std::uint8_t>(to.bytes()));
  }

  Device& device_;
  std::unique_ptr<LoadedModel> model_;
  std::vector<std::unique_ptr<ModelFrame>> frames_;
  std::vector<std::vector<std::uint8_t>> outputs_;
  InferenceRecord record_;
  State state_ = State::kNew;
};

}  // namespace

base::Result<std::unique_ptr<Session>> Session::load(Device& device,
                                                     std::span<const std::uint8_t> file,
                                                     const std::string& name,
                                                     const SessionOptions& options) {
  if (options.frames < 1 || options.frames > 8)
    return Error{ErrorKind::kConfig, name, fmt::format("{} frames in flight", options.frames),
                 "use 1 to 8"};
  const RuntimeGuard guard(device.space().lock);
  DEPUTY_ASSIGN(auto model, load_model(device, options.context, file, name));
  auto session = std::make_unique<LoadedSession>(device, std::move(model));
  DEPUTY_TRY(session->make_frames(options));
  return std::unique_ptr<Session>(std::move(session));
}

}  // namespace deputy::host_runtime
