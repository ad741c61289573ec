// Shared by the commands: from option strings to what the library takes.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "tools/cli/commands.h"
#include "tools/simulate.h"

namespace deputy::tools {

/// `run --compare`: prints what each switch is worth.
base::Status run_comparison(const CommonOptions& common, const RunOptions& options);

/// Everything but the fields that only `run` has.
base::Result<SimulateOptions> simulate_options(const CommonOptions& common,
                                               const std::string& model = "");

/// The words that --engine, --numerics, --effort, --contract or --io may have; `option` without the
/// dashes.
std::vector<std::string> words_of(const std::string& option);
/// An error for the first of them that has another word: kConfig at `where` (a place in a file),
/// without it kUsage.
base::Status check_words(const CommonOptions& common, const std::string& where = "");

/// An error when options of the placement are given with a file that is compiled already.
base::Status no_placement_options(const CommonOptions& common, const std::string& file);

/// One line on stderr that replaces itself; silent when stderr is not a terminal, and for the first
/// second.
class Progress {
 public:
  Progress();
  ~Progress();
  void show(const std::string& text);

 private:
  bool terminal_;
  bool shown_ = false;
  double start_;
};

}  // namespace deputy::tools
