#include "tools/anchors.h"

#include <fmt/format.h>

#include "base/config.h"
#include "tools/simulator/target.h"

namespace deputy::tools {
namespace {

struct AnchorHead {
  std::string title, soc, source;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.title, Field{.name = "title", .doc = "of the section"});
    v(s.soc, Field{.name = "soc", .doc = "SoC configuration to run on"});
    v(s.source, Field{.name = "source", .doc = "where the reference comes from"});
  }
};

base::Status check(const AnchorRow& row, const std::string& file) {
  const auto bad = [&](const char* what, const char* remedy) {
    return base::Error{base::ErrorKind::kConfig, file,
                       fmt::format("row '{}' {}", row.id.empty() ? row.label : row.id, what),
                       remedy};
  };
  if (row.id.empty()) return bad("has no id", "give it a name of its own");
  if (row.source.empty()) return bad("has no source", "say where its number comes from");
  if (!row.network.empty() && !row.model.empty())
    return bad("has a network and a model", "make it two rows");
  if (row.within > 0 && (row.from != 0 || row.to != 0))
    return bad("has two bounds", "give either within, or from and to");
  if (row.from > row.to) return bad("has limits the wrong way round", "from must not exceed to");
  return {};
}

}  // namespace

std::string anchor_path(const std::string& file) {
  return std::string(DEPUTY_CONFIG_DIR) + "/anchors/" + file;
}

base::Result<AnchorFile> load_anchors(const std::string& name) {
  DEPUTY_ASSIGN(const std::string path, find_config("anchors", name));
  DEPUTY_ASSIGN(auto config, base::Config::from_file(path));
  AnchorHead head;
  DEPUTY_TRY(config.load("", head));
  AnchorFile out{head.title, head.soc, head.source, {}};
  for (int i = 0; config.has_group(fmt::format("rows.{}", i)); ++i)
    DEPUTY_TRY(config.load(fmt::format("rows.{}", i), out.rows.emplace_back()));
  DEPUTY_TRY(config.finish());
  for (AnchorRow& row : out.rows) {
    if (row.soc.empty()) row.soc = out.soc;
    if (row.source.empty()) row.source = out.source;
    DEPUTY_TRY(check(row, name));
  }
  return out;
}

}  // namespace deputy::tools
