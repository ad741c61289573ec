// The command line. It only parses: each command is a function of tools/cli/commands.h.
#include "base/result.h"
#include "tools/main/command_line.h"

// libsystemc brings a main() of its own that would call this; ours is used instead.
extern "C" int sc_main(int, char**) { return 0; }

int main(int argc, char** argv) {
  namespace tools = deputy::tools;
  tools::CommandLine line;
  line.app.require_subcommand(1);
  line.app.set_version_flag("--version", DEPUTY_VERSION);
  tools::add_run(line);
  tools::add_model_commands(line);
  tools::add_quantize(line);
  tools::add_dsp_commands(line);
  tools::add_report_commands(line);
  tools::add_check_commands(line);
  tools::add_bench_commands(line);
  tools::add_self_commands(line);
  try {
    line.app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return line.app.exit(e) == 0 ? 0 : static_cast<int>(deputy::base::ErrorKind::kUsage);
  }
  return line.code;
}
