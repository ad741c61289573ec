#include "tools/validate.h"

#include <fmt/format.h>

#include "tools/cli/common.h"
#include "tools/report.h"
#include "workloads/networks.h"

namespace deputy::tools {
namespace {

struct AnchorHead {
  std::string soc, source;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    v(s.soc, base::Field{.name = "soc", .doc = "SoC configuration to run on"});
    v(s.source, base::Field{.name = "source", .doc = "where the reference comes from"});
  }
};

struct AnchorRow {
  std::string network, label;
  std::int64_t cycles = 0;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    v(s.network, base::Field{.name = "network", .doc = "a built-in network"});
    v(s.label, base::Field{.name = "label", .doc = "shown in the table"});
    v(s.cycles, base::Field{.name = "cycles", .doc = "reference cycles of one inference", .min = 1});
  }
};

}  // namespace

base::Result<Validation> validate(const std::string& anchor_file) {
  DEPUTY_ASSIGN(auto config, base::Config::from_file(anchor_file));
  AnchorHead head;
  DEPUTY_TRY(config.load("", head));
  std::vector<AnchorRow> anchors;
  for (int i = 0; config.has_group(fmt::format("rows.{}", i)); ++i)
    DEPUTY_TRY(config.load(fmt::format("rows.{}", i), anchors.emplace_back()));
  DEPUTY_TRY(config.finish());

  Validation out{head.soc, head.source, {}};
  CommonOptions common;
  common.soc = head.soc;
  common.engine = "npu";
  DEPUTY_ASSIGN(auto options, simulate_options(common));
  options.timing_only = true;
  for (const auto& anchor : anchors) {
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
