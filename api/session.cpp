#include "deputy/session.h"

#include <fmt/format.h>

#include "api/handles.h"
#include "api/input_shapes.h"

namespace deputy {
namespace api {
namespace {

const arch::Executable& executable(const SessionImpl& session) {
  return session.session->executable();
}

base::Error no_such(const SessionImpl& session, const char* what, std::size_t index,
                    std::size_t count) {
  return bad_argument(session.model->name,
                      fmt::format("there is no {} {}, it has {}", what, index, count));
}

RunRecord run_record(const SessionImpl& session, const host_runtime::InferenceRecord& r) {
  RunRecord out;
  out.start_ps = r.start_ps, out.end_ps = r.end_ps;
  out.copied_bytes = r.copied_bytes, out.restarts = r.restarts, out.degraded = r.degraded;
  for (const host_runtime::StepRecord& step : r.steps)
    out.steps.push_back({executable(session).steps[step.step].kind == arch::StepKind::kNpu,
                         step.start_ps, step.end_ps});
  return out;
}

BufferRequirements requirements(const host_runtime::BufferRequirements& r) {
  return {r.bytes, r.alignment, r.kind, r.stride, r.cached};
}

host_runtime::Session::Frame& frame_of(const SessionImpl& session, std::size_t index) {
  return session.session->frame(index);
}

}  // namespace

SessionImpl::~SessionImpl() {
  // What waits in a ring for the program's own timeline would wait for ever.
  for (std::size_t i = 0; i < frames.size(); ++i)
    if (!session->frame(i).idle()) fail_timelines(frames[i].waits);
  device->settle_copies(this);
  session.reset();
}

}  // namespace api

base::Result<Session> Session::load(const Device& device, const Model& model,
                                    const SessionOptions& options) {
  auto impl = std::make_shared<api::SessionImpl>();
  impl->device = device.impl(), impl->model = model.impl();
  host_runtime::SessionOptions with;
  with.frames = options.frames;
  if (options.frames < 1 || options.frames > 8)
    return api::bad_argument(model.name(), fmt::format("{} frames in flight", options.frames),
                             "use 1 to 8");
  if (const auto& context = options.context.impl()) {
    if (context->device != impl->device)
      return api::bad_argument(model.name(), "a context of another device");
    with.context = context->context;
  }
  std::vector<Shape> shapes;
  for (const TensorInfo& input : model.inputs()) shapes.push_back(input.shape);
  if (!options.input_shapes.empty() && options.input_shapes != shapes) {
    if (!model.impl()->source)
      return api::bad_argument(model.name(), "other input shapes for a compiled program",
                               "compile the model instead");
    shapes = options.input_shapes;
  }
  std::span<const std::uint8_t> file = model.executable();
  std::shared_ptr<const api::ShapedProgram> program;
  if (const auto& source = model.impl()->source) {
    DEPUTY_ASSIGN(program, source->program(shapes));
    file = program->file, impl->note = program->note;
  }
  DEPUTY_ASSIGN(impl->session,
                host_runtime::Session::load(impl->device->device, file, model.name(), with));
  impl->frames.resize(impl->session->frames());
  for (auto& frame : impl->frames) {
    frame.inputs.resize(impl->session->executable().inputs.size());
    frame.outputs.resize(impl->session->executable().outputs.size());
  }
  return Session(std::move(impl));
}

std::vector<TensorInfo> Session::inputs() const {
  return api::tensor_infos(api::executable(*impl_), api::executable(*impl_).inputs);
}
std::vector<TensorInfo> Session::outputs() const {
  return api::tensor_infos(api::executable(*impl_), api::executable(*impl_).outputs);
}

base::Result<BufferRequirements> Session::input_requirements(std::size_t index) const {
  const std::size_t count = api::executable(*impl_).inputs.size();
  if (index >= count) return api::no_such(*impl_, "input", index, count);
  return api::requirements(impl_->session->input_requirements(index));
}

base::Result<BufferRequirements> Session::output_requirements(std::size_t index) const {
  const std::size_t count = api::executable(*impl_).outputs.size();
  if (index >= count) return api::no_such(*impl_, "output", index, count);
  return api::requirements(impl_->session->output_requirements(index));
}

std::string Session::note() const { return impl_->note; }
int Session::frames() const { return static_cast<int>(impl_->frames.size()); }

base::Result<Frame> Session::frame(int index) const {
  if (index < 0 || index >= frames())
    return api::bad_argument(
        impl_->model->name,
        fmt::format("there is no frame {}, the session has {}", index, frames()),
        "load it with more frames");
  return Frame(impl_, static_cast<std::size_t>(index));
}

base::Result<std::vector<std::vector<std::uint8_t>>> Session::run(
    std::span<const std::vector<std::uint8_t>> inputs) const {
  DEPUTY_TRY(impl_->session->run(inputs));
  std::vector<std::vector<std::uint8_t>> out;
  for (const std::uint32_t id : api::executable(*impl_).outputs) {
    DEPUTY_ASSIGN(out.emplace_back(), impl_->session->read_tensor(id));
  }
  return out;
}

RunRecord Session::record() const { return api::run_record(*impl_, impl_->session->record()); }

base::Result<Buffer> Frame::input(std::size_t index) const {
  const std::size_t count = session_->frames[index_].inputs.size();
  if (index >= count) return api::no_such(*session_, "input", index, count);
  return api::make_buffer(session_->device, session_,
                          api::frame_of(*session_, index_).input(index));
}

base::Result<Buffer> Frame::output(std::size_t index) const {
  const std::size_t count = session_->frames[index_].outputs.size();
  if (index >= count) return api::no_such(*session_, "output", index, count);
  return api::make_buffer(session_->device, session_,
                          api::frame_of(*session_, index_).output(index));
}

namespace {

// A session that kept a buffer of its own alive would live for ever.
std::shared_ptr<api::BufferImpl> to_keep(const std::shared_ptr<api::SessionImpl>& session,
                                         const Buffer& buffer) {
  return buffer.impl()->session == session ? nullptr : buffer.impl();
}

base::Status check_bound(const api::SessionImpl& session, const Buffer& buffer) {
  if (!buffer.valid())
    return api::bad_argument(session.model->name, "a buffer of no memory", "create it first");
  if (buffer.impl()->device != session.device)
    return api::bad_argument(session.model->name, "a buffer of another device");
  return {};
}

}  // namespace

base::Status Frame::bind_input(std::size_t index, const Buffer& buffer) const {
  auto& kept = session_->frames[index_].inputs;
  if (index >= kept.size()) return api::no_such(*session_, "input", index, kept.size());
  DEPUTY_TRY(check_bound(*session_, buffer));
  DEPUTY_TRY(api::frame_of(*session_, index_).bind_input(index, buffer.impl()->buffer));
  kept[index] = to_keep(session_, buffer);
  return {};
}

base::Status Frame::bind_output(std::size_t index, const Buffer& buffer) const {
  auto& kept = session_->frames[index_].outputs;
  if (index >= kept.size()) return api::no_such(*session_, "output", index, kept.size());
  DEPUTY_TRY(check_bound(*session_, buffer));
  DEPUTY_TRY(api::frame_of(*session_, index_).bind_output(index, buffer.impl()->buffer));
  kept[index] = to_keep(session_, buffer);
  return {};
}

base::Result<Fence> Frame::submit(const SubmitOptions& options) const {
  host_runtime::SubmitOptions with;
  std::vector<std::weak_ptr<api::TimelineImpl>> timelines;
  DEPUTY_ASSIGN(with.waits, api::runtime_fences(session_->device, options.waits, timelines));
  with.deadline_ps = options.deadline_ps;
  DEPUTY_ASSIGN(auto fence, api::frame_of(*session_, index_).submit(with));
  session_->frames[index_].waits = std::move(timelines);
  return api::make_fence(session_->device, std::move(fence));
}

void Frame::cancel() const { api::frame_of(*session_, index_).cancel(); }
bool Frame::idle() const { return api::frame_of(*session_, index_).idle(); }
RunRecord Frame::record() const {
  return api::run_record(*session_, api::frame_of(*session_, index_).record());
}

}  // namespace deputy
