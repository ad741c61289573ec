#include "tools/json_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/files.h"

namespace deputy::tools {

std::string json_text(const std::string& format, const nlohmann::ordered_json& fields) {
  nlohmann::ordered_json out = {{"format", format}};
  for (const auto& [name, value] : fields.items()) out[name] = value;
  return out.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

base::Status give_results(bool print_json, const std::string& report, const std::string& json,
                          const std::string& text) {
  if (!report.empty()) DEPUTY_TRY(write_text(report, json));
  fmt::print("{}", print_json ? json : text);
  return {};
}

}  // namespace deputy::tools
