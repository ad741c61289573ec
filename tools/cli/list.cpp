// deputy list, network, reference
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "delegate/import/tflite_export.h"
#include "tools/cli/common.h"
#include "tools/files.h"
#include "tools/json_text.h"
#include "tools/reference.h"
#include "tools/rtl_headers.h"
#include "tools/table.h"
#include "workloads/networks.h"

namespace deputy::tools {
namespace {

Table list_networks() {
  Table table({"network", ">MAC", "what"});
  for (const auto& info : workloads::networks())
    table.row({info.name, human_count(static_cast<double>(info.macs)), info.description});
  return table;
}

base::Status write_network(const NetworkCommand& command) {
  DEPUTY_ASSIGN(auto graph, workloads::build_network(command.name));
  DEPUTY_ASSIGN(auto bytes, delegate::export_tflite(graph));
  const std::string output = command.output.empty() ? command.name + ".tflite" : command.output;
  DEPUTY_TRY(write_file(output, bytes));
  return give_results(
      command.json, "",
      json_text("deputy-network-1",
                {{"network", command.name}, {"file", output}, {"bytes", bytes.size()}}),
      fmt::format("{}: {}\n", output, human_bytes(static_cast<double>(bytes.size()))));
}

base::Status write_reference(const std::string& folder, const std::string& rtl_folder) {
  for (const auto& [name, text] : reference_pages())
    DEPUTY_TRY(write_text(folder + "/" + name, text));
  for (const auto& [name, text] : rtl_headers())
    DEPUTY_TRY(write_text(rtl_folder + "/" + name, text));
  return {};
}

}  // namespace

int list_command(const std::string& what, bool json) {
  const Table table = what == "ops"                ? list_ops()
                      : what == "params"           ? list_params()
                      : what == "stats"            ? list_stats()
                      : what == "registers"        ? list_registers()
                      : what == "networks"         ? list_networks()
                      : what == "dsp-instructions" ? list_dsp_instructions()
                                                   : list_instructions();
  fmt::print("{}", json ? table.json("deputy-list-1") : table.text());
  return 0;
}

int network_command(const NetworkCommand& command) { return finish(write_network(command)); }
int reference_command(const std::string& folder, const std::string& rtl_folder) {
  return finish(write_reference(folder, rtl_folder));
}

}  // namespace deputy::tools
