// Energy: models count events, this table says what each costs. Values and their sources are in
// configs/energy/*.yaml.
#pragma once

#include "base/fields.h"

namespace deputy::sim {

/// Dynamic energy in pJ an event, static power in mW.
struct EnergyTable {
  double npu_mac_pj = 0, npu_vec_pj = 0, npu_spm_byte_pj = 0, npu_decode_byte_pj = 0, npu_cycle_pj = 0;
  double sram_byte_pj = 0, noc_byte_pj = 0;
  double dram_read_byte_pj = 0, dram_write_byte_pj = 0, dram_activate_pj = 0;
  double host_cycle_pj = 0;
  double npu_static_mw = 0, sram_static_mw_per_mib = 0, dram_static_mw = 0, host_static_mw = 0;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    const auto pj = [](const char* name, const char* doc) {
      return Field{.name = name, .doc = doc, .unit = "pJ", .min = 0, .max = 1e9};
    };
    const auto mw = [](const char* name, const char* doc) {
      return Field{.name = name, .doc = doc, .unit = "mW", .min = 0, .max = 1e6};
    };
    v(s.npu_mac_pj, pj("npu_mac_pj", "one int8 multiply with its int32 accumulation"));
    v(s.npu_vec_pj, pj("npu_vec_pj", "one output requantised, or one element-wise, pooling or table result"));
    v(s.npu_spm_byte_pj, pj("npu_spm_byte_pj", "one byte read or written in the scratchpad"));
    v(s.npu_decode_byte_pj, pj("npu_decode_byte_pj", "one byte that the weight decoder puts out"));
    v(s.npu_cycle_pj, pj("npu_cycle_pj", "clock tree and control for one cycle of a running job"));
    v(s.sram_byte_pj, pj("sram_byte_pj", "one byte read or written in the shared SRAM"));
    v(s.noc_byte_pj, pj("noc_byte_pj", "one byte through the interconnect"));
    v(s.dram_read_byte_pj, pj("dram_read_byte_pj", "one byte read, array and I/O"));
    v(s.dram_write_byte_pj, pj("dram_write_byte_pj", "one byte written, array and I/O"));
    v(s.dram_activate_pj, pj("dram_activate_pj", "one activate with its precharge"));
    v(s.host_cycle_pj, pj("host_cycle_pj", "one busy CPU cycle"));
    v(s.npu_static_mw, mw("npu_static_mw", "NPU leakage"));
    v(s.sram_static_mw_per_mib, mw("sram_static_mw_per_mib", "SRAM leakage per MiB"));
    v(s.dram_static_mw, mw("dram_static_mw", "DRAM standby"));
    v(s.host_static_mw, mw("host_static_mw", "CPU leakage and idle clocking"));
  }
};

}  // namespace deputy::sim
