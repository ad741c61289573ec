// Reports as one HTML file that needs no network: the page of report_ui/ with its data inside.
#pragma once

#include <string>
#include <string_view>

#include "tools/explore/results.h"
#include "tools/report.h"
#include "tools/trace/view.h"

namespace deputy::tools {

/// The page with `json`, which says in "format" what it is.
std::string page_with(std::string_view json);

/// A traced run: timeline, layers, roofline, energy, memory and power. `soc` is what it ran on.
/// With more commands than a page can hold, neighbours of the same operator are drawn as one, and
/// the page says so.
std::string run_page(const TraceView& view, const sim::Trace& trace, const Simulation& simulation,
                     const Report& report, const soc::SocConfig& soc);

/// An exploration: points, front, sensitivity.
std::string explore_page(const ExploreResults& results);

}  // namespace deputy::tools
