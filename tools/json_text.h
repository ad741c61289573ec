// What commands print for programs: docs/json.md has the shape of each.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/result.h"

namespace deputy::tools {

/// {"format": FORMAT, then `fields`}, indented, ending in a newline. Bytes that are no UTF-8, as
/// names in models may have, become U+FFFD.
std::string json_text(const std::string& format, const nlohmann::ordered_json& fields);

/// Prints one of the two, and writes the JSON to the file `report`, if that names one.
base::Status give_results(bool print_json, const std::string& report, const std::string& json,
                          const std::string& text);

}  // namespace deputy::tools
