// The command line. It only parses: each command is a function of tools/cli/commands.h.
#include <cstdlib>

#include "base/result.h"
#include "tools/main/command_line.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace {

// The compiler takes and gives back large blocks all the time. By default each goes back to the
// system, and its pages are faulted in again: a tenth of the time of a compilation.
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 512 << 20);
  mallopt(M_TOP_PAD, 16 << 20);
#endif
}

}  // namespace

// libsystemc brings a main() of its own that would call this; ours is used instead.
extern "C" int sc_main(int, char**) { return 0; }

int main(int argc, char** argv) {
  keep_freed_memory();
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
