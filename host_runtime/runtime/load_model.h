// What a session needs and no run changes: the verified executable, its memory on the SoC, its
// operators and programs ready to start.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "arch/executable.h"
#include "arch/host_timing.h"
#include "deputy/hw_port.h"
#include "host_runtime/cpu/kernels.h"
#include "host_runtime/hal/intc_driver.h"
#include "host_runtime/hal/npu_driver.h"
#include "host_runtime/runtime/shared_buffer.h"

namespace deputy::host_runtime {

struct AddressRange {
  std::uint64_t address = 0, bytes = 0;
};

/// A host operator with its operands resolved.
struct HostStep {
  arch::OpKind kind = arch::OpKind::CONV_2D;
  const arch::OpAttrs* attrs = nullptr;  ///< in the executable
  std::vector<arch::TensorView> inputs, outputs;
  std::vector<MemoryTouch> touches;  ///< its operands' bytes
  std::vector<arch::HostWork> work;
};

/// A command stream in DRAM, with the memory it touches besides the constants.
struct LoadedProgram {
  SharedBuffer stream;
  std::vector<AddressRange> reads, writes;
  std::uint64_t budget_ps = 0;  ///< how long the driver waits (verify_program.h)
};

struct LoadedModel {
  explicit LoadedModel(HwPort& port) : intc(port), npu(port, intc) {}

  arch::Executable executable;
  SharedBuffer constants, fast_arena, slow_arena;
  std::vector<HostStep> host_steps;  ///< by step; empty records at NPU steps
  std::vector<LoadedProgram> programs;
  IntcDriver intc;
  NpuDriver npu;

  const SharedBuffer& region(arch::Region region) const;
  /// desc and bytes of a tensor; data is null for one without storage.
  arch::TensorView view(std::uint32_t tensor) const;
  /// The tensor's bytes as memory traffic; 0 bytes for one without storage.
  MemoryTouch touch(std::uint32_t tensor, bool write) const;
};

/// See Session::load. `port` must outlive the model. Loading is the boot loader's work and costs no
/// modelled time except register accesses and the cleaning of what it wrote.
base::Result<std::unique_ptr<LoadedModel>> load_model(HwPort& port,
                                                      std::span<const std::uint8_t> file,
                                                      const std::string& name);

}  // namespace deputy::host_runtime
