// The generated reference: what `deputy list` prints and docs/reference holds, read from the tables
// in the code. A test regenerates the pages and compares.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/table.h"

namespace deputy::tools {

Table list_ops();     ///< operators and the engines that take them
Table list_params();  ///< every YAML key with default, range, unit and meaning
Table list_stats();
Table list_registers();
Table list_instructions();

Table list_dsp_instructions();

std::string executable_page();                            ///< reference_executable.cpp
std::string dsp_instructions_page(), dsp_kernels_page();  ///< reference_dsp.cpp

// Pieces of Markdown.
std::string markdown_row(const std::vector<std::string>& cells);
std::string markdown_head(const std::vector<std::string>& titles);

/// File name below docs/reference -> Markdown.
std::map<std::string, std::string> reference_pages();

}  // namespace deputy::tools
