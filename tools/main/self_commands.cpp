// Commands about Deputy itself: doctor, completion, man, reference.
#include <fmt/format.h>

#include "tools/main/command_line.h"
#include "tools/main/describe.h"

namespace deputy::tools {
namespace {

void add_doctor(CommandLine& line) {
  CLI::App& app = line.app;
  auto& json = line.keep<bool>();
  auto* doctor_cmd = app.add_subcommand(
      "doctor",
      "Check that this installation works: files, an inference, worker processes, result files");
  doctor_cmd->footer("Example: deputy doctor");
  add_json(doctor_cmd, json);
  line.on(doctor_cmd, [&json] { return doctor_command(json); });
}

void add_shell(CommandLine& line) {
  CLI::App& app = line.app;
  auto& shell = line.keep<std::string>();
  auto* completion_cmd = app.add_subcommand("completion", "Print a completion script for a shell");
  completion_cmd->add_option("shell", shell, "bash or zsh")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}));
  completion_cmd->footer("Example: source <(deputy completion bash)");
  auto* man_cmd = app.add_subcommand("man", "Print the man page of all this");
  man_cmd->footer("Example: deputy man > deputy.1");
  line.on(completion_cmd, [&app, &shell] {
    fmt::print("{}", shell == "bash" ? bash_completion(app) : zsh_completion(app));
    return 0;
  });
  line.on(man_cmd, [&app] {
    fmt::print("{}", man_page(app, DEPUTY_VERSION));
    return 0;
  });
}

void add_reference(CommandLine& line) {
  CLI::App& app = line.app;
  auto& folder = line.keep<std::string>("docs/reference");
  auto& rtl = line.keep<std::string>("rtl/include");
  auto* reference_cmd = app.add_subcommand(
      "reference", "Write the generated reference pages and SystemVerilog headers");
  reference_cmd->add_option("folder", folder, "where to write the pages")->capture_default_str();
  reference_cmd->add_option("--rtl", rtl, "where to write the headers")->capture_default_str();

  reference_cmd->footer("Example: deputy reference pages --rtl headers");
  line.on(reference_cmd, [&folder, &rtl] { return reference_command(folder, rtl); });
}

}  // namespace

void add_self_commands(CommandLine& line) {
  add_doctor(line);
  add_shell(line);
  add_reference(line);
}

}  // namespace deputy::tools
