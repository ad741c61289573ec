// How large a SoC is, roughly: a proxy to compare points of an exploration by (docs/explore.md).
#pragma once

#include <string>

#include "base/result.h"
#include "soc/energy_tables.h"
#include "soc/soc_config.h"

namespace deputy::tools {

/// One file of configs/area. Rows without a value there are 0.
struct AreaTable {
  double mac_um2 = 0, vec_lane_um2 = 0, accumulator_um2 = 0, sram_byte_um2 = 0, spm_byte_um2 = 0;
  double decoder_lane_um2 = 0, bus_byte_um2 = 0, fixed_um2 = 0;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    const auto row = [](const char* name, const char* doc) {
      return Field{.name = name, .doc = doc, .unit = "um2", .min = 0, .max = 1e9};
    };
    v(s.mac_um2, row("mac_um2", "one multiply-accumulate unit"));
    v(s.vec_lane_um2,
      row("vec_lane_um2", "one lane of output stage, element-wise or pooling unit"));
    v(s.accumulator_um2, row("accumulator_um2", "one int32 accumulator"));
    v(s.sram_byte_um2, row("sram_byte_um2", "a byte of shared SRAM"));
    v(s.spm_byte_um2, row("spm_byte_um2", "a byte of scratchpad"));
    v(s.decoder_lane_um2, row("decoder_lane_um2", "a byte a cycle of the weight decoder"));
    v(s.bus_byte_um2, row("bus_byte_um2", "a byte of interconnect width"));
    v(s.fixed_um2, row("fixed_um2", "what no knob changes"));
  }
};

/// A path, or NAME -> configs/area/NAME.yaml. Every row must have a source. `sources` may be null.
base::Result<AreaTable> load_area(const std::string& name, soc::RowSources* sources = nullptr);

double area_um2(const AreaTable& table, const soc::SocConfig& soc);

}  // namespace deputy::tools
