/* Deputy's C interface (C99), over the same objects as the C++ headers beside it, which say more
 * about each of them.
 *
 * Status     Every function that can fail returns a deputy_status: 0 or a kind of error.
 * deputy_last_error() then has the text. On failure outputs are not written, except where a
 * function says so. Handles    belong to the caller until the function deputy_..._destroy(), which
 * takes NULL. They are references: what was made from a handle keeps what it needs alive, so the
 * order of destruction is free. All must be destroyed before the program that was given the port
 * returns. Arguments  NULL where a handle or an output is needed is DEPUTY_ERROR_INPUT. Option
 * structs are set up by their deputy_..._options_init(); NULL for options stands for what that
 * sets. Time       Picoseconds, absolute on deputy_now()'s scale. Only functions that say so block.
 * Threads    Any host thread of the port may use any handle; see docs/api.md. */
#ifndef DEPUTY_DEPUTY_H_
#define DEPUTY_DEPUTY_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t deputy_status;
enum {
  DEPUTY_OK = 0,
  DEPUTY_ERROR_MEMORY = 1,         /* this process is out of memory */
  DEPUTY_ERROR_USAGE = 2,          /* the command line */
  DEPUTY_ERROR_MODEL = 3,          /* a model file is malformed */
  DEPUTY_ERROR_CONFIG = 4,         /* a YAML file, or a SoC that is another one than the model's */
  DEPUTY_ERROR_UNSUPPORTED = 5,    /* well-formed, but no engine takes it */
  DEPUTY_ERROR_HARDWARE_FAULT = 6, /* the hardware reported a fault or did not answer in time */
  DEPUTY_ERROR_IO = 7,             /* a file could not be read or written */
  DEPUTY_ERROR_MISMATCH = 8,       /* the simulator's books do not balance */
  DEPUTY_ERROR_INPUT = 9,          /* an argument: size, shape, index, NULL */
  DEPUTY_ERROR_BUSY = 10,          /* no room now: wait for a fence and try again */
  DEPUTY_ERROR_DEADLINE = 11,      /* the deadline passed */
  DEPUTY_ERROR_CANCELLED = 12      /* the caller gave the work up */
};

/* What the last function of this interface that failed in this thread has to say; valid until the
 * next one that fails. Host threads of the simulated SoC share one thread: read it before the next
 * call. Never NULL. */
const char* deputy_last_error(void);

#define DEPUTY_NO_DEADLINE UINT64_MAX

typedef struct deputy_port deputy_port;     /* the way to the hardware; belongs to who gave it */
typedef struct deputy_target deputy_target; /* what the compiler knows of a SoC */
typedef struct deputy_device deputy_device;
typedef struct deputy_context deputy_context;
typedef struct deputy_model deputy_model;
typedef struct deputy_session deputy_session;
typedef struct deputy_buffer deputy_buffer;
typedef struct deputy_fence deputy_fence;
typedef struct deputy_timeline deputy_timeline;

/* --- The simulated SoC (library deputy::simulator) --- */

typedef struct deputy_simulation_options {
  uint32_t struct_bytes;   /* set by init, as in every struct of options */
  const char* const* sets; /* "key=value" over the SoC's file */
  uint32_t set_count;
  const char* fault_plan; /* a YAML file; NULL: no faults */
  int32_t timing_only;    /* 1: time without values */
} deputy_simulation_options;
void deputy_simulation_options_init(deputy_simulation_options* options);

typedef struct deputy_simulation_report {
  uint64_t end_ps;
  double energy_nj;
  uint64_t faults; /* injected */
} deputy_simulation_report;

/* The program on the simulated host: its status is the simulation's. Port and target are its until
 * it returns. */
typedef deputy_status (*deputy_program)(deputy_port* port, const deputy_target* target, void* user);

/* Builds the SoC of a YAML file (or of a name under configs/soc), runs the program on it and tears
 * it down. Blocks until then. `report` may be NULL. One simulation at a time in a process:
 * DEPUTY_ERROR_BUSY. */
deputy_status deputy_simulate(const char* soc, const deputy_simulation_options* options,
                              deputy_program program, void* user, deputy_simulation_report* report);

/* --- The port: time and host threads --- */

uint64_t deputy_now(deputy_port* port); /* 0 for NULL */
/* Blocks until `time_ps`. */
deputy_status deputy_sleep_until(deputy_port* port, uint64_t time_ps);
/* Starts another host thread, which must be joined before the program returns. */
deputy_status deputy_thread_start(deputy_port* port, void (*body)(void* user), void* user,
                                  uint32_t* thread);
/* Blocks until it has returned; once a thread. */
deputy_status deputy_thread_join(deputy_port* port, uint32_t thread);

/* --- Device, contexts --- */

typedef struct deputy_device_options {
  uint32_t struct_bytes;
  uint32_t ring_entries; /* 16; a power of two from 2 to 256 */
  uint64_t watchdog_ps;  /* 10 ms: between two looks at a silent engine */
  int32_t isolation;     /* 1: an address space for every context */
  /* Recovery, step by step; all 0: the first failure is final. */
  int32_t retries;
  int32_t restart_ring;
  int32_t reset_engine;
  int32_t cpu_fallback;    /* for models compiled with `fallback` */
  int32_t unhealthy_after; /* failed jobs in a row that take an engine out of service; 0: never */
  uint64_t readmit_after_ps;
} deputy_device_options;
void deputy_device_options_init(deputy_device_options* options);
/* Every step of recovery. */
void deputy_device_options_full_recovery(deputy_device_options* options);

enum { DEPUTY_ENGINE_NPU = 0, DEPUTY_ENGINE_DMA = 1 };

deputy_status deputy_device_open(deputy_port* port, const deputy_device_options* options,
                                 deputy_device** device);
void deputy_device_destroy(deputy_device* device);
/* Does what can be done without waiting. */
deputy_status deputy_device_poll(const deputy_device* device);
/* Bytes the CPU has copied into and out of buffers. */
deputy_status deputy_device_copied_bytes(const deputy_device* device, uint64_t* bytes);
deputy_status deputy_device_healthy(const deputy_device* device, int32_t engine, int32_t* healthy);
deputy_status deputy_device_recovery_count(const deputy_device* device, uint32_t* count);

/* Priority 0 to 3, the higher the sooner. NULL for a context elsewhere: the device's default one,
 * of priority 1. */
deputy_status deputy_context_create(const deputy_device* device, uint32_t priority,
                                    deputy_context** context);
void deputy_context_destroy(deputy_context* context);

/* --- Models --- */

enum { DEPUTY_PLACE_AUTO = 0, DEPUTY_PLACE_NPU = 1, DEPUTY_PLACE_CPU = 2 };
enum { DEPUTY_NUMERICS_TFLITE = 0, DEPUTY_NUMERICS_SINGLE = 1, DEPUTY_NUMERICS_FP32 = 2 };
enum { DEPUTY_IO_ARENA = 0, DEPUTY_IO_SRAM = 1, DEPUTY_IO_DRAM = 2 };
enum { DEPUTY_SHAPES_REFUSE = 0, DEPUTY_SHAPES_CPU = 1, DEPUTY_SHAPES_RECOMPILE = 2 };
enum {
  DEPUTY_INT8 = 0,
  DEPUTY_UINT8 = 1,
  DEPUTY_INT16 = 2,
  DEPUTY_INT32 = 3,
  DEPUTY_INT64 = 4,
  DEPUTY_FLOAT32 = 5,
  DEPUTY_FLOAT16 = 6,
  DEPUTY_BOOL = 7,
  DEPUTY_UINT16 = 8,
  DEPUTY_UINT32 = 9,
  DEPUTY_UINT64 = 10,
  DEPUTY_FLOAT64 = 11
};

typedef struct deputy_model_options {
  uint32_t struct_bytes;
  int32_t engine;           /* DEPUTY_PLACE_AUTO */
  int32_t numerics;         /* DEPUTY_NUMERICS_TFLITE */
  int32_t io;               /* DEPUTY_IO_ARENA; only SRAM and DRAM can be bound to buffers */
  int32_t fallback;         /* 0; 1: with programs for the CPU, see cpu_fallback */
  int32_t shapes;           /* DEPUTY_SHAPES_REFUSE */
  const char* cache_folder; /* NULL: none */
  const char* const* quirk_files;
  uint32_t quirk_file_count;
} deputy_model_options;
void deputy_model_options_init(deputy_model_options* options);

#define DEPUTY_MAX_RANK 8
typedef struct deputy_tensor_info {
  const char* name; /* valid as long as the model */
  int32_t type;     /* DEPUTY_INT8 ... */
  uint32_t rank;
  int32_t shape[DEPUTY_MAX_RANK];
  uint64_t bytes;
  float scale; /* 0: not quantised; the first channel's if there are several */
  int32_t zero_point;
} deputy_tensor_info;

/* Compiles the bytes of a TFLite or ONNX file, told apart by how they begin. */
deputy_status deputy_model_compile(const deputy_target* target, const void* file, size_t bytes,
                                   const char* name, const deputy_model_options* options,
                                   deputy_model** model);
/* A program that was compiled earlier. */
deputy_status deputy_model_from_executable(const void* file, size_t bytes, const char* name,
                                           deputy_model** model);
void deputy_model_destroy(deputy_model* model);
/* The program as a file; valid as long as the model. */
deputy_status deputy_model_executable(const deputy_model* model, const void** file, size_t* bytes);
deputy_status deputy_model_counts(const deputy_model* model, uint32_t* inputs, uint32_t* outputs);
deputy_status deputy_model_input(const deputy_model* model, uint32_t index,
                                 deputy_tensor_info* info);
deputy_status deputy_model_output(const deputy_model* model, uint32_t index,
                                  deputy_tensor_info* info);
/* Operators, and how many of them are on the CPU. */
deputy_status deputy_model_placement(const deputy_model* model, uint32_t* operators,
                                     uint32_t* on_cpu);

/* --- Buffers --- */

enum { DEPUTY_SRAM = 0, DEPUTY_DRAM = 1 };
enum { DEPUTY_READ = 0, DEPUTY_WRITE = 1, DEPUTY_READ_WRITE = 2 };

typedef struct deputy_requirements {
  uint64_t bytes;     /* at least */
  uint64_t alignment; /* of the bus address */
  int32_t kind;       /* DEPUTY_SRAM or DEPUTY_DRAM: what the program was compiled for */
  int32_t cached;     /* 1: the CPU computes with it, or may have to; uncached memory is refused */
  uint64_t stride;    /* bytes from one row to the next, see buffer.h; 0: there is one row only */
} deputy_requirements;

typedef struct deputy_memory {
  uint64_t address; /* on the bus */
  uint64_t bytes;
  void* host;       /* the CPU's view */
  uint64_t stride;  /* bytes from one row to the next; 0: it has no rows of its own */
  int32_t uncached; /* 1: the CPU's view goes past its cache, and nothing is maintained; whole cache
                       lines */
} deputy_memory;

deputy_status deputy_buffer_create(const deputy_device* device,
                                   const deputy_requirements* requirements, deputy_buffer** buffer);
/* Memory that somebody else owns and keeps until the buffer and all that uses it are gone. */
deputy_status deputy_buffer_import(const deputy_device* device, const deputy_memory* memory,
                                   deputy_buffer** buffer);
deputy_status deputy_buffer_export(const deputy_buffer* buffer, deputy_memory* memory);
/* DEPUTY_OK when the buffer can be bound where this is required; else DEPUTY_ERROR_INPUT, and the
 * text says why not. */
deputy_status deputy_buffer_fits(const deputy_buffer* buffer,
                                 const deputy_requirements* requirements);
deputy_status deputy_buffer_view(const deputy_buffer* buffer, uint64_t offset, uint64_t bytes,
                                 deputy_buffer** part);
void deputy_buffer_destroy(deputy_buffer* buffer);
/* Copies by the CPU, which are counted. Read: `bytes` must be the buffer's. */
deputy_status deputy_buffer_write(const deputy_buffer* buffer, uint64_t offset, const void* data,
                                  uint64_t bytes);
deputy_status deputy_buffer_read(const deputy_buffer* buffer, void* data, uint64_t bytes);
/* The CPU's view until unmap. */
deputy_status deputy_buffer_map(const deputy_buffer* buffer, int32_t access, void** data,
                                uint64_t* bytes);
deputy_status deputy_buffer_unmap(const deputy_buffer* buffer);
/* A copy by the DMA engine after `wait_count` fences; returns at once. `context` may be NULL. */
deputy_status deputy_copy(const deputy_device* device, const deputy_context* context,
                          const deputy_buffer* to, const deputy_buffer* from,
                          const deputy_fence* const* waits, uint32_t wait_count,
                          deputy_fence** fence);

/* --- Fences and timelines --- */

enum { DEPUTY_PENDING = 0, DEPUTY_REACHED = 1, DEPUTY_FAILED = 2 };

void deputy_fence_destroy(deputy_fence* fence);
deputy_status deputy_fence_state(const deputy_fence* fence, int32_t* state);
/* Blocks until the fence is over or the deadline passes (DEPUTY_ERROR_DEADLINE, and it stays as it
 * is). Every other error is why the fence failed. */
deputy_status deputy_fence_wait(const deputy_fence* fence, uint64_t deadline_ps);
/* Blocks until one of them, all of one device, is over, and answers which. */
deputy_status deputy_fence_wait_any(const deputy_fence* const* fences, uint32_t count,
                                    uint64_t deadline_ps, uint32_t* index);

deputy_status deputy_timeline_create(const deputy_device* device, deputy_timeline** timeline);
/* What waits for it still fails once its fences are destroyed too. */
void deputy_timeline_destroy(deputy_timeline* timeline);
deputy_status deputy_timeline_fence(const deputy_timeline* timeline, uint64_t value,
                                    deputy_fence** fence);
deputy_status deputy_timeline_signal(const deputy_timeline* timeline, uint64_t value);
deputy_status deputy_timeline_fail(const deputy_timeline* timeline);

/* --- Sessions --- */

typedef struct deputy_session_options {
  uint32_t struct_bytes;
  const deputy_context* context; /* NULL: the default one */
  uint32_t frames;               /* 1; up to 8 inferences in flight */
  /* Other shapes than the model's: rank and dimensions of every input, one after the other; NULL:
   * the model's. */
  const uint32_t* input_ranks;
  const int32_t* input_dims;
} deputy_session_options;
void deputy_session_options_init(deputy_session_options* options);

typedef struct deputy_submit_options {
  uint32_t struct_bytes;
  const deputy_fence* const* waits;
  uint32_t wait_count;
  uint64_t deadline_ps; /* DEPUTY_NO_DEADLINE */
} deputy_submit_options;
void deputy_submit_options_init(deputy_submit_options* options);

typedef struct deputy_run_record {
  uint64_t start_ps, end_ps;
  uint64_t copied_bytes; /* by the CPU; deputy_session_run() only */
  uint32_t restarts;     /* times it began again after a fault */
  uint32_t degraded;     /* NPU programs that the CPU computed */
} deputy_run_record;

typedef struct deputy_in {
  const void* data;
  uint64_t bytes;
} deputy_in;
typedef struct deputy_out {
  void* data;
  uint64_t bytes; /* must be the tensor's */
} deputy_out;

deputy_status deputy_session_load(const deputy_device* device, const deputy_model* model,
                                  const deputy_session_options* options, deputy_session** session);
/* Gives up what is in flight and waits for the engines to let go of it. */
void deputy_session_destroy(deputy_session* session);
/* One inference, copied in and out. Blocks. `record` may be NULL. */
deputy_status deputy_session_run(const deputy_session* session, const deputy_in* inputs,
                                 uint32_t input_count, const deputy_out* outputs,
                                 uint32_t output_count, deputy_run_record* record);
deputy_status deputy_session_input_requirements(const deputy_session* session, uint32_t index,
                                                deputy_requirements* out);
deputy_status deputy_session_output_requirements(const deputy_session* session, uint32_t index,
                                                 deputy_requirements* out);

/* Frames, numbered from 0. Buffers are new handles on the frame's memory. */
deputy_status deputy_frame_input(const deputy_session* session, uint32_t frame, uint32_t index,
                                 deputy_buffer** buffer);
deputy_status deputy_frame_output(const deputy_session* session, uint32_t frame, uint32_t index,
                                  deputy_buffer** buffer);
deputy_status deputy_frame_bind_input(const deputy_session* session, uint32_t frame, uint32_t index,
                                      const deputy_buffer* buffer);
deputy_status deputy_frame_bind_output(const deputy_session* session, uint32_t frame,
                                       uint32_t index, const deputy_buffer* buffer);
/* Starts an inference and returns at once. */
deputy_status deputy_frame_submit(const deputy_session* session, uint32_t frame,
                                  const deputy_submit_options* options, deputy_fence** fence);
deputy_status deputy_frame_cancel(const deputy_session* session, uint32_t frame);
deputy_status deputy_frame_idle(const deputy_session* session, uint32_t frame, int32_t* idle);
deputy_status deputy_frame_record(const deputy_session* session, uint32_t frame,
                                  deputy_run_record* record);

#ifdef __cplusplus
}
#endif

#endif /* DEPUTY_DEPUTY_H_ */
