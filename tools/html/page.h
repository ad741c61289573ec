// Reports as one HTML file that needs no network: the page of report_ui/ with its data inside.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "tools/explore/results.h"
#include "tools/report.h"
#include "tools/trace/view.h"

namespace deputy::tools {

/// The page with `json`, which says in "format" what it is.
std::string page_with(std::string_view json);

/// What the page of a traced run draws beside its report: timeline, traffic, power and memory over
/// time. `soc` is what it ran on. With more commands than a page can hold, neighbours of the same
/// operator are drawn as one, and the page says so.
nlohmann::ordered_json run_page_data(const TraceView& view, const sim::Trace& trace,
                                     const Simulation& simulation, const Report& report,
                                     const soc::SocConfig& soc);

/// A run: its report as JSON (report_json) and the data of above. kInput, which says what is
/// missing, when the data are none of this version.
base::Result<std::string> run_page(nlohmann::ordered_json report,
                                   const nlohmann::ordered_json& data, const std::string& path);

/// An exploration: points, front, sensitivity.
std::string explore_page(const ExploreResults& results);

}  // namespace deputy::tools
