// deputy bench and the benchmarks below it.
#include "tools/main/command_line.h"

namespace deputy::tools {
namespace {

void add_ratios(CommandLine& line, CLI::App* bench_cmd) {
  CommonOptions& common = line.common;
  auto& ratios = line.keep<RatiosCommand>();
  auto* ratios_cmd = bench_cmd->add_subcommand(
      "ratios",
      "Print our NPU cycles beside outside references, and the layers that make the difference");
  ratios_cmd->add_option("data", ratios.data, "folder with the model files")->required();
  ratios_cmd
      ->add_option("--anchors", ratios.anchors,
                   "anchor file, or a name under configs/anchors (repeatable; default: "
                   "ethos-u55-128 and ethos-u55-256)")
      ->take_all();
  ratios_cmd->add_option("--per-layer", ratios.per_layer,
                         "folder with the reference's per-layer tables");
  ratios_cmd->add_flag("--json", ratios.json, "print JSON");
  add_compile_options(ratios_cmd, common);
  ratios_cmd->footer(
      "Example: deputy bench ratios ../shared/data/models --per-layer "
      "../shared/reference/per_layer");
  line.on(ratios_cmd, [&line, &ratios] { return ratios_command(line.common, ratios); });
}

void add_sweep(CommandLine& line, CLI::App* bench_cmd) {
  CommonOptions& common = line.common;
  auto& sweep = line.keep<SweepCommand>();
  auto* sweep_cmd = bench_cmd->add_subcommand(
      "sram-sweep", "Print DRAM bytes of feature maps and NPU cycles for growing SRAM limits");
  sweep_cmd->add_option("model", sweep.model, ".tflite model")->required();
  sweep_cmd->add_option("--kib", sweep.kib, "SRAM limits in KiB")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  sweep_cmd->add_flag("--json", sweep.json, "print JSON");
  add_compile_options(sweep_cmd, common);
  sweep_cmd->footer(
      "Example: deputy bench sram-sweep model.tflite --soc ethos-u55-128-like --kib 16,64,384");
  line.on(sweep_cmd, [&line, &sweep] { return sram_sweep_command(line.common, sweep); });
}

void add_runtime(CommandLine& line, CLI::App* bench_cmd) {
  CommonOptions& common = line.common;
  auto& runtime = line.keep<RuntimeBenchCommand>();
  auto* runtime_cmd = bench_cmd->add_subcommand(
      "runtime",
      "Stream frames from a sensor: synchronous or in flight, copied, mapped or in place");
  runtime_cmd->add_option("--soc", runtime.soc,
                          "SoC for every case (default: wearable, and imaging for the camera)");
  runtime_cmd->add_option("--set", common.sets, "override one key of the SoC (repeatable)")
      ->take_all();
  runtime_cmd->add_option("--case", runtime.cases, "only some of ecg, kws and camera (repeatable)")
      ->check(CLI::IsMember({"ecg", "kws", "camera"}));
  runtime_cmd->add_option("--frames", runtime.frames, "frames of each run")
      ->check(CLI::Range(4, 100000))
      ->capture_default_str();
  add_report(runtime_cmd, runtime.json, runtime.report);
  runtime_cmd->footer("Example: deputy bench runtime --case ecg --frames 16 --report runtime.json");
  line.on(runtime_cmd, [&line, &runtime] { return runtime_bench_command(line.common, runtime); });
}

void add_copies(CommandLine& line, CLI::App* bench_cmd) {
  CommonOptions& common = line.common;
  auto& copies = line.keep<CopyBenchCommand>();
  auto* copies_cmd = bench_cmd->add_subcommand("copies",
                                               "Print what cache maintenance of a range costs, and "
                                               "copies of it by CPU and DMA engine, as it grows");
  copies_cmd->add_option("--soc", copies.soc, "one SoC (default: wearable and imaging)");
  copies_cmd->add_option("--set", common.sets, "override one key of the SoC (repeatable)")
      ->take_all();
  add_report(copies_cmd, copies.json, copies.report);
  copies_cmd->footer("Example: deputy bench copies --soc imaging --set host.maintenance_line=0");
  line.on(copies_cmd, [&line, &copies] { return copy_bench_command(line.common, copies); });
}

void add_engines(CommandLine& line, CLI::App* bench_cmd) {
  CommonOptions& common = line.common;
  auto& engines = line.keep<EngineBenchCommand>();
  auto* engines_cmd = bench_cmd->add_subcommand("engines",
                                                "Print what operators and kernels cost on CPU, DSP "
                                                "and NPU, and which engine the scheduler takes");
  engines_cmd->add_option("--soc", common.soc, "SoC file or name")->capture_default_str();
  engines_cmd->add_option("--set", common.sets, "override one key of the SoC (repeatable)")
      ->take_all();
  add_report(engines_cmd, engines.json, engines.report);
  engines_cmd->footer("Example: deputy bench engines --set dsp.present=true");
  line.on(engines_cmd, [&line, &engines] { return engine_bench_command(line.common, engines); });
}

}  // namespace

void add_bench_commands(CommandLine& line) {
  CLI::App& app = line.app;
  CommonOptions& common = line.common;
  auto& bench = line.keep<BenchCommand>();
  auto* bench_cmd =
      app.add_subcommand("bench", "Measure simulation speed: wall time, MAC/s, cycles/s");
  bench_cmd->add_option("models", bench.models, "models (default: the built-in networks)");
  bench_cmd->add_option("--runs", bench.runs, "runs of each, the fastest counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  bench_cmd->add_flag("--json", bench.json, "print JSON instead of a table");
  add_compile_options(bench_cmd, common);
  bench_cmd->require_subcommand(0, 1);
  bench_cmd->footer("Example: deputy bench ecg_tcn model.tflite --runs 3 --json");
  // A command below it is the one that was meant.
  line.on(bench_cmd, [&line, &bench, bench_cmd] {
    return bench_cmd->get_subcommands().empty() ? bench_command(line.common, bench) : line.code;
  });
  add_ratios(line, bench_cmd);
  add_sweep(line, bench_cmd);
  add_runtime(line, bench_cmd);
  add_copies(line, bench_cmd);
  add_engines(line, bench_cmd);
}

}  // namespace deputy::tools
