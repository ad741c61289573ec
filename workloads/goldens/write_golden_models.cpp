// Writes what an outside runtime needs to make goldens of the project's own networks, into one
// folder: NAME.tflite, NAME.all.tflite (the same with every operator's output as a graph output)
// and NAME.input<seed>.bin. Used by scripts/remake_goldens.
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "delegate/import/tflite_export.h"
#include "workloads/networks.h"
#include "workloads/random.h"

namespace {

using deputy::base::Result;
using deputy::base::Status;
using deputy::delegate::Graph;

constexpr int kSeeds = 3;

Status write(const std::string& path, const std::vector<std::uint8_t>& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  if (out.flush()) return {};
  return deputy::base::Error{deputy::base::ErrorKind::kIo, path, "cannot write the file",
                             "check the folder"};
}

Status write_model(const std::string& path, const Graph& graph) {
  DEPUTY_ASSIGN(const auto bytes, deputy::delegate::export_tflite(graph));
  return write(path, bytes);
}

Status write_network(const std::string& folder, const std::string& name) {
  DEPUTY_ASSIGN(Graph graph, deputy::workloads::build_network(name));
  const std::string stem = folder + "/" + name;
  DEPUTY_TRY(write_model(stem + ".tflite", graph));
  for (int seed = 1; seed <= kSeeds; ++seed)
    DEPUTY_TRY(write(stem + ".input" + std::to_string(seed) + ".bin",
                     deputy::workloads::seeded_input(graph.tensor(graph.inputs[0]).desc,
                                                     static_cast<std::uint64_t>(seed))));
  graph.outputs.clear();
  for (const auto& op : graph.ops) graph.outputs.push_back(op.outputs[0]);
  return write_model(stem + ".all.tflite", graph);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_golden_models FOLDER\n");
    return 2;
  }
  for (const auto& info : deputy::workloads::networks())
    if (const Status status = write_network(argv[1], info.name); !status.ok()) {
      std::fprintf(stderr, "write_golden_models: %s\n", status.error().text().c_str());
      return static_cast<int>(status.error().kind);
    }
  return 0;
}
