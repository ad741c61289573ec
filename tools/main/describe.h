// The command line described for shells and for man, out of the parser itself, so that no option
// can be forgotten.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace deputy::tools {

/// For `source <(deputy completion bash)`.
std::string bash_completion(const CLI::App& app);
/// For a file _deputy in a folder of $fpath.
std::string zsh_completion(const CLI::App& app);
/// In roff, section 1. `version` goes into the footer.
std::string man_page(const CLI::App& app, const std::string& version);

}  // namespace deputy::tools
