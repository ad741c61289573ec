// Options that several commands have.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "tools/cli/commands.h"

namespace deputy::tools {

void add_soc_options(CLI::App* command, CommonOptions& options);
void add_compile_options(CLI::App* command, CommonOptions& options);
void add_cache_options(CLI::App* command, CommonOptions& options);
/// --json: docs/json.md.
void add_json(CLI::App* command, bool& into);
/// And --report FILE, which the same goes into.
void add_report(CLI::App* command, bool& into, std::string& report);

}  // namespace deputy::tools
