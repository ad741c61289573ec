#include "tools/workload_row.h"

#include <filesystem>

#include "tools/files.h"
#include "workloads/networks.h"

namespace deputy::tools {

std::string WorkloadRow::stem() const {
  return network.empty() ? std::filesystem::path(model).stem().string() : network;
}

base::Status complete(WorkloadRow& row, const std::string& where, const std::string& folder) {
  if (row.network.empty() == row.model.empty())
    return base::Error{base::ErrorKind::kConfig, where, "needs a network or a model, not both",
                       "for example {network: ds_cnn}"};
  if (!row.model.empty()) row.model = beside(folder, row.model);
  return {};
}

base::Result<ModelFile> load_workload(const WorkloadRow& row) {
  if (row.network.empty()) return load_model_file(row.model);
  ModelFile out;
  DEPUTY_ASSIGN(out.graph, workloads::build_network(row.network));
  const std::string name = "network " + row.network;
  out.bytes.assign(name.begin(), name.end());
  return out;
}

}  // namespace deputy::tools
