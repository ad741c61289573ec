// A session's frame: the memory of one inference at a time, its timeline, and the inference in it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "host_runtime/runtime/load_model.h"
#include "host_runtime/runtime/session.h"

namespace deputy::host_runtime {

class ModelFrame final : public Session::Frame {
 public:
  /// `shared`: a frame whose arenas this one uses too. Device and model must outlive the frame.
  static base::Result<std::unique_ptr<ModelFrame>> make(Device& device, const LoadedModel& model,
                                                        std::shared_ptr<Context> context,
                                                        const ModelFrame* shared);
  ~ModelFrame() override;

  Buffer& input(std::size_t index) override { return inputs_.at(index); }
  Buffer& output(std::size_t index) override { return outputs_.at(index); }
  base::Status bind_input(std::size_t index, const Buffer& buffer) override;
  base::Status bind_output(std::size_t index, const Buffer& buffer) override;
  base::Result<Fence> submit(const SubmitOptions& options) override;
  void cancel() override {
    const RuntimeGuard guard(device_.space().lock);
    if (inference_) inference_->cancel();
  }
  bool idle() const override { return !inference_ || inference_->quiet(); }
  const InferenceRecord& record() const override;
  std::uint64_t bound_ps() const override { return inference_bound_ps(device_.options(), model_); }

  const ModelMemory& memory() const { return memory_; }
  BufferRequirements requirements(std::uint32_t tensor) const;

 private:
  ModelFrame(Device& device, const LoadedModel& model, std::shared_ptr<Context> context)
      : device_(device), model_(model), context_(std::move(context)) {}
  base::Status bind(std::uint32_t tensor, Buffer& slot, const Buffer& buffer);
  base::Status bindings_apart() const;
  Buffer buffer_of(std::uint32_t tensor);
  bool external(std::uint32_t tensor) const;
  bool cpu_computes_with(std::uint32_t tensor) const;
  void save_inputs();

  base::Status run_fallback(std::uint32_t program);

  Device& device_;
  const LoadedModel& model_;
  std::shared_ptr<Context> context_;
  ModelMemory memory_;
  std::vector<ModelMemory> fallback_memory_;  ///< by program
  std::vector<Buffer> inputs_, outputs_;
  std::optional<std::uint8_t> timeline_;
  std::uint64_t value_ = 0;
  std::shared_ptr<Inference> inference_;
  std::vector<std::vector<std::uint8_t>> saved_inputs_;
};

}  // namespace deputy::host_runtime
