// Commands that read what runs have left, and the explorer: report, compare, explain, explore.
#include "explore/methods.h"
#include "tools/main/command_line.h"

namespace deputy::tools {
namespace {

void add_report_command(CommandLine& line) {
  CLI::App& app = line.app;
  auto& report = line.keep<ReportCommand>();
  auto* report_cmd = app.add_subcommand(
      "report", "Print the report of an earlier run, or make its HTML page, without simulating");
  report_cmd->add_option("report", report.report, "report, of run --report FILE.json")->required();
  report_cmd->add_option("--html", report.html,
                         "write the page, too; the run must have kept its data (run --page-data)");
  report_cmd->add_option("--top", report.top, "operators to show in the table")
      ->capture_default_str();
  report_cmd->add_flag("--quiet", report.quiet, "print only errors");
  add_json(report_cmd, report.json);
  report_cmd->footer(
      "Examples: deputy run model.tflite --report a.json --page-data\n          deputy report "
      "a.json --top 3 --html a.html");

  line.on(report_cmd, [&report] { return report_command(report); });
}

void add_compare(CommandLine& line) {
  CLI::App& app = line.app;
  auto& reports = line.keep<ReportsCommand>();
  auto* compare_cmd = app.add_subcommand(
      "compare",
      "Compare two reports of 'deputy run': totals, and the layers that changed and why");
  compare_cmd->add_option("before", reports.report, "report, of run --report FILE.json")
      ->required();
  compare_cmd->add_option("now", reports.other, "another")->required();
  compare_cmd->add_option("--top", reports.top, "layers to name")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  compare_cmd->add_flag("--json", reports.json, "print JSON instead of tables");
  compare_cmd->footer(
      "What each optimisation of the compiler is worth: deputy run --compare.\n"
      "Examples: deputy run model.tflite --report a.json\n          deputy run model.tflite --set "
      "noc.width_bytes=4 --report b.json\n          deputy compare a.json b.json --top 5");
  line.on(compare_cmd, [&reports] { return compare_command(reports); });
}

void add_explain(CommandLine& line) {
  CLI::App& app = line.app;
  auto& reports = line.keep<ReportsCommand>();
  auto* explain_cmd = app.add_subcommand(
      "explain", "Say what holds a run up, what to change first, and what that could gain at most");
  explain_cmd->add_option("report", reports.report, "report, of run --report FILE.json")
      ->required();
  explain_cmd->add_option("--top", reports.top, "causes to name, of time and of energy")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  explain_cmd->add_flag("--json", reports.json, "print JSON instead of text");
  explain_cmd->footer(
      "Everything about one operator: deputy compile --explain LAYER.\n"
      "Examples: deputy run model.tflite --report a.json\n          deputy explain a.json --top 3");
  line.on(explain_cmd, [&reports] { return explain_command(reports); });
}

void add_explore(CommandLine& line) {
  CLI::App& app = line.app;
  auto& explore = line.keep<ExploreCommand>();
  auto* explore_cmd = app.add_subcommand(
      "explore", "Run networks on many variants of a SoC: Pareto front, sensitivity, bottlenecks");
  explore_cmd->add_option("experiment", explore.experiment, "experiment YAML (docs/explore.md)")
      ->required();
  explore_cmd->add_option("--db", explore.db,
                          "SQLite file of results, continued when it is there (default: "
                          "EXPERIMENT.sqlite in the working folder)");
  explore_cmd->add_option("--jobs", explore.jobs, "worker processes; results do not depend on it")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  explore_cmd->add_option("--method", explore.method, "instead of the experiment's")
      ->check(CLI::IsMember(explore::method_names()));
  explore_cmd->add_option("--points", explore.points, "instead of the experiment's")
      ->check(CLI::Range(1, 10000000));
  explore_cmd->add_option("--seed", explore.seed, "instead of the experiment's")
      ->check(CLI::Range(0, 2147483647));
  explore_cmd
      ->add_option(
          "--engine", explore.engine,
          "where it runs: local, or slurm: a job array of shards that are merged afterwards")
      ->check(CLI::IsMember({"local", "slurm"}))
      ->capture_default_str();
  explore_cmd->add_option("--shards", explore.shards, "tasks of the job array (default: --jobs)")
      ->check(CLI::Range(1, 10000));
  explore_cmd->add_option("--shard", explore.shard,
                          "run only every N-th point from the I-th: I/N, I from 0");
  explore_cmd->add_option("--merge", explore.merge, "result file to take over first (repeatable)");
  explore_cmd->add_flag("--retry", explore.retry, "run points that crashed or hung again");
  explore_cmd->add_option("--csv", explore.csv, "write every point to this file");
  explore_cmd->add_option("--html", explore.html,
                          "write all points as one HTML page: Pareto scatter, parallel "
                          "coordinates, sensitivity (docs/reports.md)");
  explore_cmd->add_flag("--json", explore.json,
                        "print JSON: every point, front, sensitivity, bottlenecks");
  explore_cmd->add_option("--top", explore.top, "points of the front in the table")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  explore_cmd->footer(
      "Exit code 8: a point crashed, hung or failed; 5: every point was refused.\n"
      "Examples: deputy explore configs/explore/quick.yaml --csv points.csv\n          deputy "
      "explore configs/explore/quick.yaml --method nsga2 --points 12");
  line.on(explore_cmd, [&explore] { return explore_command(explore); });
}

}  // namespace

void add_report_commands(CommandLine& line) {
  add_report_command(line);
  add_compare(line);
  add_explain(line);
  add_explore(line);
}

}  // namespace deputy::tools
