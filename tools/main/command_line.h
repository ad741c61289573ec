// The command line while it is declared: each family of commands adds its own.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/cli/commands.h"
#include "tools/main/options.h"

namespace deputy::tools {

struct CommandLine {
  CLI::App app{"Deputy: run neural networks on a virtual system-on-chip"};
  CommonOptions common;
  int code = 0;  ///< the process's exit code, once the command has run

  /// Something that parsing writes into; lives as long as the command line.
  template <class T, class... Arguments>
  T& keep(Arguments&&... arguments) {
    auto owned = std::make_shared<T>(std::forward<Arguments>(arguments)...);
    kept_.push_back(owned);
    return *owned;
  }

  /// What the command does, once all of the line is parsed; returns its exit code.
  void on(CLI::App* command, std::function<int()> action) {
    command->callback([this, action = std::move(action)] { code = action(); });
  }

 private:
  std::vector<std::shared_ptr<void>> kept_;
};

void add_run(CommandLine& line);
void add_model_commands(CommandLine& line);
void add_quantize(CommandLine& line);
void add_check_commands(CommandLine& line);
void add_dsp_commands(CommandLine& line);
void add_bench_commands(CommandLine& line);
void add_report_commands(CommandLine& line);
void add_self_commands(CommandLine& line);

}  // namespace deputy::tools
