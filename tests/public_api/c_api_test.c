/* The C interface as a C99 program sees it: a network through the simulator, and every promise
 * about errors. */
#include "tests/public_api/c_api_test.h"

#include <stdio.h>
#include <string.h>

#include "deputy/deputy.h"

static int failures;
#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      ++failures;                                                     \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                 \
  } while (0)
#define OK(call)                                                                     \
  do {                                                                               \
    const deputy_status status_ = (call);                                            \
    if (status_ != DEPUTY_OK) {                                                      \
      ++failures;                                                                    \
      fprintf(stderr, "%s:%d: %s: %d %s\n", __FILE__, __LINE__, #call, (int)status_, \
              deputy_last_error());                                                  \
      return status_;                                                                \
    }                                                                                \
  } while (0)

/* A second of simulated time: longer than anything here takes. */
static uint64_t soon(deputy_port* port) { return deputy_now(port) + 1000000000000u; }

static void sleeper(void* user) {
  CHECK(deputy_sleep_until(user, deputy_now(user) + 10000000) == DEPUTY_OK);
}

/* Destroying nothing does nothing. */
static void destroy_nothing(void) {
  deputy_fence_destroy(NULL);
  deputy_timeline_destroy(NULL);
  deputy_buffer_destroy(NULL);
  deputy_session_destroy(NULL);
  deputy_context_destroy(NULL);
  deputy_device_destroy(NULL);
  deputy_model_destroy(NULL);
  deputy_model_options_init(NULL);
}

static deputy_status errors(deputy_port* port, const deputy_target* target,
                            const struct c_api_case* c) {
  deputy_model* model = NULL;
  deputy_device *device = NULL, *second = NULL;
  deputy_model_options unset;
  deputy_requirements odd = {100, 3, DEPUTY_DRAM};
  deputy_buffer* buffer = NULL;

  CHECK(deputy_model_compile(target, NULL, 5, "m", NULL, &model) == DEPUTY_ERROR_INPUT);
  CHECK(strstr(deputy_last_error(), "file") != NULL);
  CHECK(deputy_model_compile(target, "hello", 5, "broken.tflite", NULL, &model) ==
        DEPUTY_ERROR_MODEL);
  CHECK(strstr(deputy_last_error(), "broken.tflite") != NULL);
  CHECK(deputy_model_from_executable("hello", 5, "broken.dexe", &model) == DEPUTY_ERROR_MODEL);
  memset(&unset, 0, sizeof unset);
  CHECK(deputy_model_compile(target, c->tflite, c->tflite_bytes, "m", &unset, &model) ==
        DEPUTY_ERROR_INPUT);
  deputy_model_options_init(&unset);
  unset.engine = 7;
  CHECK(deputy_model_compile(target, c->tflite, c->tflite_bytes, "m", &unset, &model) ==
        DEPUTY_ERROR_INPUT);
  CHECK(model == NULL);

  OK(deputy_device_open(port, NULL, &device));
  CHECK(deputy_device_open(port, NULL, &second) == DEPUTY_ERROR_BUSY);
  CHECK(deputy_buffer_create(device, &odd, &buffer) == DEPUTY_ERROR_INPUT);
  odd.alignment = 64, odd.bytes = (uint64_t)1 << 40;
  CHECK(deputy_buffer_create(device, &odd, &buffer) == DEPUTY_ERROR_CONFIG);
  CHECK(buffer == NULL);
  deputy_device_destroy(device);
  /* The port is free again. */
  OK(deputy_device_open(port, NULL, &second));
  deputy_device_destroy(second);
  return DEPUTY_OK;
}

static deputy_status run(deputy_port* port, const deputy_target* target,
                         const struct c_api_case* c) {
  deputy_model *source = NULL, *model = NULL;
  deputy_device* device = NULL;
  deputy_context* context = NULL;
  deputy_session* session = NULL;
  deputy_session_options with;
  deputy_submit_options submit;
  deputy_buffer *input = NULL, *output = NULL, *part = NULL, *own = NULL, *guest = NULL;
  deputy_requirements wanted;
  deputy_memory memory;
  deputy_fence *ready = NULL, *done = NULL, *late = NULL, *gone = NULL;
  deputy_timeline* timeline = NULL;
  deputy_run_record record;
  deputy_tensor_info info;
  const deputy_fence* waits[2];
  const void* file;
  size_t file_bytes;
  uint32_t inputs, outputs, index, thread;
  int32_t state, idle;
  uint64_t copied;
  unsigned char scores[64];
  deputy_in in;
  deputy_out out;

  OK(deputy_model_compile(target, c->tflite, c->tflite_bytes, "ecg", NULL, &source));
  OK(deputy_model_executable(source, &file, &file_bytes));
  OK(deputy_model_from_executable(file, file_bytes, "ecg", &model));
  deputy_model_destroy(source);
  OK(deputy_model_counts(model, &inputs, &outputs));
  CHECK(inputs == 1 && outputs == 1);
  OK(deputy_model_input(model, 0, &info));
  CHECK(info.type == DEPUTY_INT8 && info.rank == 4 && info.shape[2] == 256 && info.bytes == 256 &&
        info.scale > 0);
  CHECK(deputy_model_input(model, 1, &info) == DEPUTY_ERROR_INPUT);

  OK(deputy_device_open(port, NULL, &device));
  CHECK(deputy_context_create(device, 4, &context) == DEPUTY_ERROR_INPUT);
  OK(deputy_context_create(device, 3, &context));
  deputy_session_options_init(&with);
  with.context = context, with.frames = 2;
  OK(deputy_session_load(device, model, &with, &session));
  deputy_context_destroy(context); /* the session keeps it */

  /* In one call. */
  in.data = c->input, in.bytes = 256;
  out.data = scores, out.bytes = c->output_bytes;
  memset(scores, 0, sizeof scores);
  OK(deputy_session_run(session, &in, 1, &out, 1, &record));
  CHECK(memcmp(scores, c->golden, c->output_bytes) == 0);
  CHECK(record.end_ps > record.start_ps && record.copied_bytes == 256 + c->output_bytes &&
        record.restarts == 0);
  OK(deputy_device_copied_bytes(device, &copied));
  CHECK(copied == record.copied_bytes);
  in.bytes = 255;
  CHECK(deputy_session_run(session, &in, 1, &out, 1, NULL) == DEPUTY_ERROR_INPUT);
  out.bytes = 1;
  CHECK(deputy_session_run(session, &in, 1, &out, 1, NULL) == DEPUTY_ERROR_INPUT);

  /* What a tensor requires, and memory that has it or not. */
  OK(deputy_session_input_requirements(session, 0, &wanted));
  CHECK(wanted.bytes == 256 && wanted.stride == 0);
  OK(deputy_buffer_create(device, &wanted, &own));
  OK(deputy_buffer_fits(own, &wanted));
  OK(deputy_buffer_export(own, &memory));
  CHECK(memory.bytes == 256 && memory.stride == 0 && !memory.uncached);
  memory.stride = 24, memory.uncached = 1;
  OK(deputy_buffer_import(device, &memory, &guest));
  wanted.stride = 16, wanted.cached = 0;
  CHECK(deputy_buffer_fits(guest, &wanted) == DEPUTY_ERROR_INPUT);
  CHECK(strstr(deputy_last_error(), "24 bytes apart") != NULL);
  wanted.stride = 24, wanted.cached = 1;
  CHECK(deputy_buffer_fits(guest, &wanted) == DEPUTY_ERROR_INPUT);
  CHECK(strstr(deputy_last_error(), "uncached") != NULL);
  wanted.cached = 0;
  OK(deputy_buffer_fits(guest, &wanted));
  deputy_buffer_destroy(guest);
  memory.bytes = 100;
  CHECK(deputy_buffer_import(device, &memory, &guest) == DEPUTY_ERROR_INPUT);
  deputy_buffer_destroy(own);

  /* In frames: frame 1 waits for a signal; frame 0 has too little time. */
  OK(deputy_timeline_create(device, &timeline));
  OK(deputy_timeline_fence(timeline, 3, &ready));
  CHECK(deputy_frame_input(session, 2, 0, &input) == DEPUTY_ERROR_INPUT);
  OK(deputy_frame_input(session, 1, 0, &input));
  OK(deputy_frame_output(session, 1, 0, &output));
  OK(deputy_buffer_write(input, 0, c->input, 256));
  waits[0] = ready;
  deputy_submit_options_init(&submit);
  submit.waits = waits, submit.wait_count = 1;
  OK(deputy_frame_submit(session, 1, &submit, &done));
  CHECK(deputy_frame_submit(session, 1, &submit, &late) == DEPUTY_ERROR_BUSY);
  OK(deputy_frame_idle(session, 1, &idle));
  CHECK(!idle);
  deputy_submit_options_init(&submit);
  submit.deadline_ps = deputy_now(port) + 1000;
  OK(deputy_frame_submit(session, 0, &submit, &late));
  waits[0] = done, waits[1] = late;
  OK(deputy_fence_wait_any(waits, 2, soon(port), &index));
  CHECK(index == 1);
  CHECK(deputy_fence_wait(late, soon(port)) == DEPUTY_ERROR_DEADLINE);
  CHECK(deputy_fence_wait(done, deputy_now(port) + 1000000) == DEPUTY_ERROR_DEADLINE);
  OK(deputy_fence_state(done, &state));
  CHECK(state == DEPUTY_PENDING);
  OK(deputy_thread_start(port, sleeper, port, &thread));
  OK(deputy_sleep_until(port, deputy_now(port) + 50000000));
  CHECK(deputy_timeline_signal(timeline, 0) == DEPUTY_ERROR_INPUT);
  OK(deputy_timeline_signal(timeline, 3));
  OK(deputy_thread_join(port, thread));
  OK(deputy_fence_wait(done, soon(port)));
  memset(scores, 0, sizeof scores);
  OK(deputy_buffer_read(output, scores, c->output_bytes));
  CHECK(memcmp(scores, c->golden, c->output_bytes) == 0);
  CHECK(deputy_buffer_view(output, 1, c->output_bytes, &part) == DEPUTY_ERROR_INPUT);

  /* Given up: an end in bounded time, and no result. */
  OK(deputy_timeline_fence(timeline, 9, &gone));
  waits[0] = gone;
  deputy_submit_options_init(&submit);
  submit.waits = waits, submit.wait_count = 1;
  deputy_fence_destroy(done);
  OK(deputy_frame_submit(session, 1, &submit, &done));
  OK(deputy_frame_cancel(session, 1));
  CHECK(deputy_fence_wait(done, soon(port)) == DEPUTY_ERROR_CANCELLED);
  CHECK(deputy_buffer_read(output, scores, c->output_bytes) == DEPUTY_ERROR_INPUT);

  /* In an unfriendly order: the session still waits for a value that nobody will signal. */
  deputy_device_destroy(device);
  deputy_session_destroy(session);
  deputy_model_destroy(model);
  deputy_timeline_destroy(timeline);
  deputy_fence_destroy(ready), deputy_fence_destroy(done), deputy_fence_destroy(late),
      deputy_fence_destroy(gone);
  deputy_buffer_destroy(input), deputy_buffer_destroy(output), deputy_buffer_destroy(part);
  return DEPUTY_OK;
}

static deputy_status program(deputy_port* port, const deputy_target* target, void* user) {
  const struct c_api_case* c = user;
  OK(errors(port, target, c));
  return run(port, target, c);
}

static deputy_status leaves_device_open(deputy_port* port, const deputy_target* target,
                                        void* user) {
  (void)target;
  return deputy_device_open(port, NULL, user);
}

static deputy_status fails_by_itself(deputy_port* port, const deputy_target* target, void* user) {
  (void)port, (void)target, (void)user;
  return 77;
}

int c_api_failures(const struct c_api_case* c) {
  struct c_api_case copy = *c;
  deputy_simulation_report report = {0, 0, 0};
  deputy_device* leaked = NULL;
  failures = 0;
  destroy_nothing();
  CHECK(deputy_simulate("wearable", NULL, program, &copy, &report) == DEPUTY_OK);
  CHECK(report.end_ps > 0 && report.energy_nj > 0 && report.faults == 0);
  CHECK(deputy_simulate("no_such_soc", NULL, program, &copy, NULL) == DEPUTY_ERROR_IO);
  CHECK(strstr(deputy_last_error(), "no_such_soc") != NULL);
  CHECK(deputy_simulate("wearable", NULL, NULL, NULL, NULL) == DEPUTY_ERROR_INPUT);
  CHECK(deputy_simulate("wearable", NULL, fails_by_itself, NULL, NULL) == 77);
  CHECK(deputy_simulate("wearable", NULL, leaves_device_open, &leaked, NULL) == DEPUTY_ERROR_INPUT);
  CHECK(strstr(deputy_last_error(), "still open") != NULL);
  return failures;
}
