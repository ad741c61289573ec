#include "tools/stream/scenario.h"

#include <fmt/format.h>

#include <filesystem>

namespace deputy::tools {

base::Result<StreamScenario> load_scenario(const std::string& path,
                                           const std::vector<std::string>& sets) {
  DEPUTY_ASSIGN(auto config, base::Config::from_file(path));
  for (const auto& assignment : sets) DEPUTY_TRY(config.set(assignment, "--with"));
  StreamScenario out;
  DEPUTY_TRY(config.load("", out));
  for (int i = 0; config.has_group(fmt::format("dropouts.{}", i)); ++i)
    DEPUTY_TRY(config.load(fmt::format("dropouts.{}", i), out.dropouts.emplace_back()));
  DEPUTY_TRY(config.finish());
  out.folder = std::filesystem::path(path).parent_path().string();
  const auto missing = [&](const char* key) {
    return base::Error{base::ErrorKind::kConfig, path, fmt::format("'{}' is missing", key),
                       "a scenario names its soc and its model"};
  };
  if (out.soc.empty()) return missing("soc");
  if (out.model.empty()) return missing("model");
  if (!out.source.labels.empty() && out.source.file.empty())
    return base::Error{base::ErrorKind::kConfig, path, "source.labels without source.file",
                       "a generated signal has labels of its own"};
  if (out.watermark > out.ring_frames)
    return base::Error{
        base::ErrorKind::kConfig, path,
        fmt::format("watermark {} is never reached by {} buffers", out.watermark, out.ring_frames),
        "use at most as many frames as buffers"};
  if (out.name.empty()) out.name = std::filesystem::path(path).stem().string();
  return out;
}

}  // namespace deputy::tools
