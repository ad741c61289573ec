// Energy: models count events, this table says what each costs. Values and their sources are in
// configs/energy/*.yaml.
#pragma once

#include "base/fields.h"

namespace deputy::sim {

/// Dynamic energy in pJ an event, static power in mW, and what is left of static power in a sleep
/// state.
struct EnergyTable {
  double npu_mac_pj = 0, npu_vec_pj = 0, npu_spm_read_byte_pj = 0, npu_spm_write_byte_pj = 0,
         npu_decode_byte_pj = 0, npu_cycle_pj = 0, npu_wake_pj = 0;
  double dsp_cycle_pj = 0, dsp_scalar_pj = 0, dsp_vector_pj = 0, dsp_mac_pj = 0,
         dsp_tcm_read_byte_pj = 0, dsp_tcm_write_byte_pj = 0, dsp_wake_pj = 0;
  double sram_read_byte_pj = 0, sram_write_byte_pj = 0, sram_wake_pj = 0, noc_byte_pj = 0;
  double dram_read_byte_pj = 0, dram_write_byte_pj = 0, dram_activate_pj = 0;
  double host_cycle_pj = 0, host_wake_pj = 0;
  double npu_static_mw = 0, npu_gated_share = 0;
  double dsp_static_mw = 0, dsp_gated_share = 0;
  double sram_static_mw_per_mib = 0, sram_retention_share = 0;
  double dram_static_mw = 0, dram_sleep_mw = 0;
  double host_static_mw = 0, host_sleep_share = 0;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    const auto pj = [](const char* name, const char* doc) {
      return Field{.name = name, .doc = doc, .unit = "pJ", .min = 0, .max = 1e9};
    };
    const auto mw = [](const char* name, const char* doc) {
      return Field{.name = name, .doc = doc, .unit = "mW", .min = 0, .max = 1e6};
    };
    const auto share = [](const char* name, const char* doc) {
      return Field{.name = name, .doc = doc, .min = 0, .max = 1};
    };
    v(s.npu_mac_pj, pj("npu_mac_pj", "one int8 multiply with its int32 accumulation"));
    v(s.npu_vec_pj,
      pj("npu_vec_pj", "one output requantised, or one element-wise, pooling or table result"));
    v(s.npu_spm_read_byte_pj,
      pj("npu_spm_read_byte_pj",
         "one byte moved between scratchpad and compute units, or read to be stored"));
    v(s.npu_spm_write_byte_pj, pj("npu_spm_write_byte_pj", "one byte loaded into the scratchpad"));
    v(s.npu_decode_byte_pj, pj("npu_decode_byte_pj", "one byte that the weight decoder puts out"));
    v(s.npu_cycle_pj, pj("npu_cycle_pj", "clock tree and control for one cycle with the clock on"));
    v(s.npu_wake_pj, pj("npu_wake_pj", "switching the NPU's power on again"));
    v(s.dsp_cycle_pj,
      pj("dsp_cycle_pj", "DSP: clock tree, fetch and control for one cycle of a job"));
    v(s.dsp_scalar_pj, pj("dsp_scalar_pj", "one scalar operation"));
    v(s.dsp_vector_pj, pj("dsp_vector_pj", "one operation of the vector ALU, 128 bytes"));
    v(s.dsp_mac_pj, pj("dsp_mac_pj", "one operation of the multiply-accumulate slot, 128 bytes"));
    v(s.dsp_tcm_read_byte_pj,
      pj("dsp_tcm_read_byte_pj",
         "one byte read in the DSP's data memory, by a load or to be stored"));
    v(s.dsp_tcm_write_byte_pj, pj("dsp_tcm_write_byte_pj", "one byte written there"));
    v(s.dsp_wake_pj, pj("dsp_wake_pj", "switching the DSP's power on again"));
    v(s.sram_read_byte_pj, pj("sram_read_byte_pj", "one byte read in the shared SRAM"));
    v(s.sram_write_byte_pj, pj("sram_write_byte_pj", "one byte written in the shared SRAM"));
    v(s.sram_wake_pj, pj("sram_wake_pj", "shared SRAM from retention to full voltage"));
    v(s.noc_byte_pj, pj("noc_byte_pj", "one byte through the interconnect"));
    v(s.dram_read_byte_pj, pj("dram_read_byte_pj", "one byte read, array and I/O"));
    v(s.dram_write_byte_pj, pj("dram_write_byte_pj", "one byte written, array and I/O"));
    v(s.dram_activate_pj, pj("dram_activate_pj", "one activate with its precharge"));
    v(s.host_cycle_pj, pj("host_cycle_pj", "one busy CPU cycle"));
    v(s.host_wake_pj, pj("host_wake_pj", "switching the CPU's power on again"));
    v(s.npu_static_mw, mw("npu_static_mw", "NPU leakage"));
    v(s.npu_gated_share,
      share("npu_gated_share", "what is left of it with the power off: switches, always-on cells"));
    v(s.dsp_static_mw, mw("dsp_static_mw", "DSP leakage, its memories included"));
    v(s.dsp_gated_share,
      share("dsp_gated_share",
            "what is left of it with the power off: switches, memories that keep their contents"));
    v(s.sram_static_mw_per_mib, mw("sram_static_mw_per_mib", "SRAM leakage per MiB"));
    v(s.sram_retention_share, share("sram_retention_share", "what is left of it in retention"));
    v(s.dram_static_mw,
      mw("dram_static_mw", "DRAM standby between accesses, while the SoC is awake"));
    v(s.dram_sleep_mw, mw("dram_sleep_mw", "DRAM while the SoC sleeps"));
    v(s.host_static_mw, mw("host_static_mw", "CPU leakage and idle clocking"));
    v(s.host_sleep_share, share("host_sleep_share", "what is left of it with the power off"));
  }
};

}  // namespace deputy::sim
