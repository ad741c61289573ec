// SystemVerilog headers written from the tables of arch/: what rtl/include holds. A test
// regenerates and compares.
#pragma once

#include <map>
#include <string>

namespace deputy::tools {

/// File name below rtl/include -> text.
std::map<std::string, std::string> rtl_headers();

}  // namespace deputy::tools
