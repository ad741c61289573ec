// What a session needs and no run changes: the verified executable, its constants and command
// streams in shared memory, its operators ready to start; and the memory that one inference at a
// time works in.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "arch/executable.h"
#include "arch/host_timing.h"
#include "deputy/hw_port.h"
#include "host_runtime/cpu/kernels.h"
#include "host_runtime/runtime/device.h"
#include "host_runtime/runtime/shared_buffer.h"
#include "host_runtime/runtime/verify_program.h"

namespace deputy::host_runtime {

/// A host operator, checked.
struct HostStep {
  arch::OpKind kind = arch::OpKind::CONV_2D;
  const arch::OpAttrs* attrs = nullptr;  ///< in the executable
  std::vector<arch::HostWork> work;
};

/// A command stream in DRAM.
struct LoadedProgram {
  SharedBuffer stream;
  std::vector<RegionRange> reads, writes;  ///< besides the constants
  JobLimits limits;
};

struct LoadedModel {
  /// By DSP job; empty without a DSP.
  std::vector<LoadedProgram> dsp_jobs;
  arch::Executable executable;
  SharedBuffer constants;
  std::vector<HostStep> host_steps;  ///< by step; empty records at NPU steps
  std::vector<LoadedProgram> programs;
  /// By program, when the device degrades to the CPU and the executable can: what computes it
  /// there.
  std::vector<std::unique_ptr<LoadedModel>> fallbacks;
  std::shared_ptr<Context>
      context;  ///< null: the executable needs no engine, or got the wrong file
  std::vector<Mapping> mappings;

  /// Can inferences in flight share arenas? Their ring runs one program after the other, so a
  /// single program whose inputs and outputs are outside leaves nothing there that another
  /// inference could spoil.
  bool arenas_shareable() const;
};

/// See Session::load. `context` is who will run it: its address space gets what the engines read.
/// Loading is the boot loader's work and costs no modelled time except register accesses and the
/// cleaning of what it wrote.
base::Result<std::unique_ptr<LoadedModel>> load_model(Device& device,
                                                      std::shared_ptr<Context> context,
                                                      std::span<const std::uint8_t> file,
                                                      const std::string& name);

/// Where an executable's regions are for one inference.
class ModelMemory {
 public:
  ModelMemory() = default;
  /// Arenas of its own, or those of `shared`; external regions of its own, in the memory
  /// they were compiled for, until the caller binds others. The model must outlive this.
  static base::Result<ModelMemory> make(Device& device, const LoadedModel& model,
                                        const ModelMemory* shared);

  struct RegionMemory {
    std::uint64_t address = 0, bytes = 0;
    std::uint8_t* host = nullptr;
  };
  const RegionMemory& region(arch::Region region) const {
    return regions_[static_cast<std::size_t>(region)];
  }
  /// Where a program's range begins.
  std::uint64_t address(const RegionRange& range) const {
    return region(static_cast<arch::Region>(range.region)).address + range.begin;
  }
  /// An external region in the caller's memory; what was bound before is given back.
  void bind_external(arch::Region region, const Buffer& buffer, Mapping mapping) {
    bind(region, buffer.exported());
    external_[static_cast<std::size_t>(arch::external_index(region))] = {buffer,
                                                                         std::move(mapping)};
  }
  /// The memory of an external region: its own until somebody binds another.
  const Buffer& external(arch::Region region) const {
    return external_[static_cast<std::size_t>(arch::external_index(region))].buffer;
  }

  /// desc and bytes of a tensor; data is null for one without storage.
  arch::TensorView view(std::uint32_t tensor) const;
  /// The tensor's bytes as memory traffic; 0 bytes for one without storage.
  MemoryTouch touch(std::uint32_t tensor, bool write) const;

 private:
  void bind(arch::Region region, const SharedMemory& memory) {
    regions_[static_cast<std::size_t>(region)] = {memory.address, memory.bytes, memory.host};
  }

  const LoadedModel* model_ = nullptr;
  SharedBuffer fast_, slow_;
  struct External {
    Buffer buffer;
    Mapping mapping;
  };
  std::vector<External> external_;  ///< by external region
  std::vector<Mapping> mappings_;
  std::array<RegionMemory, arch::kRegionCount> regions_;
};

}  // namespace deputy::host_runtime
