// What the NPU counted: plain data, no SystemC. Reports and the SoC's books are made from it.
#pragma once

#include <cstdint>
#include <vector>

namespace deputy::npu_model {

/// One source operator's share of the NPU's work (instruction tag). Times absolute, in ps.
struct NpuOpRecord {
  std::uint32_t tag = 0;
  std::uint64_t first_start_ps = 0, last_end_ps = 0;
  /// Its share of the job's time: from the previous compute instruction's end (the job's start for
  /// the first) to each of its own. STOREs of an operator that computes nothing count like compute
  /// instructions; what follows the last of all belongs to the operator that finishes last. So
  /// operators that overlap each get the time that the compute queue spent on them or waited for
  /// them, and the shares add up to the job.
  std::uint64_t own_ps = 0;
  std::uint64_t instructions = 0, macs = 0;
  std::uint64_t compute_cycles = 0, mac_cycles = 0, vec_cycles = 0, spm_cycles = 0;
  std::uint64_t unit_cycles =
      0;  ///< of the slower of MAC array and vector unit, instruction by instruction
  std::uint64_t spm_bytes = 0;  ///< moved between the scratchpad and the compute units
  std::uint64_t load_cycles = 0, store_cycles = 0;  ///< cycles the queues were busy with this op
  std::uint64_t load_bytes = 0, store_bytes = 0;
  std::uint64_t stream_bytes = 0,
                decoded_bytes =
                    0;  ///< into and out of the weight decoder; the former is part of load_bytes
  std::uint64_t weight_bytes = 0;  ///< weights and parameters, part of load_bytes
  std::uint64_t dram_load_bytes = 0, dram_store_bytes = 0;  ///< the parts that went to DRAM
  std::uint64_t vec_results = 0;  ///< outputs of the requantiser and the vector units
};

/// One NPU job.
struct NpuJobRecord {
  std::uint64_t start_ps = 0, end_ps = 0;  ///< CMD to END (or fault, or reset)
  std::uint64_t cycles = 0;
  std::uint64_t instructions = 0;  ///< completed, END included
  std::uint64_t command_bytes = 0;
  std::uint64_t mac_active_cycles = 0, load_active_cycles = 0, store_active_cycles = 0,
                compute_active_cycles = 0;
  std::uint64_t stall_load_cycles = 0,
                stall_store_cycles =
                    0;  ///< compute instructions waited: for LOADs (and STOREs), for STOREs only
  /// Instructions that started while one in another queue, still at work, wrote or read the same
  /// scratchpad bytes: the program lacks a wait, and on silicon its result would depend on timing.
  std::uint64_t hazards = 0;
  std::uint32_t hazard_tag = 0;  ///< of the first
  std::uint32_t error = 0;       ///< arch::NpuError
  bool aborted = false;          ///< ended by RESET
  std::vector<NpuOpRecord> ops;  ///< by tag; only instructions that completed
};

}  // namespace deputy::npu_model
