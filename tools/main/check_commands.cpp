// Commands that hold something against something else: check-data, check-onnx, probe, campaign, ci,
// validate.
#include "tools/cli/common.h"
#include "tools/main/command_line.h"

namespace deputy::tools {
namespace {

void add_check_data(CommandLine& line) {
  CLI::App& app = line.app;
  CommonOptions& common = line.common;
  auto& check = line.keep<CheckDataCommand>();
  auto* check_cmd =
      app.add_subcommand("check-data", "Run a manifest of golden cases and count equal tensors");
  check_cmd->add_option("manifest", check.manifest, "manifest.json")->required();
  add_compile_options(check_cmd, common);
  check_cmd->add_option("--filter", check.filter, "only cases whose name contains this");
  check_cmd->add_option("--runtime", check.runtime,
                        "golden set to compare with: tflm, tfjs, xnnpack (default: by numerics); "
                        "ort: the ONNX models");
  check_cmd->add_flag("--layers", check.layers, "also compare intermediate tensors");
  check_cmd->add_flag("--json", check.json, "print JSON: every case with its tensors");
  check_cmd->add_flag("--verbose", check.verbose, "print every case");

  check_cmd->footer("Example: deputy check-data ../shared/data/manifest.json --layers");
  line.on(check_cmd, [&line, &check] { return check_data_command(line.common, check); });
}

void add_check_onnx(CommandLine& line) {
  CLI::App& app = line.app;
  CommonOptions& common = line.common;
  auto& check_onnx = line.keep<CheckOnnxCommand>();
  auto* onnx_cmd = app.add_subcommand(
      "check-onnx", "Run ONNX's node tests on the SoC; exit code 8 when one is wrong");
  onnx_cmd->add_option("folder", check_onnx.folder, "folder of cases")
      ->default_val("/usr/share/libonnx-testdata/data/node");
  add_compile_options(onnx_cmd, common);
  onnx_cmd->add_option("--filter", check_onnx.filter, "only cases whose name contains this");
  onnx_cmd->add_flag("--json", check_onnx.json, "print JSON: every case");
  onnx_cmd->add_flag("--verbose", check_onnx.verbose, "print every case");

  onnx_cmd->footer("Example: deputy check-onnx --filter test_relu --json");
  line.on(onnx_cmd, [&line, &check_onnx] { return check_onnx_command(line.common, check_onnx); });
}

void add_probe(CommandLine& line) {
  CLI::App& app = line.app;
  CommonOptions& common = line.common;
  auto& probe = line.keep<ProbeCommand>();
  auto* probe_cmd = app.add_subcommand(
      "probe",
      "Test the SoC's NPU operator by operator against the CPU; exit code 8 when it is wrong");
  add_soc_options(probe_cmd, common);
  probe_cmd->add_option("--out", probe.output, "write what was found as a quirk file for --quirks");
  probe_cmd->add_flag("--json", probe.json, "print JSON");
  probe_cmd->footer(
      "Example: deputy probe --soc wearable --set silicon.defect=dw-stride2 --out found.yaml");
  line.on(probe_cmd, [&line, &probe] { return probe_command(line.common, probe); });
}

void add_campaign(CommandLine& line) {
  CLI::App& app = line.app;
  CommonOptions& common = line.common;
  auto& campaign = line.keep<CampaignCommand>();
  auto* campaign_cmd = app.add_subcommand("campaign",
                                          "Run networks with faults drawn from a plan; exit code 8 "
                                          "when something happens that may not");
  campaign_cmd->add_option("plan", campaign.plan, "campaign YAML (docs/recovery.md)")->required();
  add_soc_options(campaign_cmd, common);
  add_report(campaign_cmd, campaign.json, campaign.report);
  campaign_cmd
      ->add_option("--findings", campaign.findings,
                   "folder for a fault plan of each forbidden outcome")
      ->capture_default_str();
  campaign_cmd->add_option("--jobs", campaign.jobs, "worker processes; results do not depend on it")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  campaign_cmd->add_option("--seed", campaign.seed, "seed of the draw")->capture_default_str();
  campaign_cmd->add_option("--injections", campaign.injections, "instead of the plan's number")
      ->check(CLI::Range(1, 10000000));
  campaign_cmd->add_option("--only", campaign.only,
                           "run only this one, and print its fault and every recovery step");
  campaign_cmd->footer(
      "Example: deputy campaign configs/campaigns/short.yaml --injections 40 --jobs 2 --report "
      "out.json");
  line.on(campaign_cmd, [&line, &campaign] { return campaign_command(line.common, campaign); });
}

void add_ci(CommandLine& line) {
  CLI::App& app = line.app;
  auto& ci = line.keep<CiCommand>();
  auto* ci_cmd = app.add_subcommand("ci",
                                    "Run a suite of networks and SoCs and hold outputs, cycles, "
                                    "energy and traffic against a baseline");
  ci_cmd->add_option("suite", ci.suite, "suite YAML (docs/ci.md)")->required();
  ci_cmd->add_option(
      "--baseline", ci.baseline,
      "what to hold the suite against (default: SUITE.baseline.json beside the suite)");
  ci_cmd->add_flag("--update-baseline", ci.update,
                   "write the baseline instead, when every case runs");
  ci_cmd->add_option("--junit", ci.junit, "write JUnit XML to this file");
  ci_cmd->add_option("--markdown", ci.markdown, "write a summary in markdown to this file");
  ci_cmd->add_option("--set", ci.sets, "override one key of every case's SoC (repeatable)")
      ->take_all();
  ci_cmd->add_option("--jobs", ci.jobs, "worker processes; results do not depend on it")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  ci_cmd->add_option("--top", ci.top, "layers to name for each case")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  ci_cmd->add_flag("--json", ci.json, "print JSON instead of tables");
  ci_cmd->footer(
      "Exit code 0: all as in the baseline; 1: something moved, or a case failed; 2: suite, "
      "baseline or command line cannot be used.\n"
      "Example: deputy ci configs/ci/wearable.yaml --junit ci.xml --markdown ci.md");
  line.on(ci_cmd, [&ci] { return ci_command(ci); });
}

void add_validate(CommandLine& line) {
  CLI::App& app = line.app;
  auto& validate = line.keep<ValidateCommand>();
  auto* validate_cmd = app.add_subcommand(
      "validate", "Every number with an outside reference: ours, the error, the bound");
  validate_cmd->add_option("anchors", validate.anchors,
                           "anchor files, or names below configs/anchors (default: all)");
  validate_cmd->add_option("--data", validate.data,
                           "folder with the model files of the rows that name one");
  validate_cmd->add_option("--baseline", validate.baseline,
                           "numbers to hold ours against (default: configs/anchors/baseline.yaml)");
  validate_cmd->add_flag("--quick", validate.quick, "leave out the rows that take long");
  validate_cmd->add_flag("--json", validate.json, "print JSON");
  validate_cmd->add_flag("--update", validate.update, "write the baseline and docs/validation");
  validate_cmd->footer(
      "Exit code 8: a row departs from the baseline. Example: deputy validate --data models "
      "--update");
  line.on(validate_cmd, [&validate] { return validate_command(validate); });
}

}  // namespace

void add_check_commands(CommandLine& line) {
  add_check_data(line);
  add_check_onnx(line);
  add_probe(line);
  add_campaign(line);
  add_ci(line);
  add_validate(line);
}

}  // namespace deputy::tools
