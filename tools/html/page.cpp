#include "tools/html/page.h"

#include "base/check.h"

namespace deputy::tools {

extern const std::string_view kReportPage;  // cmake/EmbedText.cmake

std::string page_with(std::string_view json) {
  constexpr std::string_view kPlace = "\"DEPUTY_DATA\"";
  const std::size_t at = kReportPage.rfind(kPlace);
  DEPUTY_CHECK(at != std::string_view::npos, "the page has no place for its data");
  std::string out(kReportPage.substr(0, at));
  out.reserve(kReportPage.size() + json.size() + json.size() / 16);
  // In JSON a '<' occurs in strings only; written as an escape it cannot end the script element.
  for (const char c : json) {
    if (c == '<')
      out += "\\u003c";
    else
      out.push_back(c);
  }
  return out.append(kReportPage.substr(at + kPlace.size()));
}

}  // namespace deputy::tools
