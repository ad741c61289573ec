#include "tools/anchors.h"

#include <fmt/format.h>

#include "base/config.h"

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

}  // namespace

base::Result<AnchorFile> load_anchors(const std::string& name) {
  const bool is_path = name.find('/') != std::string::npos || name.ends_with(".yaml");
  DEPUTY_ASSIGN(auto config, base::Config::from_file(is_path ? name : std::string(DEPUTY_CONFIG_DIR) + "/anchors/" + name + ".yaml"));
  AnchorHead head;
  DEPUTY_TRY(config.load("", head));
  AnchorFile out{head.soc, head.source, {}};
  for (int i = 0; config.has_group(fmt::format("rows.{}", i)); ++i)
    DEPUTY_TRY(config.load(fmt::format("rows.{}", i), out.rows.emplace_back()));
  DEPUTY_TRY(config.finish());
  for (const AnchorRow& row : out.rows)
    if (row.cycles <= 0)
      return base::Error{base::ErrorKind::kConfig, name, fmt::format("row '{}' has no cycles", row.label), "give the reference's cycles"};
  return out;
}

}  // namespace deputy::tools
