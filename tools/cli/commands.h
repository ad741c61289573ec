// What each subcommand does. Every function prints its result to stdout, errors to stderr, and
// returns the process's exit code: 0, or base::ErrorKind's number.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "delegate/optimisations.h"

namespace deputy::tools {

struct CommonOptions {
  std::string soc = "wearable";
  std::vector<std::string> sets;
  std::string engine = "auto";
  std::string numerics = "auto";          ///< by the model's format
  std::vector<std::string> dims, shapes;  ///< NAME=N and INPUT=AxBxC, of ONNX models
  bool strict = false;
  std::vector<std::string> force, deny;
  std::uint64_t min_partition = 1, max_partitions = UINT64_MAX;
  std::uint64_t sram_limit = 0;  ///< bytes of SRAM the compiler may use for tensors; 0: all
  std::string effort = "full";
  std::string io = "arena";
  std::string contract = "cpu";
  bool fallback = false;
  delegate::Optimisations optimisations;
  std::string cache;  ///< folder of compiled programs; empty: none
  std::uint64_t cache_limit = 256 << 20;
  std::vector<std::string> quirks;  ///< files
};

struct RunOptions {
  std::string model;
  std::vector<std::string> inputs, expect;
  std::string output_dir, report;
  std::string html, trace,
      vcd;  ///< files to write: a page, a Perfetto trace, a value change dump; empty: none
  std::string power_trace;       ///< CSV file of power over time; empty: none
  std::string recover = "none";  ///< after a fault: none, or full, the whole ladder
  std::string faults;            ///< a fault plan to inject; empty: none
  bool all_tensors = false, timing_only = false, reproducible = false, quiet = false;
  std::uint64_t seed = 1;
  int frames = 0;  ///< more inferences, in flight, for their timeline
  double frame_period_us = 0,
         frame_jitter_us = 0;  ///< when these come; 0: as fast as they are taken
  int top = 10;
  std::string compare;     ///< switches to turn off in turn, or "all"; empty: an ordinary run
  bool json = false;       ///< print JSON instead of tables
  bool page_data = false;  ///< keep in the report what the page draws beside it
  std::string shape_policy = "refuse";  ///< for inputs of another shape: refuse, cpu or recompile
};

struct CompileCommand {
  std::string model, output;
  std::string dump;      ///< comma list of graph, partition, tiles, memory, stream
  std::string dump_dir;  ///< one file each there; empty: stdout
  std::string explain;   ///< an operator's index or name
  bool json = false;
};

struct ProbeCommand {
  std::string output;  ///< quirk file to write; empty: none
  bool json = false;
};

struct CampaignCommand {
  std::string plan;  ///< YAML
  bool json = false;
  std::string report;                          ///< JSON file to write; empty: none
  std::string findings = "campaign-findings";  ///< folder for the plans of forbidden outcomes
  int jobs = 2;
  std::uint64_t seed = 1;
  std::int64_t injections = 0;  ///< 0: the plan's
  std::int64_t only = -1;       ///< run this one alone and tell all; -1: all
};

struct CheckCommand {
  std::string model;
  bool json = false;
};

struct CheckDataCommand {
  std::string manifest, filter, runtime;
  bool layers = false, verbose = false, json = false;
};

struct CheckOnnxCommand {
  std::string folder, filter;
  bool verbose = false, json = false;
};

struct QuantizeCommand {
  std::string model, output;
  std::vector<std::string> calib;  ///< .npy files or folders of them
  std::uint64_t max_samples = 0;   ///< 0: all
  std::string method = "mse";
  double percentile = 99.99;
  bool per_tensor = false, matrix_per_channel = false, no_bias_correction = false;
  std::string rounding = "nearest";
  std::string equalise = "auto";
  std::string io = "float";
  std::vector<std::string> keep_float;
  bool mixed = false;
  std::vector<std::string> budget;  ///< bytes=PERCENT, cycles=PERCENT, sqnr=DECIBELS
  std::vector<std::string> eval;    ///< samples for the metric; empty: those of calib
  std::string labels, metric;
  std::string calibration;  ///< file to keep the statistics in
  std::string report;       ///< JSON file
  bool json = false, quiet = false;
};

struct NetworkCommand {
  std::string name, output;
  bool json = false;
};

struct BenchCommand {
  std::vector<std::string> models;
  int runs = 5;
  bool json = false;
};

struct RatiosCommand {
  std::string data;  ///< folder with the rows' model files
  std::vector<std::string>
      anchors;  ///< anchor files or names below configs/anchors; empty: both Ethos-U55 ones
  std::string per_layer;  ///< folder with the reference's per-layer tables; may be empty
  bool json = false;
};

struct CiCommand {
  std::string suite;              ///< YAML
  std::string baseline;           ///< JSON; empty: the suite's name with .baseline.json, beside it
  std::string junit, markdown;    ///< files to write; empty: none
  std::vector<std::string> sets;  ///< of every case
  int jobs = 2, top = 5;
  bool json = false, update = false;
};

/// Of `compare` and `explain`: reports that `run --report` wrote.
struct ReportsCommand {
  std::string report, other;
  int top = 10;
  bool json = false;
};

struct ReportCommand {
  std::string report;  ///< JSON, as `run --report` writes it
  std::string html;    ///< page to write; empty: none
  int top = 10;
  bool json = false, quiet = false;
};

struct ExploreCommand {
  std::string experiment;  ///< YAML
  std::string db;  ///< results; empty: the experiment's name with .sqlite, in the working folder
  std::string csv, html;               ///< files to write; empty: none
  std::string method;                  ///< instead of the experiment's
  std::int64_t points = 0, seed = -1;  ///< instead of the experiment's; 0 and -1: the experiment's
  int jobs = 2, top = 20;
  bool json = false, retry = false;
  std::string engine = "local";    ///< where runs happen: local, or slurm: a job array
  int shards = 0;                  ///< slurm: tasks of the array; 0: as many as jobs
  std::string shard;               ///< "2/8": only every eighth point, from the third
  std::vector<std::string> merge;  ///< other results to take over first
};

struct ValidateCommand {
  std::vector<std::string>
      anchors;           ///< files or names below configs/anchors; empty: all of its index
  std::string data;      ///< folder with model files; empty: rows with a built-in network only
  std::string baseline;  ///< empty: the project's
  bool quick = false, json = false;
  bool update = false;  ///< write baseline and pages
};

struct SweepCommand {
  std::string model;
  std::vector<std::int64_t> kib = {16, 32, 64, 96, 128, 192, 256, 384};
  bool json = false;
};

struct RuntimeBenchCommand {
  std::string soc;  ///< for all cases; empty: wearable, and imaging for the camera
  bool json = false;
  std::string report;  ///< JSON file to write; empty: none
  int frames = 16;
  std::vector<std::string> cases;  ///< some of ecg, kws, camera; empty: all
};

struct CopyBenchCommand {
  std::string soc;  ///< empty: wearable and imaging
  bool json = false;
  std::string report;  ///< JSON file to write; empty: none
};

struct DspCommand {
  std::string file;  ///< .dsp, .dspx or, for `dsp`, the name of a kernel
  std::string output;
  std::vector<std::string> parameters;  ///< NAME=VALUE
  std::vector<std::string> arguments;   ///< r1, r2, ...
  std::vector<std::string> loads;       ///< ADDRESS=FILE
  std::vector<std::string> dumps;       ///< ADDRESS:BYTES=FILE
  std::uint64_t cycles = 1'000'000'000;
  bool listing = false, trace = false, json = false;
};

struct EngineBenchCommand {
  bool json = false;
  std::string report;  ///< JSON file to write; empty: none
};

struct StreamCommand {
  std::string scenario;
  std::string soc;                        ///< in the place of the scenario's; empty: its
  std::vector<std::string> with;          ///< KEY=VALUE of the scenario
  std::string faults, decisions, report;  ///< files; empty: none
  std::string signal, labels;             ///< files to write the signal to; then nothing runs
  bool json = false, reproducible = false, compare = false;
};

int engine_bench_command(const CommonOptions& common, const EngineBenchCommand& command);
int run_command(const CommonOptions& common, const RunOptions& options);
int compile_command(const CommonOptions& common, const CompileCommand& options);
int disasm_command(const CommonOptions& common, const std::string& file, bool json);
int disasm_dsp_command(const std::string& file, bool json);
int asm_command(const CommonOptions& common, const DspCommand& command);
int dsp_command(const CommonOptions& common, const DspCommand& command);
int stream_command(const CommonOptions& common, const StreamCommand& command);
int inspect_command(const CommonOptions& common, const std::string& model, bool json);
/// Exit code 8 when the model breaks the NPU's quantisation contract.
int check_command(const CommonOptions& common, const CheckCommand& options);
int check_data_command(const CommonOptions& common, const CheckDataCommand& options);
/// Exit code 8 when a case is wrong.
int check_onnx_command(const CommonOptions& common, const CheckOnnxCommand& options);
int quantize_command(const CommonOptions& common, const QuantizeCommand& options);
int list_command(const std::string& what, bool json);
int network_command(const NetworkCommand& options);
int bench_command(const CommonOptions& common, const BenchCommand& options);
/// what: list, verify (exit code 8 when an entry is damaged) or prune to common.cache_limit.
int cache_command(const CommonOptions& common, const std::string& what, const std::string& folder,
                  bool json);
/// Exit code 8 when something happened that may not.
int campaign_command(const CommonOptions& common, const CampaignCommand& options);
/// Exit code 8 when the NPU is wrong somewhere.
int probe_command(const CommonOptions& common, const ProbeCommand& options);
int sram_sweep_command(const CommonOptions& common, const SweepCommand& options);
int runtime_bench_command(const CommonOptions& common, const RuntimeBenchCommand& options);
int copy_bench_command(const CommonOptions& common, const CopyBenchCommand& options);
int ratios_command(const CommonOptions& common, const RatiosCommand& options);
/// Tries what an installation needs. Exit code of the first check that fails.
int doctor_command(bool json);
/// Exit codes of its own: 0 as the baseline, 1 something moved or a case failed, 2 it could not be
/// found out.
int ci_command(const CiCommand& command);
/// Exit code 8 when a point crashed, hung or failed, 5 when every point was refused.
int explore_command(const ExploreCommand& command);
int compare_command(const ReportsCommand& command);
int explain_command(const ReportsCommand& command);
int report_command(const ReportCommand& command);
/// Exit code 8 when a row departs from the baseline.
int validate_command(const ValidateCommand& command);
/// Writes the pages to `folder`, the SystemVerilog headers to `rtl_folder`.
int reference_command(const std::string& folder, const std::string& rtl_folder);

/// Prints "deputy: <error>" to stderr and returns its exit code.
int fail(const base::Error& error);
/// 0, or fail() with the error.
int finish(const base::Status& status);

}  // namespace deputy::tools
