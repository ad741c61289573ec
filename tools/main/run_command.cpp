// deputy run
#include "tools/cli/common.h"
#include "tools/main/command_line.h"

namespace deputy::tools {

void add_run(CommandLine& line) {
  CLI::App& app = line.app;
  CommonOptions& common = line.common;
  auto& run = line.keep<RunOptions>();
  auto* run_cmd =
      app.add_subcommand("run", "Compile a model, run it on the SoC, report time and energy");
  run_cmd->add_option("model", run.model, ".tflite or .onnx model, or .dexe from 'deputy compile'")
      ->required();
  add_compile_options(run_cmd, common);
  add_cache_options(run_cmd, common);
  run_cmd
      ->add_option("--input", run.inputs,
                   "input file, .npy or raw .bin, in graph order (repeatable)")
      ->take_all();
  run_cmd
      ->add_option("--shape-policy", run.shape_policy,
                   "when an .npy input has another shape than the model: refuse, cpu (run all of "
                   "it there) or recompile")
      ->check(CLI::IsMember({"refuse", "cpu", "recompile"}))
      ->capture_default_str();
  run_cmd
      ->add_option(
          "--expect", run.expect,
          "expected output file, .npy or raw .bin, in graph order; a difference is exit code 8")
      ->take_all();
  run_cmd->add_option("--output-dir", run.output_dir,
                      "write outputs as output0.npy, output1.npy, ...");
  run_cmd->add_flag("--all-tensors", run.all_tensors,
                    "also write every tensor as tensor<index>.npy; needs --output-dir");
  run_cmd->add_flag("--timing-only", run.timing_only,
                    "simulate time and energy, compute no values");
  run_cmd->add_option("--seed", run.seed, "seed for inputs that are not given")
      ->capture_default_str();
  run_cmd
      ->add_option("--frames", run.frames,
                   "afterwards run so many inferences, up to three in flight, and print when each "
                   "engine worked")
      ->check(CLI::Range(1, 10000));
  run_cmd
      ->add_option("--frame-period", run.frame_period_us,
                   "with --frames: microseconds from one to the next; says how long results take "
                   "then (default: as fast as they are taken)")
      ->check(CLI::Range(0.0, 1e9));
  run_cmd
      ->add_option("--frame-jitter", run.frame_jitter_us,
                   "each frame comes late by up to so many microseconds, drawn evenly")
      ->check(CLI::Range(0.0, 1e9));
  run_cmd->add_option(
      "--report", run.report,
      "write the report as JSON; the effective SoC goes to the same name with .soc.yaml");
  run_cmd->add_flag(
      "--page-data", run.page_data,
      "keep in the report what the page needs, so that 'deputy report' can make it later");
  run_cmd->add_option("--html", run.html,
                      "write the run as one HTML page: timeline, layers, roofline, energy, memory, "
                      "power (docs/reports.md)");
  run_cmd->add_option("--trace", run.trace,
                      "write a Perfetto trace (.pftrace, for ui.perfetto.dev) of every command, "
                      "fence and interrupt");
  run_cmd->add_option(
      "--vcd", run.vcd,
      "write interrupt lines, doorbells, busy units and queue fills as a value change dump");
  run_cmd
      ->add_option("--power-trace", run.power_trace,
                   "write power over time as CSV; its interval is power.trace_us")
      ->group("Power");
  run_cmd->add_option("--faults", run.faults,
                      "inject the hardware faults of this plan (docs/faults.md); a run that fails "
                      "still prints and writes its report");
  run_cmd
      ->add_option("--recover", run.recover,
                   "after a fault: none, or full: retry, restart the ring, reset the engine, "
                   "degrade to the CPU (docs/recovery.md)")
      ->check(CLI::IsMember({"none", "full"}))
      ->capture_default_str();
  run_cmd->add_flag("--reproducible", run.reproducible,
                    "leave the wall-clock field out of the report");
  run_cmd->add_option("--top", run.top, "operators to show in the table")->capture_default_str();
  run_cmd->add_flag("--quiet", run.quiet, "print only errors");
  run_cmd->add_flag("--json", run.json, "print JSON instead of tables");
  run_cmd->add_option("--compare", run.compare,
                      "run again with each of these optimisations off and print what it is worth: "
                      "no-fusion,no-cascade,... or all");
  run_cmd->footer(
      "Examples: deputy run model.tflite --soc wearable --top 20\n          deputy run "
      "model.tflite --compare no-fusion,no-double-buffer --timing-only\n"
      "          deputy run model.tflite --timing-only --frames 20 --frame-period 2000");
  line.on(run_cmd, [&line, &run] { return run_command(line.common, run); });
}

}  // namespace deputy::tools
