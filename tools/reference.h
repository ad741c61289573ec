// The generated reference: what `deputy list` prints and docs/reference holds, read from the tables in the
// code. A test regenerates the pages and compares.
#pragma once

#include <map>
#include <string>

namespace deputy::tools {

std::string list_ops();           ///< operators and the engines that take them
std::string list_params();        ///< every YAML key with default, range, unit and meaning
std::string list_stats();
std::string list_registers();
std::string list_instructions();

std::string executable_page();    ///< reference_executable.cpp

/// File name below docs/reference -> Markdown.
std::map<std::string, std::string> reference_pages();

}  // namespace deputy::tools
