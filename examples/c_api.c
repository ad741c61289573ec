/* The same inference from C, in a frame whose end is waited for with a deadline.
 * c_api ECG_FOLDER (workloads/ecg) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "deputy/deputy.h"

struct job {
  unsigned char *tflite, beat[256];
  size_t tflite_bytes;
  signed char scores[5];
};

/* The end of a file, at most `want` bytes of it (0: all). NULL and a message on failure. */
static unsigned char* read_file(const char* folder, const char* name, size_t want, size_t* bytes) {
  char path[1024];
  unsigned char* out = NULL;
  FILE* file;
  long size;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  file = fopen(path, "rb");
  if (file && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) > 0 && (size_t)size >= want) {
    *bytes = want ? want : (size_t)size;
    out = malloc(*bytes);
    if (out &&
        (fseek(file, size - (long)*bytes, SEEK_SET) != 0 || fread(out, 1, *bytes, file) != *bytes))
      free(out), out = NULL;
  }
  if (file) fclose(file);
  if (!out) fprintf(stderr, "cannot read %s\n", path);
  return out;
}

#define TRY(call) \
  if ((status = (call)) != DEPUTY_OK) goto done

static deputy_status program(deputy_port* port, const deputy_target* target, void* user) {
  struct job* job = user;
  deputy_model* model = NULL;
  deputy_device* device = NULL;
  deputy_session* session = NULL;
  deputy_buffer *input = NULL, *output = NULL;
  deputy_fence* fence = NULL;
  deputy_run_record record;
  uint32_t operators, on_cpu;
  deputy_status status;

  TRY(deputy_model_compile(target, job->tflite, job->tflite_bytes, "ecg_beats", NULL, &model));
  TRY(deputy_model_placement(model, &operators, &on_cpu));
  printf("%u operators, %u of them on the CPU\n", (unsigned)operators, (unsigned)on_cpu);
  TRY(deputy_device_open(port, NULL, &device));
  TRY(deputy_session_load(device, model, NULL, &session));
  TRY(deputy_frame_input(session, 0, 0, &input));
  TRY(deputy_frame_output(session, 0, 0, &output));
  TRY(deputy_buffer_write(input, 0, job->beat, sizeof job->beat));
  TRY(deputy_frame_submit(session, 0, NULL, &fence));
  TRY(deputy_fence_wait(fence, deputy_now(port) + 10000000000u)); /* 10 ms */
  TRY(deputy_buffer_read(output, job->scores, sizeof job->scores));
  TRY(deputy_frame_record(session, 0, &record));
  printf("inference: %.1f us\n", (double)(record.end_ps - record.start_ps) / 1e6);
done:
  deputy_fence_destroy(fence);
  deputy_buffer_destroy(output);
  deputy_buffer_destroy(input);
  deputy_session_destroy(session);
  deputy_device_destroy(device);
  deputy_model_destroy(model);
  return status;
}

int main(int argc, char** argv) {
  const char* ecg = argc > 1 ? argv[1] : "workloads/ecg";
  struct job job;
  size_t bytes;
  unsigned char *beat = read_file(ecg, "sample_beat.npy", sizeof job.beat, &bytes), *golden;
  deputy_status status;
  int same;

  golden = read_file(ecg, "golden/sample_beat_tflite.npy", sizeof job.scores, &bytes);
  job.tflite = read_file(ecg, "ecg_beats.tflite", 0, &job.tflite_bytes);
  if (!beat || !golden || !job.tflite) return DEPUTY_ERROR_IO;
  memcpy(job.beat, beat, sizeof job.beat);
  status = deputy_simulate("wearable", NULL, program, &job, NULL);
  if (status != DEPUTY_OK) fprintf(stderr, "error %d: %s\n", (int)status, deputy_last_error());
  same = status == DEPUTY_OK && memcmp(job.scores, golden, sizeof job.scores) == 0;
  if (status == DEPUTY_OK) printf("the scores are %s\n", same ? "the expected ones" : "WRONG");
  free(beat), free(golden), free(job.tflite);
  return status != DEPUTY_OK ? (int)status : same ? 0 : DEPUTY_ERROR_MISMATCH;
}
