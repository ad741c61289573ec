#include "tools/validate_layers.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <sstream>

#include "tools/files.h"
#include "tools/split.h"

namespace deputy::tools {
namespace {

struct OurLayer {
  Bounds bounds;
  double cycles = 0;
};

std::string bound_name(const Bounds& bounds) {
  const std::string name = bounds.name();
  return name == "compute" ? "MAC" : name == "SRAM" ? "CVSRAM" : name;
}

std::map<std::string, OurLayer> layers_of(const Report& report,
                                          const std::vector<LayerRow>& table) {
  std::map<std::string, OurLayer> out;
  for (const LayerRow& row : table) out[row.name];
  std::map<std::string, OurLayer> found;
  auto current = out.end();
  for (const OpReport& op : report.ops) {
    if (const auto it = out.find(op.name.substr(0, op.name.find('/'))); it != out.end())
      current = it;
    if (current == out.end() || op.engine != "npu") continue;
    OurLayer& layer = found[current->first];
    layer.bounds += op.bounds;
    layer.cycles += static_cast<double>(op.own_cycles);
  }
  return found;
}

}  // namespace

base::Result<std::vector<LayerRow>> load_layer_table(const std::string& path) {
  DEPUTY_ASSIGN(const auto bytes, read_file(path));
  std::istringstream lines(std::string(bytes.begin(), bytes.end()));
  std::vector<LayerRow> out;
  bool titles = false;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    const auto bad = [&](const char* what) {
      return base::Error{base::ErrorKind::kInput, fmt::format("{}:{}", path, number), what,
                         "layer,winograd,strided,cycles,bound"};
    };
    if (!titles) {
      if (line != "layer,winograd,strided,cycles,bound") return bad("other titles");
      titles = true;
      continue;
    }
    const auto cells = split(line, ',');
    if (cells.size() != 5) return bad("not five cells");
    LayerRow row{cells[0], cells[1] == "1", cells[2] == "1", 0, cells[4]};
    if (std::from_chars(cells[3].data(), cells[3].data() + cells[3].size(), row.cycles).ec !=
            std::errc() ||
        row.cycles <= 0)
      return bad("no number of cycles");
    out.push_back(std::move(row));
  }
  return out;
}

base::Result<LayerComparison> compare_layers(const Report& report,
                                             const std::vector<LayerRow>& table,
                                             const std::string& where) {
  const auto ours = layers_of(report, table);
  LayerComparison out;
  for (const LayerRow& row : table) {
    const auto it = ours.find(row.name);
    if (it == ours.end())
      return base::Error{base::ErrorKind::kMismatch, where,
                         fmt::format("the network has no layer '{}' on the NPU", row.name),
                         "use the table's network"};
    if (row.winograd) continue;
    const OurLayer& layer = it->second;
    const std::string bound = bound_name(layer.bounds);
    ++out.count;
    out.same_bound += bound == row.bound;
    if (bound != row.bound)
      out.differing.push_back(fmt::format("{}: {} there, {} here", row.name, row.bound, bound));
    out.cycles += layer.cycles, out.reference_cycles += row.cycles;
    if (!row.strided)
      out.unstrided_cycles += layer.cycles, out.unstrided_reference_cycles += row.cycles;
  }
  return out;
}

}  // namespace deputy::tools
