// The command line. It only parses: each command is a function of tools/cli/commands.h.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "explore/methods.h"
#include "tools/cli/commands.h"
#include "tools/cli/common.h"
#include "tools/main/describe.h"
#include "tools/main/options.h"

using deputy::tools::add_cache_options, deputy::tools::add_compile_options, deputy::tools::add_json, deputy::tools::add_report, deputy::tools::add_soc_options;

// libsystemc brings a main() of its own that would call this; ours is used instead.
extern "C" int sc_main(int, char**) { return 0; }

int main(int argc, char** argv) {
  CLI::App app{"Deputy: run neural networks on a virtual system-on-chip"};
  app.require_subcommand(1);
  app.set_version_flag("--version", DEPUTY_VERSION);
  deputy::tools::CommonOptions common;

  deputy::tools::RunOptions run;
  auto* run_cmd = app.add_subcommand("run", "Compile a model, run it on the SoC, report time and energy");
  run_cmd->add_option("model", run.model, ".tflite or .onnx model, or .dexe from 'deputy compile'")->required();
  add_compile_options(run_cmd, common);
  add_cache_options(run_cmd, common);
  run_cmd->add_option("--input", run.inputs, "input file, .npy or raw .bin, in graph order (repeatable)")->take_all();
  run_cmd->add_option("--shape-policy", run.shape_policy, "when an .npy input has another shape than the model: refuse, cpu (run all of it there) or recompile")
      ->check(CLI::IsMember({"refuse", "cpu", "recompile"}))
      ->capture_default_str();
  run_cmd->add_option("--expect", run.expect, "expected output file, .npy or raw .bin, in graph order; a difference is exit code 8")
      ->take_all();
  run_cmd->add_option("--output-dir", run.output_dir, "write outputs as output0.npy, output1.npy, ...");
  run_cmd->add_flag("--all-tensors", run.all_tensors, "also write every tensor as tensor<index>.npy; needs --output-dir");
  run_cmd->add_flag("--timing-only", run.timing_only, "simulate time and energy, compute no values");
  run_cmd->add_option("--seed", run.seed, "seed for inputs that are not given")->capture_default_str();
  run_cmd->add_option("--frames", run.frames, "afterwards run so many inferences, up to three in flight, and print when each engine worked")
      ->check(CLI::Range(1, 10000));
  run_cmd->add_option("--frame-period", run.frame_period_us, "with --frames: microseconds from one to the next; says how long results take then (default: as fast as they are taken)")
      ->check(CLI::Range(0.0, 1e9));
  run_cmd->add_option("--frame-jitter", run.frame_jitter_us, "each frame comes late by up to so many microseconds, drawn evenly")->check(CLI::Range(0.0, 1e9));
  run_cmd->add_option("--report", run.report, "write the report as JSON; the effective SoC goes to the same name with .soc.yaml");
  run_cmd->add_flag("--page-data", run.page_data, "keep in the report what the page needs, so that 'deputy report' can make it later");
  run_cmd->add_option("--html", run.html, "write the run as one HTML page: timeline, layers, roofline, energy, memory, power (docs/reports.md)");
  run_cmd->add_option("--trace", run.trace, "write a Perfetto trace (.pftrace, for ui.perfetto.dev) of every command, fence and interrupt");
  run_cmd->add_option("--vcd", run.vcd, "write interrupt lines, doorbells, busy units and queue fills as a value change dump");
  run_cmd->add_option("--power-trace", run.power_trace, "write power over time as CSV; its interval is power.trace_us")->group("Power");
  run_cmd->add_option("--faults", run.faults, "inject the hardware faults of this plan (docs/faults.md); a run that fails still prints and writes its report");
  run_cmd->add_option("--recover", run.recover, "after a fault: none, or full: retry, restart the ring, reset the engine, degrade to the CPU (docs/recovery.md)")
      ->check(CLI::IsMember({"none", "full"}))
      ->capture_default_str();
  run_cmd->add_flag("--reproducible", run.reproducible, "leave the wall-clock field out of the report");
  run_cmd->add_option("--top", run.top, "operators to show in the table")->capture_default_str();
  run_cmd->add_flag("--quiet", run.quiet, "print only errors");
  run_cmd->add_flag("--json", run.json, "print JSON instead of tables");
  run_cmd->add_option("--compare", run.compare, "run again with each of these optimisations off and print what it is worth: no-fusion,no-cascade,... or all");
  run_cmd->footer("Examples: deputy run model.tflite --soc wearable --top 20\n          deputy run model.tflite --compare no-fusion,no-double-buffer --timing-only\n"
                  "          deputy run model.tflite --timing-only --frames 20 --frame-period 2000");

  deputy::tools::CompileCommand compile;
  auto* compile_cmd = app.add_subcommand("compile", "Compile a model to an executable file");
  compile_cmd->add_option("model", compile.model, ".tflite model")->required();
  compile_cmd->add_option("-o,--output", compile.output, "executable to write (default: MODEL.dexe)");
  compile_cmd->add_option("--dump", compile.dump, "print what the compiler made: some of graph,partition,tiles,memory,stream, or all; without -o no executable is written");
  compile_cmd->add_option("--dump-dir", compile.dump_dir, "write each dump to NAME.txt in this folder instead");
  compile_cmd->add_option("--explain", compile.explain, "print everything known about one operator, by index or name");
  compile_cmd->add_flag("--json", compile.json, "print what was made as JSON");
  compile_cmd->footer("Examples: deputy compile model.tflite --dump=tiles,memory\n          deputy compile model.tflite --explain 5");
  add_compile_options(compile_cmd, common);
  add_cache_options(compile_cmd, common);

  bool plain_json = false;  // of commands without options to keep
  std::string disasm_file;
  auto* disasm_cmd = app.add_subcommand("disasm", "Print the NPU programs of an executable or a model, or a DSP program");
  disasm_cmd->add_option("file", disasm_file, ".dexe, .tflite or .dspx")->required();
  add_compile_options(disasm_cmd, common);
  add_json(disasm_cmd, plain_json);

  deputy::tools::DspCommand dsp;
  auto* asm_cmd = app.add_subcommand("asm", "Assemble a DSP program (docs/dsp.md)");
  asm_cmd->add_option("file", dsp.file, ".dsp source")->required();
  asm_cmd->add_option("-o,--output", dsp.output, "program to write (default: FILE.dspx)");
  asm_cmd->add_flag("--listing", dsp.listing, "print the packets; without -o no program is written");
  asm_cmd->footer("Example: deputy asm mine.dsp --listing");
  auto* dsp_cmd = app.add_subcommand("dsp", "Run a DSP program, or a kernel's cases, on the model alone");
  dsp_cmd->add_option("program", dsp.file, ".dsp source, .dspx program, or the name of a kernel")->required();
  dsp_cmd->add_option("--arg", dsp.arguments, "value of r1, then r2, ... (repeatable)");
  dsp_cmd->add_option("--load", dsp.loads, "ADDRESS=FILE: put a file's bytes into the data memory (repeatable)");
  dsp_cmd->add_option("--dump", dsp.dumps, "ADDRESS:BYTES=FILE: write data memory to a file afterwards (repeatable)");
  dsp_cmd->add_option("--cycles", dsp.cycles, "cycles at most")->capture_default_str();
  std::string trace_what;
  dsp_cmd->add_option("--trace", trace_what, "dsp: print each packet with its cycle and its stalls")->check(CLI::IsMember({"dsp"}));
  dsp_cmd->footer("Examples: deputy dsp fir --trace=dsp\n          deputy dsp mine.dsp --arg 0x1000 --load 0x1000=x.bin --dump 0x2000:256=y.bin");
  for (auto* command : {asm_cmd, dsp_cmd}) {
    add_soc_options(command, common);
    add_json(command, dsp.json);
    command->add_option("--param", dsp.parameters, "NAME=VALUE for the source's .param NAME (repeatable)");
  }

  disasm_cmd->footer("Examples: deputy disasm model.tflite\n          deputy disasm model.tflite --json");

  std::string inspect_model;
  auto* inspect_cmd = app.add_subcommand("inspect", "Print graph, placement with reasons, and memory plan");
  inspect_cmd->add_option("model", inspect_model, ".tflite model")->required();
  add_json(inspect_cmd, plain_json);
  add_compile_options(inspect_cmd, common);

  inspect_cmd->footer("Examples: deputy inspect model.tflite\n          deputy inspect model.tflite --soc ethos-u55-128-like --json");

  deputy::tools::CheckCommand contract;
  auto* contract_cmd = app.add_subcommand("check", "List what in a model is not as the NPU wants it quantised, with the remedy");
  contract_cmd->add_option("model", contract.model, ".tflite or .onnx model")->required();
  contract_cmd->add_flag("--json", contract.json, "print JSON");
  add_compile_options(contract_cmd, common);
  contract_cmd->footer("Example: deputy check model.tflite --soc wearable");

  deputy::tools::CheckDataCommand check;
  auto* check_cmd = app.add_subcommand("check-data", "Run a manifest of golden cases and count equal tensors");
  check_cmd->add_option("manifest", check.manifest, "manifest.json")->required();
  add_compile_options(check_cmd, common);
  check_cmd->add_option("--filter", check.filter, "only cases whose name contains this");
  check_cmd->add_option("--runtime", check.runtime, "golden set to compare with: tflm, tfjs, xnnpack (default: by numerics); ort: the ONNX models");
  check_cmd->add_flag("--layers", check.layers, "also compare intermediate tensors");
  check_cmd->add_flag("--json", check.json, "print JSON: every case with its tensors");
  check_cmd->add_flag("--verbose", check.verbose, "print every case");

  check_cmd->footer("Example: deputy check-data ../shared/data/manifest.json --layers");

  deputy::tools::CheckOnnxCommand check_onnx;
  auto* onnx_cmd = app.add_subcommand("check-onnx", "Run ONNX's node tests on the SoC; exit code 8 when one is wrong");
  onnx_cmd->add_option("folder", check_onnx.folder, "folder of cases")->default_val("/usr/share/libonnx-testdata/data/node");
  add_compile_options(onnx_cmd, common);
  onnx_cmd->add_option("--filter", check_onnx.filter, "only cases whose name contains this");
  onnx_cmd->add_flag("--json", check_onnx.json, "print JSON: every case");
  onnx_cmd->add_flag("--verbose", check_onnx.verbose, "print every case");

  onnx_cmd->footer("Example: deputy check-onnx --filter test_relu --json");

  deputy::tools::QuantizeCommand quantize;
  auto* quantize_cmd = app.add_subcommand("quantize", "Make an int8 model of a float one, by calibration (docs/quantisation.md)");
  quantize_cmd->add_option("model", quantize.model, ".onnx or .tflite model in float32")->required();
  quantize_cmd->add_option("--calib", quantize.calib, "samples: .npy files, or folders of them; INPUT=PATH where the model has several inputs")->required();
  quantize_cmd->add_option("-o,--output", quantize.output, "file to write: .onnx (QDQ) or .tflite")->required();
  quantize_cmd->add_option("--max-samples", quantize.max_samples, "calibrate with the first so many only");
  quantize_cmd->add_option("--method", quantize.method, "how ranges follow from samples; auto: the one that loses least on some of them")
      ->check(CLI::IsMember({"auto", "minmax", "average", "percentile", "entropy", "mse"}))
      ->capture_default_str();
  quantize_cmd->add_option("--percentile", quantize.percentile, "for --method percentile: values kept, in percent")->check(CLI::Range(50.0, 100.0))->capture_default_str();
  quantize_cmd->add_flag("--per-tensor", quantize.per_tensor, "one scale for a layer's weights, not one for each output channel");
  quantize_cmd->add_flag("--matrix-per-channel", quantize.matrix_per_channel, "a scale for each row of matrices too, as always in .onnx; older TFLite runtimes refuse it");
  quantize_cmd->add_flag("--no-bias-correction", quantize.no_bias_correction, "leave the shift of means by rounded weights in");
  quantize_cmd->add_option("--equalise", quantize.equalise, "balance the weights of neighbouring layers by channel; auto: where the first samples gain by it")
      ->check(CLI::IsMember({"auto", "on", "off"}))
      ->capture_default_str();
  quantize_cmd->add_option("--io", quantize.io, "type of the model's inputs and outputs: float or int8")->check(CLI::IsMember({"float", "int8"}))->capture_default_str();
  quantize_cmd->add_option("--keep-float", quantize.keep_float, "operators that stay in floats, by kind (CONV_2D, Conv), by their name in the model or by that of their result; a trailing * stands for any rest (repeatable)");
  auto* mixed = quantize_cmd->add_flag("--mixed", quantize.mixed, "keep the results that gain most in int16 (16x8 operators), within --budget");
  quantize_cmd->add_option("--budget", quantize.budget, "for --mixed: bytes=PERCENT or cycles=PERCENT more than int8, or sqnr=DECIBELS of the outputs to stop at (repeatable; all hold)")->take_all()->needs(mixed);
  quantize_cmd->add_option("--eval", quantize.eval, "samples for the metric, like --calib (default: those of --calib)");
  quantize_cmd->add_option("--labels", quantize.labels, ".npy file with a label for each sample, or 'input': the sample itself");
  quantize_cmd->add_option("--metric", quantize.metric, "figure to compare: top1, auc, anomaly-auc, mae or dice")->check(CLI::IsMember({"top1", "auc", "anomaly-auc", "mae", "dice"}));
  quantize_cmd->add_option("--calibration", quantize.calibration, "file to keep the statistics in, and to take them from; otherwise OUTPUT.calibration until the model is written");
  quantize_cmd->add_option("--report", quantize.report, "also write the report as JSON");
  quantize_cmd->add_flag("--json", quantize.json, "print JSON instead of tables");
  quantize_cmd->add_flag("--quiet", quantize.quiet, "leave out the table of layers");
  quantize_cmd->add_option("--numerics", common.numerics, "rounding that the report's int8 figures follow; auto: fp32 for .onnx, tflite for .tflite")
      ->check(CLI::IsMember(deputy::tools::words_of("numerics")))
      ->capture_default_str();
  quantize_cmd->add_option("--dim", common.dims, "size of an open dimension of an ONNX model: batch=1 (repeatable)")->take_all();
  quantize_cmd->add_option("--shape", common.shapes, "shape of an ONNX model's input: image=1x3x32x32 (repeatable)")->take_all();
  add_soc_options(quantize_cmd, common);
  quantize_cmd->footer("Example: deputy quantize model.onnx --dim batch=1 --calib samples.npy -o model_int8.tflite --eval test_x.npy --labels test_y.npy --metric top1");

  deputy::tools::ProbeCommand probe;
  auto* probe_cmd = app.add_subcommand("probe", "Test the SoC's NPU operator by operator against the CPU; exit code 8 when it is wrong");
  add_soc_options(probe_cmd, common);
  probe_cmd->add_option("--out", probe.output, "write what was found as a quirk file for --quirks");
  probe_cmd->add_flag("--json", probe.json, "print JSON");
  probe_cmd->footer("Example: deputy probe --soc wearable --set silicon.defect=dw-stride2 --out found.yaml");

  deputy::tools::CampaignCommand campaign;
  auto* campaign_cmd = app.add_subcommand("campaign", "Run networks with faults drawn from a plan; exit code 8 when something happens that may not");
  campaign_cmd->add_option("plan", campaign.plan, "campaign YAML (docs/recovery.md)")->required();
  add_soc_options(campaign_cmd, common);
  add_report(campaign_cmd, campaign.json, campaign.report);
  campaign_cmd->add_option("--findings", campaign.findings, "folder for a fault plan of each forbidden outcome")->capture_default_str();
  campaign_cmd->add_option("--jobs", campaign.jobs, "worker processes; results do not depend on it")->check(CLI::Range(1, 256))->capture_default_str();
  campaign_cmd->add_option("--seed", campaign.seed, "seed of the draw")->capture_default_str();
  campaign_cmd->add_option("--injections", campaign.injections, "instead of the plan's number")->check(CLI::Range(1, 10000000));
  campaign_cmd->add_option("--only", campaign.only, "run only this one, and print its fault and every recovery step");
  campaign_cmd->footer("Example: deputy campaign configs/campaigns/short.yaml --injections 40 --jobs 2 --report out.json");

  std::string cache_what, cache_folder;
  auto* cache_cmd = app.add_subcommand("cache", "List, verify or prune a folder of compiled programs");
  cache_cmd->add_option("what", cache_what, "list, verify or prune")->required()->check(CLI::IsMember({"list", "verify", "prune"}));
  cache_cmd->add_option("folder", cache_folder, "what --cache was given")->required();
  cache_cmd->add_option("--cache-limit", common.cache_limit, "prune: bytes to keep")->transform(CLI::AsSizeValue(false))->capture_default_str();

  cache_cmd->footer("Examples: deputy run model.tflite --cache programs\n          deputy cache verify programs --json");
  add_json(cache_cmd, plain_json);

  std::string what;
  auto* list_cmd = app.add_subcommand("list", "Print a table: ops, params, stats, registers, instructions or networks");
  list_cmd->add_option("what", what, "which table")
      ->required()
      ->check(CLI::IsMember({"ops", "params", "stats", "registers", "instructions", "dsp-instructions", "networks"}));

  list_cmd->footer("Examples: deputy list params\n          deputy list networks --json");
  add_json(list_cmd, plain_json);

  deputy::tools::NetworkCommand network;
  auto* network_cmd = app.add_subcommand("network", "Write one of the built-in networks as .tflite");
  network_cmd->add_option("name", network.name, "see 'deputy list networks'")->required();
  network_cmd->add_option("-o,--output", network.output, "file to write (default: NAME.tflite)");

  add_json(network_cmd, network.json);
  network_cmd->footer("Example: deputy network ds_cnn -o kws.tflite");

  deputy::tools::BenchCommand bench;
  auto* bench_cmd = app.add_subcommand("bench", "Measure simulation speed: wall time, MAC/s, cycles/s");
  bench_cmd->add_option("models", bench.models, "models (default: the built-in networks)");
  bench_cmd->add_option("--runs", bench.runs, "runs of each, the fastest counts")->check(CLI::Range(1, 1000))->capture_default_str();
  bench_cmd->add_flag("--json", bench.json, "print JSON instead of a table");
  add_compile_options(bench_cmd, common);
  bench_cmd->require_subcommand(0, 1);
  bench_cmd->footer("Example: deputy bench ecg_tcn model.tflite --runs 3 --json");
  deputy::tools::RatiosCommand ratios;
  auto* ratios_cmd = bench_cmd->add_subcommand("ratios", "Print our NPU cycles beside outside references, and the layers that make the difference");
  ratios_cmd->add_option("data", ratios.data, "folder with the model files")->required();
  ratios_cmd->add_option("--anchors", ratios.anchors, "anchor file, or a name under configs/anchors (repeatable; default: ethos-u55-128 and ethos-u55-256)")
      ->take_all();
  ratios_cmd->add_option("--per-layer", ratios.per_layer, "folder with the reference's per-layer tables");
  ratios_cmd->add_flag("--json", ratios.json, "print JSON");
  add_compile_options(ratios_cmd, common);
  ratios_cmd->footer("Example: deputy bench ratios ../shared/data/models --per-layer ../shared/reference/per_layer");

  deputy::tools::SweepCommand sweep;
  auto* sweep_cmd = bench_cmd->add_subcommand("sram-sweep", "Print DRAM bytes of feature maps and NPU cycles for growing SRAM limits");
  sweep_cmd->add_option("model", sweep.model, ".tflite model")->required();
  sweep_cmd->add_option("--kib", sweep.kib, "SRAM limits in KiB")->delimiter(',')->check(CLI::Range(1, 1 << 20))->capture_default_str();
  sweep_cmd->add_flag("--json", sweep.json, "print JSON");
  add_compile_options(sweep_cmd, common);
  sweep_cmd->footer("Example: deputy bench sram-sweep model.tflite --soc ethos-u55-128-like --kib 16,64,384");

  deputy::tools::RuntimeBenchCommand runtime;
  auto* runtime_cmd = bench_cmd->add_subcommand("runtime", "Stream frames from a sensor: synchronous or in flight, copied, mapped or in place");
  runtime_cmd->add_option("--soc", runtime.soc, "SoC for every case (default: wearable, and imaging for the camera)");
  runtime_cmd->add_option("--set", common.sets, "override one key of the SoC (repeatable)")->take_all();
  runtime_cmd->add_option("--case", runtime.cases, "only some of ecg, kws and camera (repeatable)")->check(CLI::IsMember({"ecg", "kws", "camera"}));
  runtime_cmd->add_option("--frames", runtime.frames, "frames of each run")->check(CLI::Range(4, 100000))->capture_default_str();
  add_report(runtime_cmd, runtime.json, runtime.report);
  runtime_cmd->footer("Example: deputy bench runtime --case ecg --frames 16 --report runtime.json");

  deputy::tools::CopyBenchCommand copies;
  auto* copies_cmd = bench_cmd->add_subcommand("copies", "Print what cache maintenance of a range costs, and copies of it by CPU and DMA engine, as it grows");
  copies_cmd->add_option("--soc", copies.soc, "one SoC (default: wearable and imaging)");
  copies_cmd->add_option("--set", common.sets, "override one key of the SoC (repeatable)")->take_all();
  add_report(copies_cmd, copies.json, copies.report);
  copies_cmd->footer("Example: deputy bench copies --soc imaging --set host.maintenance_line=0");
  deputy::tools::EngineBenchCommand engines;
  auto* engines_cmd = bench_cmd->add_subcommand("engines", "Print what operators and kernels cost on CPU, DSP and NPU, and which engine the scheduler takes");
  engines_cmd->add_option("--soc", common.soc, "SoC file or name")->capture_default_str();
  engines_cmd->add_option("--set", common.sets, "override one key of the SoC (repeatable)")->take_all();
  add_report(engines_cmd, engines.json, engines.report);
  engines_cmd->footer("Example: deputy bench engines --set dsp.present=true");
  deputy::tools::CiCommand ci;
  auto* ci_cmd = app.add_subcommand("ci", "Run a suite of networks and SoCs and hold outputs, cycles, energy and traffic against a baseline");
  ci_cmd->add_option("suite", ci.suite, "suite YAML (docs/ci.md)")->required();
  ci_cmd->add_option("--baseline", ci.baseline, "what to hold the suite against (default: SUITE.baseline.json beside the suite)");
  ci_cmd->add_flag("--update-baseline", ci.update, "write the baseline instead, when every case runs");
  ci_cmd->add_option("--junit", ci.junit, "write JUnit XML to this file");
  ci_cmd->add_option("--markdown", ci.markdown, "write a summary in markdown to this file");
  ci_cmd->add_option("--set", ci.sets, "override one key of every case's SoC (repeatable)")->take_all();
  ci_cmd->add_option("--jobs", ci.jobs, "worker processes; results do not depend on it")->check(CLI::Range(1, 256))->capture_default_str();
  ci_cmd->add_option("--top", ci.top, "layers to name for each case")->check(CLI::Range(1, 100000))->capture_default_str();
  ci_cmd->add_flag("--json", ci.json, "print JSON instead of tables");
  ci_cmd->footer("Exit code 0: all as in the baseline; 1: something moved, or a case failed; 2: suite, baseline or command line cannot be used.\n"
                 "Example: deputy ci configs/ci/wearable.yaml --junit ci.xml --markdown ci.md");

  deputy::tools::ReportsCommand reports;
  deputy::tools::ReportCommand report;
  auto* report_cmd = app.add_subcommand("report", "Print the report of an earlier run, or make its HTML page, without simulating");
  report_cmd->add_option("report", report.report, "report, of run --report FILE.json")->required();
  report_cmd->add_option("--html", report.html, "write the page, too; the run must have kept its data (run --page-data)");
  report_cmd->add_option("--top", report.top, "operators to show in the table")->capture_default_str();
  report_cmd->add_flag("--quiet", report.quiet, "print only errors");
  add_json(report_cmd, report.json);
  report_cmd->footer("Examples: deputy run model.tflite --report a.json --page-data\n          deputy report a.json --top 3 --html a.html");

  auto* compare_cmd = app.add_subcommand("compare", "Compare two reports of 'deputy run': totals, and the layers that changed and why");
  compare_cmd->add_option("before", reports.report, "report, of run --report FILE.json")->required();
  compare_cmd->add_option("now", reports.other, "another")->required();
  compare_cmd->add_option("--top", reports.top, "layers to name")->check(CLI::Range(0, 1000000))->capture_default_str();
  compare_cmd->add_flag("--json", reports.json, "print JSON instead of tables");
  compare_cmd->footer("What each optimisation of the compiler is worth: deputy run --compare.\n"
                      "Examples: deputy run model.tflite --report a.json\n          deputy run model.tflite --set noc.width_bytes=4 --report b.json\n          deputy compare a.json b.json --top 5");
  auto* explain_cmd = app.add_subcommand("explain", "Say what holds a run up, what to change first, and what that could gain at most");
  explain_cmd->add_option("report", reports.report, "report, of run --report FILE.json")->required();
  explain_cmd->add_option("--top", reports.top, "causes to name, of time and of energy")->check(CLI::Range(0, 1000000))->capture_default_str();
  explain_cmd->add_flag("--json", reports.json, "print JSON instead of text");
  explain_cmd->footer("Everything about one operator: deputy compile --explain LAYER.\n"
                      "Examples: deputy run model.tflite --report a.json\n          deputy explain a.json --top 3");

  deputy::tools::ExploreCommand explore;
  auto* explore_cmd = app.add_subcommand("explore", "Run networks on many variants of a SoC: Pareto front, sensitivity, bottlenecks");
  explore_cmd->add_option("experiment", explore.experiment, "experiment YAML (docs/explore.md)")->required();
  explore_cmd->add_option("--db", explore.db, "SQLite file of results, continued when it is there (default: EXPERIMENT.sqlite in the working folder)");
  explore_cmd->add_option("--jobs", explore.jobs, "worker processes; results do not depend on it")->check(CLI::Range(1, 256))->capture_default_str();
  explore_cmd->add_option("--method", explore.method, "instead of the experiment's")
      ->check(CLI::IsMember(deputy::explore::method_names()));
  explore_cmd->add_option("--points", explore.points, "instead of the experiment's")->check(CLI::Range(1, 10000000));
  explore_cmd->add_option("--seed", explore.seed, "instead of the experiment's")->check(CLI::Range(0, 2147483647));
  explore_cmd->add_option("--engine", explore.engine, "where it runs: local, or slurm: a job array of shards that are merged afterwards")
      ->check(CLI::IsMember({"local", "slurm"}))
      ->capture_default_str();
  explore_cmd->add_option("--shards", explore.shards, "tasks of the job array (default: --jobs)")->check(CLI::Range(1, 10000));
  explore_cmd->add_option("--shard", explore.shard, "run only every N-th point from the I-th: I/N, I from 0");
  explore_cmd->add_option("--merge", explore.merge, "result file to take over first (repeatable)");
  explore_cmd->add_flag("--retry", explore.retry, "run points that crashed or hung again");
  explore_cmd->add_option("--csv", explore.csv, "write every point to this file");
  explore_cmd->add_option("--html", explore.html, "write all points as one HTML page: Pareto scatter, parallel coordinates, sensitivity (docs/reports.md)");
  explore_cmd->add_flag("--json", explore.json, "print JSON: every point, front, sensitivity, bottlenecks");
  explore_cmd->add_option("--top", explore.top, "points of the front in the table")->check(CLI::Range(0, 1000000))->capture_default_str();
  explore_cmd->footer("Exit code 8: a point crashed, hung or failed; 5: every point was refused.\n"
                      "Examples: deputy explore configs/explore/quick.yaml --csv points.csv\n          deputy explore configs/explore/quick.yaml --method nsga2 --points 12");
  deputy::tools::StreamCommand stream;
  auto* stream_cmd = app.add_subcommand("stream", "Run a sensor's stream: DSP, network, decisions; latency, losses, power, battery");
  stream_cmd->add_option("scenario", stream.scenario, "YAML file, see configs/streams")->required();
  stream_cmd->add_option("--soc", stream.soc, "another SoC than the scenario's");
  stream_cmd->add_option("--set", common.sets, "override one key of the SoC (repeatable)")->take_all();
  stream_cmd->add_option("--with", stream.with, "override one key of the scenario, e.g. source.seconds=3600 or 'dropouts=[{at_s: 5, for_s: 2}]' (repeatable)")->take_all();
  stream_cmd->add_option("--faults", stream.faults, "fault plan to inject into the hardware");
  stream_cmd->add_option("--decisions", stream.decisions, "write the decisions to this file");
  stream_cmd->add_option("--signal", stream.signal, "write the samples as the sensor gives them to this file, and run nothing");
  stream_cmd->add_option("--labels", stream.labels, "write what is in them to this file, and run nothing");
  add_report(stream_cmd, stream.json, stream.report);
  stream_cmd->add_flag("--reproducible", stream.reproducible, "leave wall time out of the JSON");
  stream_cmd->add_flag("--compare", stream.compare, "run it with the host between the engines or not, copying or not");
  stream_cmd->footer("Example: deputy stream configs/streams/ecg_patch.yaml --with source.seconds=600");

  deputy::tools::ValidateCommand validate;
  auto* validate_cmd = app.add_subcommand("validate", "Every number with an outside reference: ours, the error, the bound");
  validate_cmd->add_option("anchors", validate.anchors, "anchor files, or names below configs/anchors (default: all)");
  validate_cmd->add_option("--data", validate.data, "folder with the model files of the rows that name one");
  validate_cmd->add_option("--baseline", validate.baseline, "numbers to hold ours against (default: configs/anchors/baseline.yaml)");
  validate_cmd->add_flag("--quick", validate.quick, "leave out the rows that take long");
  validate_cmd->add_flag("--json", validate.json, "print JSON");
  validate_cmd->add_flag("--update", validate.update, "write the baseline and docs/validation");
  validate_cmd->footer("Exit code 8: a row departs from the baseline. Example: deputy validate --data models --update");

  auto* doctor_cmd = app.add_subcommand("doctor", "Check that this installation works: files, an inference, worker processes, result files");
  doctor_cmd->footer("Example: deputy doctor");
  add_json(doctor_cmd, plain_json);

  std::string shell;
  auto* completion_cmd = app.add_subcommand("completion", "Print a completion script for a shell");
  completion_cmd->add_option("shell", shell, "bash or zsh")->required()->check(CLI::IsMember({"bash", "zsh"}));
  completion_cmd->footer("Example: source <(deputy completion bash)");
  auto* man_cmd = app.add_subcommand("man", "Print the man page of all this");
  man_cmd->footer("Example: deputy man > deputy.1");

  std::string reference_dir = "docs/reference", rtl_dir = "rtl/include";
  auto* reference_cmd = app.add_subcommand("reference", "Write the generated reference pages and SystemVerilog headers");
  reference_cmd->add_option("folder", reference_dir, "where to write the pages")->capture_default_str();
  reference_cmd->add_option("--rtl", rtl_dir, "where to write the headers")->capture_default_str();

  reference_cmd->footer("Example: deputy reference pages --rtl headers");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : static_cast<int>(deputy::base::ErrorKind::kUsage);
  }

  namespace tools = deputy::tools;
  if (*run_cmd) return tools::run_command(common, run);
  if (*compile_cmd) return tools::compile_command(common, compile);
  dsp.trace = trace_what == "dsp";
  if (*asm_cmd) return tools::asm_command(common, dsp);
  if (*dsp_cmd) return tools::dsp_command(common, dsp);
  if (*disasm_cmd && disasm_file.ends_with(".dspx")) return tools::disasm_dsp_command(disasm_file, plain_json);
  if (*disasm_cmd) return tools::disasm_command(common, disasm_file, plain_json);
  if (*inspect_cmd) return tools::inspect_command(common, inspect_model, plain_json);
  if (*contract_cmd) return tools::check_command(common, contract);
  if (*check_cmd) return tools::check_data_command(common, check);
  if (*onnx_cmd) return tools::check_onnx_command(common, check_onnx);
  if (*quantize_cmd) return tools::quantize_command(common, quantize);
  if (*probe_cmd) return tools::probe_command(common, probe);
  if (*campaign_cmd) return tools::campaign_command(common, campaign);
  if (*cache_cmd) return tools::cache_command(common, cache_what, cache_folder, plain_json);
  if (*list_cmd) return tools::list_command(what, plain_json);
  if (*network_cmd) return tools::network_command(network);
  if (*sweep_cmd) return tools::sram_sweep_command(common, sweep);
  if (*runtime_cmd) return tools::runtime_bench_command(common, runtime);
  if (*engines_cmd) return tools::engine_bench_command(common, engines);
  if (*copies_cmd) return tools::copy_bench_command(common, copies);
  if (*ratios_cmd) return tools::ratios_command(common, ratios);
  if (*bench_cmd) return tools::bench_command(common, bench);
  if (*doctor_cmd) return tools::doctor_command(plain_json);
  if (*completion_cmd || *man_cmd) {
    const std::string text = *man_cmd ? tools::man_page(app, DEPUTY_VERSION) : shell == "bash" ? tools::bash_completion(app) : tools::zsh_completion(app);
    fmt::print("{}", text);
    return 0;
  }
  if (*ci_cmd) return tools::ci_command(ci);
  if (*report_cmd) return tools::report_command(report);
  if (*compare_cmd) return tools::compare_command(reports);
  if (*explain_cmd) return tools::explain_command(reports);
  if (*explore_cmd) return tools::explore_command(explore);
  if (*stream_cmd) return tools::stream_command(common, stream);
  if (*validate_cmd) return tools::validate_command(validate);
  return tools::reference_command(reference_dir, rtl_dir);
}
