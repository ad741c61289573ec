// The shape of one NPU, the same knobs as npu.mac, npu.spm and npu.vec of a SoC's YAML (arch/npu_config.h). A build
// chooses another shape with -D on Verilator's command line.
`ifndef NPU_SHAPE_SVH
`define NPU_SHAPE_SVH
`ifndef NPU_OC_LANES
`define NPU_OC_LANES 8
`endif
`ifndef NPU_IC_LANES
`define NPU_IC_LANES 8
`endif
`ifndef NPU_PIXELS
`define NPU_PIXELS 2
`endif
`ifndef NPU_ACCUMULATORS
`define NPU_ACCUMULATORS 2048
`endif
`ifndef NPU_SPM_BYTES
`define NPU_SPM_BYTES 131072
`endif
`ifndef NPU_SPM_BYTES_PER_CYCLE
`define NPU_SPM_BYTES_PER_CYCLE 256
`endif
`ifndef NPU_EW_LANES
`define NPU_EW_LANES 1
`endif
`endif
