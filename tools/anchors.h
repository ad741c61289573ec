// Numbers from outside (configs/anchors/*.yaml): what `deputy validate` and `deputy bench ratios`
// compare with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/result.h"

namespace deputy::tools {

/// One number of a reference, how ours is measured, and how far ours may be from it.
struct AnchorRow {
  std::string id;  ///< unique among all files; names the row in the baseline
  std::string label;
  std::string measure =
      "npu_cycles";  ///< what of the run is compared: a row of the table in validate_measures.cpp
  double reference = 0;  ///< 0: the measure works it out (bytes over bandwidth), or there is none
  std::string source;    ///< of this number, when it is not the file's
  double within = 0;     ///< percent of the reference that ours may be off by; 0: no such bound
  double from = 0, to = 0;  ///< or limits of our number itself; both 0: none
  bool quick = true;        ///< part of `validate --quick`
  bool plot = false;        ///< a point of the plot of estimated against reference cycles
  std::string note;         ///< why it differs, or what is special about it
  std::string soc;          ///< SoC configuration, when it is not the file's
  std::string network;      ///< a built-in network; may be empty
  std::string model;        ///< or a model file below a data folder
  std::string set;       ///< knobs on top of the SoC's file: "npu.clock_mhz=370,noc.clock_mhz=370"
  std::string switches;  ///< optimisations off, as in --compare: "no-cascade,no-fusion"
  std::string
      table;  ///< the reference's numbers for each layer, for measures that read such a file
  double sram_kib = 0;       ///< SRAM the reference uses; 0: all there is
  std::string over_soc;      ///< ratios: the run that ours is divided by is on this SoC
  std::string over_set;      ///< with these knobs
  double over_sram_kib = 0;  ///< and may use so much SRAM
  std::string device;        ///< dram_*: a file of configs/dram, without its ending
  std::string mapping;       ///< and dram.controller.mapping, where it is not the default
  double flash_mb = 0;  ///< bytes the reference reads from the weights' memory, 10^6; 0: not known
  std::string per_layer;  ///< `bench ratios`: the reference's table of layers, a file below another
                          ///< folder; may be empty
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.id, Field{.name = "id", .doc = "unique name"});
    v(s.label, Field{.name = "label", .doc = "shown in the table"});
    v(s.measure, Field{.name = "measure", .doc = "what is compared"});
    v(s.reference, Field{.name = "reference", .doc = "the reference's number", .min = 0});
    v(s.source, Field{.name = "source", .doc = "where this number comes from"});
    v(s.within,
      Field{.name = "within", .doc = "how far ours may be off", .unit = "%", .min = 0, .max = 100});
    v(s.from, Field{.name = "from", .doc = "least number of ours"});
    v(s.to, Field{.name = "to", .doc = "largest number of ours"});
    v(s.quick, Field{.name = "quick", .doc = "part of the quick form"});
    v(s.plot, Field{.name = "plot", .doc = "a point of the plot"});
    v(s.note, Field{.name = "note", .doc = "remark"});
    v(s.soc, Field{.name = "soc", .doc = "SoC configuration"});
    v(s.network, Field{.name = "network", .doc = "a built-in network"});
    v(s.model, Field{.name = "model", .doc = "model file below the data folder"});
    v(s.set, Field{.name = "set", .doc = "knobs on top of the SoC's"});
    v(s.switches, Field{.name = "switches", .doc = "optimisations that are off"});
    v(s.table, Field{.name = "table", .doc = "the reference's numbers for each layer"});
    v(s.sram_kib, Field{.name = "sram_kib",
                        .doc = "SRAM the reference uses",
                        .unit = "KiB",
                        .min = 0,
                        .max = 1e6});
    v(s.over_soc, Field{.name = "over_soc", .doc = "SoC of the divisor"});
    v(s.over_set, Field{.name = "over_set", .doc = "knobs of the divisor"});
    v(s.over_sram_kib, Field{.name = "over_sram_kib",
                             .doc = "SRAM of the divisor",
                             .unit = "KiB",
                             .min = 0,
                             .max = 1e6});
    v(s.device, Field{.name = "device", .doc = "a file of configs/dram"});
    v(s.mapping, Field{.name = "mapping", .doc = "dram.controller.mapping"});
    v(s.flash_mb, Field{.name = "flash_mb",
                        .doc = "flash traffic of the reference",
                        .unit = "MB",
                        .min = 0,
                        .max = 1e6});
    v(s.per_layer, Field{.name = "per_layer", .doc = "the reference's per-layer table"});
  }
  bool has_bound() const { return within > 0 || from != 0 || to != 0; }
};

struct AnchorFile {
  std::string title;            ///< of its section in the table
  std::string soc;              ///< SoC configuration to run on
  std::string source;           ///< where the numbers come from
  std::vector<AnchorRow> rows;  ///< soc and source filled in from the file where a row had none
};

/// `name`: a path, or NAME for configs/anchors/NAME.yaml of the project.
base::Result<AnchorFile> load_anchors(const std::string& name);

/// The path of a file of configs/anchors.
std::string anchor_path(const std::string& file);

}  // namespace deputy::tools
