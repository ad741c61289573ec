#include "tools/explore/area.h"

#include "tools/simulator/target.h"

namespace deputy::tools {

base::Result<AreaTable> load_area(const std::string& name, soc::RowSources* sources) {
  DEPUTY_ASSIGN(const std::string path, find_config("area", name));
  DEPUTY_ASSIGN(auto config, base::Config::from_file(path));
  AreaTable out;
  soc::RowSources rows;
  (void)config.find("node_nm");  // tells the reader
  DEPUTY_TRY(soc::load_sourced(config, "", out, rows));
  DEPUTY_TRY(config.finish());
  if (sources) *sources = std::move(rows);
  return out;
}

double area_um2(const AreaTable& t, const soc::SocConfig& c) {
  const auto of = [](auto count) { return static_cast<double>(count); };
  return t.fixed_um2 + t.mac_um2 * of(c.npu.mac.per_cycle()) +
         t.accumulator_um2 * of(c.npu.mac.accumulators) +
         t.vec_lane_um2 * of(c.npu.vec.out_lanes + c.npu.vec.ew_lanes + c.npu.vec.pool_lanes) +
         t.sram_byte_um2 * of(c.sram.bytes) + t.spm_byte_um2 * of(c.npu.spm.bytes) +
         t.decoder_lane_um2 * of(c.npu.wdec.bytes_per_cycle) +
         t.bus_byte_um2 * of(c.noc.width_bytes + c.sram.width_bytes);
}

}  // namespace deputy::tools
