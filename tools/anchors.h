// Outside cycle counts (configs/anchors/*.yaml): what `deputy validate` and `deputy bench ratios` compare with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/result.h"

namespace deputy::tools {

/// One network of the reference.
struct AnchorRow {
  std::string label;
  std::string network;        ///< a built-in network; may be empty
  std::string model;          ///< a model file below a data folder; may be empty
  std::int64_t cycles = 0;
  double sram_kib = 0;        ///< SRAM the reference uses; 0: not known
  double flash_mb = 0;        ///< bytes it reads from the weights' memory, 10^6; 0: not known
  std::string per_layer;      ///< its table of layers, a file below another folder; may be empty
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.label, Field{.name = "label", .doc = "shown in the table"});
    v(s.network, Field{.name = "network", .doc = "a built-in network"});
    v(s.model, Field{.name = "model", .doc = "model file below the data folder"});
    v(s.cycles, Field{.name = "cycles", .doc = "reference cycles of one inference", .min = 1});
    v(s.sram_kib, Field{.name = "sram_kib", .doc = "SRAM the reference uses", .unit = "KiB", .min = 0, .max = 1e6});
    v(s.flash_mb, Field{.name = "flash_mb", .doc = "flash traffic of the reference", .unit = "MB", .min = 0, .max = 1e6});
    v(s.per_layer, Field{.name = "per_layer", .doc = "the reference's per-layer table"});
  }
};

struct AnchorFile {
  std::string soc;     ///< SoC configuration to run on
  std::string source;  ///< where the numbers come from
  std::vector<AnchorRow> rows;
};

/// `name`: a path, or NAME for configs/anchors/NAME.yaml of the project.
base::Result<AnchorFile> load_anchors(const std::string& name);

}  // namespace deputy::tools
