// A run's report as it was written (`deputy run --report`), as far as `deputy compare` and `deputy
// explain` read it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "arch/engine.h"
#include "base/result.h"
#include "tools/bounds.h"
#include "tools/report.h"

namespace deputy::tools {

/// One source operator.
struct ReportedLayer {
  std::string name, kind, reason, bound;
  arch::Engine engine = arch::Engine::kCpu;  ///< where it ran: a layer of the DSP or the NPU that
                                             ///< the CPU did is the CPU's
  double own_cycles = 0;                     ///< of its engine's clock
  double own_ns = 0;                         ///< the same as time
  double energy_nj = 0, load_bytes = 0, store_bytes = 0, weight_bytes = 0, decoded_bytes = 0;
  Bounds bounds;
  int fused_into = -1;                  ///< the layer whose kernel does its work
  std::map<std::string, double> tiles;  ///< tile shape -> how many
  DspTime dsp;                          ///< of one that the DSP did
  /// Not one that another layer's kernel does, or that is only a view.
  bool ran_on(arch::Engine e) const { return engine == e && !bound.empty(); }
  double bytes() const { return load_bytes + store_bytes; }
};

/// What the SoC has of everything that bounds a run.
struct ReportedTarget {
  double npu_mhz = 0, host_mhz = 0, dsp_mhz = 0, sram_bytes_per_cycle = 0, dram_bytes_per_cycle = 0,
         sram_bytes = 0, sram_used_bytes = 0;
};

struct ReportFile {
  std::string path, model, soc;
  ReportedTarget target;
  double latency_ns = 0, total_ns = 0, npu_cycles = 0, npu_busy_cycles = 0, dsp_busy_cycles = 0,
         host_cycles = 0, npu_macs = 0, mac_utilisation = 0;
  double total_nj = 0, inference_nj = 0;
  std::map<std::string, double> component_nj, cause_nj;  ///< both add up to total_nj
  std::map<std::string, double> memory_bytes;            ///< read and written, by memory
  std::map<std::string, double> counters;
  double dram_map_bytes = 0, dram_weight_bytes = 0, copied_bytes = 0;
  Bounds bounds;  ///< of all NPU work
  std::vector<ReportedLayer> layers;

  double ns_of_npu(double cycles) const {
    return target.npu_mhz > 0 ? cycles * 1000 / target.npu_mhz : 0;
  }
  double npu_ns() const;      ///< NPU jobs
  double dsp_ns() const;      ///< DSP jobs
  double cpu_ns() const;      ///< operators on the CPU
  double runtime_ns() const;  ///< the rest of the latency: copies, commands, interrupts
  double clock_mhz(arch::Engine engine) const;
  double jobs(arch::Engine engine) const;
  /// "3 conv1 (CONV_2D)".
  std::string layer_text(std::size_t index) const;
};

/// kInput when the text is no report of a run that went to its end, kIo when there is no such file.
base::Result<ReportFile> read_report(const std::string& path);
base::Result<ReportFile> parse_report(const std::string& text, const std::string& path);

}  // namespace deputy::tools
