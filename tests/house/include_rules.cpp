#include "tests/house/include_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace deputy::house {
namespace {

// Longest matching prefix wins, so "npu_model/core" has rules of its own. Includes are named from
// the top folder; the public headers are included as "deputy/...". "*" allows everything.
const std::map<std::string, std::vector<std::string>> kMayInclude = {
    {"base", {"base"}},
    {"arch", {"arch", "base"}},
    {"include/deputy", {"deputy", "base"}},
    {"delegate", {"delegate", "deputy", "arch", "base"}},
    {"host_runtime", {"host_runtime", "deputy", "arch", "base"}},
    {"delegate/dsp", {"delegate", "dsp_kernels", "arch", "base"}},
    {"api", {"api", "deputy", "delegate", "host_runtime", "arch", "base"}},
    {"sim", {"sim", "base"}},
    {"dma/core", {"dma/core", "arch", "base"}},
    {"npu_model/core", {"npu_model/core", "dma/core", "arch", "base"}},
    {"dsp_model/core", {"dsp_model/core", "dma/core", "arch", "base"}},
    {"gpu_model/core", {"gpu_model/core", "dma/core", "arch", "base"}},
    {"dsp_asm", {"dsp_asm", "arch", "base"}},
    {"dsp_kernels", {"dsp_kernels", "dsp_asm", "arch", "base"}},
    {"dma", {"dma", "sim", "arch", "base"}},
    {"npu_model/rtl", {"npu_model/core", "npu_model/rtl", "arch", "base"}},
    {"npu_model", {"npu_model", "dma/core", "sim", "arch", "base"}},
    {"dsp_model", {"dsp_model", "dma/core", "sim", "arch", "base"}},
    {"gpu_model", {"gpu_model", "dma/core", "sim", "arch", "base"}},
    {"soc", {"soc", "npu_model", "dsp_model", "gpu_model", "dma", "sim", "deputy", "arch", "base"}},
    {"soc/dram", {"soc/dram", "base"}},
    {"workloads", {"workloads", "deputy", "delegate/ir", "delegate/import", "arch", "base"}},
    {"workloads/selftest", {"workloads", "deputy", "delegate", "arch", "base"}},
    {"quantize", {"quantize", "deputy", "delegate", "host_runtime", "arch", "base"}},
    {"explore", {"explore", "base"}},
    {"examples", {"deputy"}},
    {"tools", {"*"}},
    {"tests", {"*"}},
    {"benchmarks", {"*"}},
};

// Libraries that only some folders may see: they are slow to compile or would leak into users'
// builds.
struct LibraryRule {
  const char* prefix;
  std::vector<std::string> folders;
};
const std::vector<LibraryRule> kLibraries = {
    {"systemc",
     {"sim", "npu_model", "dsp_model", "gpu_model", "dma", "soc", "tests", "benchmarks"}},
    {"tlm", {"sim", "npu_model", "dsp_model", "gpu_model", "dma", "soc", "tests", "benchmarks"}},
    {"yaml-cpp/", {"base", "tests"}},
    {"nlohmann/", {"tools", "tests", "benchmarks"}},
    {"CLI/", {"tools"}},
    {"nettle/", {"api"}},
    {"sqlite3.h", {"explore", "tests"}},
    {"pagmo/", {"explore"}},
    {"Eigen/", {"quantize"}},
    {"onnx/", {"delegate/import/onnx", "tests"}},
    {"google/protobuf", {"delegate/import/onnx", "tests"}},
    {"flatbuffers/", {"delegate/import", "workloads", "tests"}},
};

bool under(const std::string& path, const std::string& folder) {
  return path == folder || path.starts_with(folder + "/");
}

const std::pair<const std::string, std::vector<std::string>>* rule_for(const std::string& file) {
  const std::pair<const std::string, std::vector<std::string>>* best = nullptr;
  for (const auto& rule : kMayInclude)
    if (under(file, rule.first) && (!best || rule.first.size() > best->first.size())) best = &rule;
  return best;
}

}  // namespace

std::vector<Violation> check_includes(const std::string& file, const std::string& text) {
  std::vector<Violation> out;
  const auto* rule = rule_for(file);
  if (!rule)
    return {{file, 0, "this folder has no include rule; add one to docs/architecture.md and here"}};
  static const std::regex kInclude(R"rx(^\s*#\s*include\s*([<"])([^>"]+)[>"])rx");
  const bool core = file.find("/core/") != std::string::npos || under(file, "soc/dram");
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::smatch match;
    if (!std::regex_search(line, match, kInclude)) continue;
    const std::string header = match[2];
    if (match[1] == "\"" && header.find('/') != std::string::npos) {
      const bool allowed = std::any_of(
          rule->second.begin(), rule->second.end(),
          [&](const std::string& folder) { return folder == "*" || under(header, folder); });
      if (!allowed)
        out.push_back(
            {file, number, fmt::format("{} may not include \"{}\"", rule->first, header)});
    }
    for (const auto& library : kLibraries) {
      if (!header.starts_with(library.prefix)) continue;
      const bool allowed =
          std::any_of(library.folders.begin(), library.folders.end(),
                      [&](const std::string& folder) { return under(file, folder); });
      if (!allowed || (core && std::string(library.prefix) != "flatbuffers/"))
        out.push_back({file, number, fmt::format("{} may not use <{}>", rule->first, header)});
    }
  }
  return out;
}

std::vector<std::string> project_sources(const std::filesystem::path& top) {
  namespace fs = std::filesystem;
  static const std::set<std::string> kEndings = {".h", ".c", ".cpp", ".hpp", ".cc"};
  std::vector<std::string> out;
  for (auto it = fs::recursive_directory_iterator(top); it != fs::recursive_directory_iterator();
       ++it) {
    const std::string name = it->path().filename().string();
    if (it->is_directory() &&
        (name.starts_with(".") || name == "build" || name == "out" || name == "node_modules"))
      it.disable_recursion_pending();
    else if (it->is_regular_file() && kEndings.count(it->path().extension().string()))
      out.push_back(fs::relative(it->path(), top).generic_string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace deputy::house
