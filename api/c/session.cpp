// Sessions and frames.
#include <cstring>

#include "api/c/handles.h"
#include "api/handles.h"

using namespace deputy;
using namespace deputy::api::c;

namespace {

deputy_run_record record_of(const RunRecord& r) {
  return {r.start_ps, r.end_ps, r.copied_bytes, r.restarts,
          static_cast<std::uint32_t>(r.degraded.size())};
}
deputy_requirements requirements_of(const BufferRequirements& r) {
  return {r.bytes, r.alignment, static_cast<std::int32_t>(r.kind), r.cached, r.stride};
}

base::Result<Frame> frame_of(const deputy_session* session, std::uint32_t frame) {
  DEPUTY_C_NEED(session);
  return session->value.frame(frame > 1000 ? -1 : static_cast<int>(frame));
}

}  // namespace

extern "C" {

void deputy_session_options_init(deputy_session_options* options) {
  if (!options) return;
  *options = {};
  options->struct_bytes = sizeof *options, options->frames = 1;
}

void deputy_submit_options_init(deputy_submit_options* options) {
  if (!options) return;
  *options = {};
  options->struct_bytes = sizeof *options, options->deadline_ps = DEPUTY_NO_DEADLINE;
}

deputy_status deputy_session_load(const deputy_device* device, const deputy_model* model,
                                  const deputy_session_options* options, deputy_session** session) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(device);
    DEPUTY_C_NEED(model);
    DEPUTY_C_NEED(session);
    DEPUTY_ASSIGN(const auto o, options_or_default(options, deputy_session_options_init));
    SessionOptions with;
    with.frames = o.frames > 1000 ? -1 : static_cast<int>(o.frames);
    if (o.context) with.context = o.context->value;
    if (o.input_ranks) {
      DEPUTY_C_NEED(o.input_dims);
      const std::int32_t* dims = o.input_dims;
      for (std::size_t i = 0; i < model->inputs.size(); dims += o.input_ranks[i], ++i) {
        if (o.input_ranks[i] > DEPUTY_MAX_RANK)
          return api::bad_argument("input_ranks", "more dimensions than a tensor may have");
        with.input_shapes.emplace_back(dims, dims + o.input_ranks[i]);
      }
    }
    DEPUTY_ASSIGN(auto made, Session::load(device->value, model->value, with));
    *session = new deputy_session{std::move(made)};
    return {};
  });
}

void deputy_session_destroy(deputy_session* session) { delete session; }

deputy_status deputy_session_run(const deputy_session* session, const deputy_in* inputs,
                                 uint32_t input_count, const deputy_out* outputs,
                                 uint32_t output_count, deputy_run_record* record) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(session);
    DEPUTY_C_NEED(inputs || input_count == 0);
    DEPUTY_C_NEED(outputs || output_count == 0);
    // Before anything runs: a result with no place to go would be lost.
    const auto infos = session->value.outputs();
    if (output_count != infos.size())
      return api::bad_argument("output_count", "the model has another number of outputs");
    for (std::uint32_t i = 0; i < output_count; ++i) {
      DEPUTY_C_NEED(outputs[i].data || infos[i].bytes == 0);
      if (outputs[i].bytes != infos[i].bytes)
        return api::bad_argument(infos[i].name, "the output has another number of bytes");
    }
    std::vector<std::vector<std::uint8_t>> in;
    for (std::uint32_t i = 0; i < input_count; ++i) {
      DEPUTY_C_NEED(inputs[i].data || inputs[i].bytes == 0);
      const auto* bytes = static_cast<const std::uint8_t*>(inputs[i].data);
      in.emplace_back(bytes, bytes + inputs[i].bytes);
    }
    DEPUTY_ASSIGN(const auto out, session->value.run(in));
    for (std::uint32_t i = 0; i < output_count; ++i)
      if (!out[i].empty()) std::memcpy(outputs[i].data, out[i].data(), out[i].size());
    if (record) *record = record_of(session->value.record());
    return {};
  });
}

deputy_status deputy_session_input_requirements(const deputy_session* session, uint32_t index,
                                                deputy_requirements* out) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(session);
    DEPUTY_C_NEED(out);
    DEPUTY_ASSIGN(const auto wanted, session->value.input_requirements(index));
    *out = requirements_of(wanted);
    return {};
  });
}

deputy_status deputy_session_output_requirements(const deputy_session* session, uint32_t index,
                                                 deputy_requirements* out) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(session);
    DEPUTY_C_NEED(out);
    DEPUTY_ASSIGN(const auto wanted, session->value.output_requirements(index));
    *out = requirements_of(wanted);
    return {};
  });
}

deputy_status deputy_frame_input(const deputy_session* session, uint32_t frame, uint32_t index,
                                 deputy_buffer** buffer) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(buffer);
    DEPUTY_ASSIGN(const Frame f, frame_of(session, frame));
    DEPUTY_ASSIGN(auto made, f.input(index));
    *buffer = new deputy_buffer{std::move(made)};
    return {};
  });
}

deputy_status deputy_frame_output(const deputy_session* session, uint32_t frame, uint32_t index,
                                  deputy_buffer** buffer) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(buffer);
    DEPUTY_ASSIGN(const Frame f, frame_of(session, frame));
    DEPUTY_ASSIGN(auto made, f.output(index));
    *buffer = new deputy_buffer{std::move(made)};
    return {};
  });
}

deputy_status deputy_frame_bind_input(const deputy_session* session, uint32_t frame, uint32_t index,
                                      const deputy_buffer* buffer) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(buffer);
    DEPUTY_ASSIGN(const Frame f, frame_of(session, frame));
    return f.bind_input(index, buffer->value);
  });
}

deputy_status deputy_frame_bind_output(const deputy_session* session, uint32_t frame,
                                       uint32_t index, const deputy_buffer* buffer) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(buffer);
    DEPUTY_ASSIGN(const Frame f, frame_of(session, frame));
    return f.bind_output(index, buffer->value);
  });
}

deputy_status deputy_frame_submit(const deputy_session* session, uint32_t frame,
                                  const deputy_submit_options* options, deputy_fence** fence) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(fence);
    DEPUTY_ASSIGN(const auto o, options_or_default(options, deputy_submit_options_init));
    DEPUTY_ASSIGN(const Frame f, frame_of(session, frame));
    SubmitOptions with;
    DEPUTY_ASSIGN(with.waits, fences(o.waits, o.wait_count));
    with.deadline_ps = o.deadline_ps;
    DEPUTY_ASSIGN(auto made, f.submit(with));
    *fence = make(std::move(made));
    return {};
  });
}

deputy_status deputy_frame_cancel(const deputy_session* session, uint32_t frame) {
  return guarded([&]() -> base::Status {
    DEPUTY_ASSIGN(const Frame f, frame_of(session, frame));
    f.cancel();
    return {};
  });
}

deputy_status deputy_frame_idle(const deputy_session* session, uint32_t frame, int32_t* idle) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(idle);
    DEPUTY_ASSIGN(const Frame f, frame_of(session, frame));
    *idle = f.idle();
    return {};
  });
}

deputy_status deputy_frame_record(const deputy_session* session, uint32_t frame,
                                  deputy_run_record* record) {
  return guarded([&]() -> base::Status {
    DEPUTY_C_NEED(record);
    DEPUTY_ASSIGN(const Frame f, frame_of(session, frame));
    *record = record_of(f.record());
    return {};
  });
}

}  // extern "C"
