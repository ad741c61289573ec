#include "tools/validate.h"

#include <fmt/format.h>

#include "tools/anchors.h"
#include "tools/cli/common.h"
#include "tools/report.h"
#include "workloads/networks.h"

namespace deputy::tools {

base::Result<Validation> validate(const std::string& anchor_file) {
  DEPUTY_ASSIGN(auto anchors, load_anchors(anchor_file));

  Validation out{anchors.soc, anchors.source, {}};
  CommonOptions common;
  common.soc = anchors.soc;
  common.engine = "npu";
  DEPUTY_ASSIGN(auto options, simulate_options(common));
  options.timing_only = true;
  for (const AnchorRow& anchor : anchors.rows) {
    if (anchor.network.empty()) continue;
    options.sram_limit = static_cast<std::uint64_t>(anchor.sram_kib * 1024);
    DEPUTY_ASSIGN(auto graph, workloads::build_network(anchor.network));
    DEPUTY_ASSIGN(auto inputs, load_inputs(graph, {}, 1));
    DEPUTY_ASSIGN(auto simulation, simulate(graph, options, inputs));
    const Report report = make_report(simulation, options);
    out.rows.push_back({anchor.label, static_cast<double>(report.macs), static_cast<std::uint64_t>(anchor.cycles),
                        report.npu_cycles, report.mac_utilisation});
  }
  return out;
}

}  // namespace deputy::tools
