// Runs an executable without a SoC: NPU programs in the interpreter, host steps in the CPU kernels.
#pragma once

#include <cstring>
#include <functional>
#include <random>
#include <stdexcept>
#include <vector>

#include "arch/executable.h"
#include "host_runtime/cpu/kernels.h"
#include "host_runtime/runtime/verify_program.h"
#include "host_runtime/runtime/verify_steps.h"
#include "npu_model/core/executor.h"
#include "tests/support/npu_interpreter.h"

namespace deputy::test {

using Bytes = std::vector<std::uint8_t>;

/// The engine's own datapath, with transfers and nothing else: quick enough for whole networks.
class FastNpu {
 public:
  FastNpu(const arch::NpuConfig& config, std::vector<std::span<std::uint8_t>> regions)
      : config_(config), executor_(config), regions_(std::move(regions)) {}

  void execute(const arch::Operation& op) {
    if (npu_model::check_instruction(op, config_) != arch::NpuError::kNone)
      throw std::runtime_error("the engine refuses an instruction");
    if (const auto* load = std::get_if<arch::Load>(&op)) return copy(*load, true);
    if (const auto* load = std::get_if<arch::LoadWeights>(&op)) return load_weights(*load);
    if (const auto* store = std::get_if<arch::Store>(&op)) return copy(*store, false);
    executor_.execute(op);
  }
  npu_model::Executor& executor() { return executor_; }

 private:
  void load_weights(const arch::LoadWeights& l) {
    const std::span<std::uint8_t> memory = regions_[l.region];
    if (l.mem_offset + l.stream_bytes > memory.size())
      throw std::runtime_error("outside region " + std::to_string(l.region));
    const auto fault = executor_.load_weights(l, memory.subspan(l.mem_offset, l.stream_bytes));
    if (fault != arch::CodeFault::kNone)
      throw std::runtime_error(std::string(arch::code_fault_text(fault)));
  }
  void copy(const arch::Transfer& t, bool load) {
    const std::span<std::uint8_t> memory = regions_[t.region];
    if (t.region == 0 && !load) throw std::runtime_error("a store to the constants");
    for (std::uint64_t p = 0; p < t.planes; ++p)
      for (std::uint64_t r = 0; r < t.rows; ++r) {
        const std::uint64_t at = t.mem_offset + p * t.mem_plane_stride + r * t.mem_row_stride;
        if (at + t.row_bytes > memory.size())
          throw std::runtime_error("outside region " + std::to_string(t.region));
        std::uint8_t* local =
            executor_.spm().data() + t.spm_addr + p * t.spm_plane_stride + r * t.spm_row_stride;
        load ? std::memcpy(local, memory.data() + at, t.row_bytes)
             : std::memcpy(memory.data() + at, local, t.row_bytes);
      }
  }

  arch::NpuConfig config_;
  npu_model::Executor executor_;
  std::vector<std::span<std::uint8_t>> regions_;
};

/// Throws unless the executable survives its file and its programs pass the runtime's verifier.
inline void check_loadable(const arch::Executable& e) {
  const auto bytes = arch::write_executable(e);
  const auto read = arch::read_executable(bytes, e.model_name);
  if (!read.ok()) throw std::runtime_error(read.error().text());
  if (arch::write_executable(*read) != bytes)
    throw std::runtime_error("the executable changes in its file");
  host_runtime::ProgramLimits limits;
  limits.target = e.target, limits.op_count = e.ops.size();
  for (std::size_t r = 0; r < arch::kRegionCount; ++r) {
    limits.region_bytes[r] = e.region_bytes(static_cast<arch::Region>(r));
    limits.writable[r] = e.region_written(static_cast<arch::Region>(r));
  }
  limits.contents[0] = e.constants;
  std::vector<host_runtime::ProgramFootprint> footprints;
  for (const arch::Program& program : e.programs) {
    const auto footprint = host_runtime::verify_program(program.words, limits, e.model_name);
    if (!footprint.ok()) throw std::runtime_error(footprint.error().text());
    footprints.push_back(*footprint);
  }
  const auto steps = host_runtime::verify_steps(e, footprints, e.model_name);
  if (!steps.ok()) throw std::runtime_error(steps.error().text());
}

class ExecutableRunner {
 public:
  /// fast: NPU programs in the engine's datapath, else in the plain interpreter.
  explicit ExecutableRunner(const arch::Executable& executable, bool fast = false)
      : e_(executable), fast_npu_(fast) {
    // Poison: bytes that nobody writes must not look like results.
    for (int r = 0; r < arch::kRegionCount; ++r)
      regions_.emplace_back(e_.region_bytes(static_cast<arch::Region>(r)),
                            static_cast<std::uint8_t>(0xC3 + 0x11 * r));
    regions_[0] = e_.constants;
  }

  /// Outputs in graph order. Throws on a fault, a host error or a read of unplaced storage.
  std::vector<Bytes> run(const std::vector<Bytes>& inputs, Order order = Order::kStream,
                         unsigned seed = 0) {
    std::mt19937 random(seed);
    if (inputs.size() != e_.inputs.size()) throw std::runtime_error("wrong number of inputs");
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].size() != static_cast<std::size_t>(e_.tensors[e_.inputs[i]].desc.bytes()))
        throw std::runtime_error("input size");
      if (!inputs[i].empty()) std::memcpy(data(e_.inputs[i]), inputs[i].data(), inputs[i].size());
    }
    for (const arch::Step& step : e_.steps) {
      if (step.kind == arch::StepKind::kHost) {
        host(step);
        continue;
      }
      const std::vector<Bytes> before =
          fallbacks_ && !e_.fallbacks.empty() ? tensors(step.inputs) : std::vector<Bytes>();
      const auto& words = e_.programs[step.program].words;
      if (npu_) {
        npu_(words, {regions_.begin(), regions_.end()});
      } else if (fast_npu_) {
        FastNpu npu(e_.target, {regions_.begin(), regions_.end()});
        run_program(npu, words, order, random);
      } else {
        NpuInterpreter npu(e_.target, {regions_.begin(), regions_.end()});
        run_program(npu, words, order, random);
      }
      if (fallbacks_ && !e_.fallbacks.empty()) check_fallback(step, before);
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const arch::PlacedTensor& t = e_.tensors[e_.inputs[i]];
      if (arch::is_external(t.region) && tensor(e_.inputs[i]) != inputs[i])
        throw std::runtime_error("an external input was written");
    }
    std::vector<Bytes> out;
    for (const std::uint32_t id : e_.outputs) out.push_back(tensor(id));
    return out;
  }

  /// run() holds every program against its fallback: its operands are still there when it has
  /// ended, and from them the fallback makes the results that it made.
  void check_fallbacks() { fallbacks_ = true; }

  /// NPU programs run in `npu`, which is given the words and the regions.
  using Npu =
      std::function<void(std::span<const std::uint32_t>, std::vector<std::span<std::uint8_t>>)>;
  void run_programs_in(Npu npu) { npu_ = std::move(npu); }

  Bytes tensor(std::uint32_t id) {
    const auto bytes = static_cast<std::size_t>(e_.tensors[id].desc.bytes());
    return bytes == 0 ? Bytes() : Bytes(data(id), data(id) + bytes);
  }

 private:
  std::vector<Bytes> tensors(const std::vector<std::uint32_t>& ids) {
    std::vector<Bytes> out;
    for (const std::uint32_t id : ids) out.push_back(tensor(id));
    return out;
  }
  void check_fallback(const arch::Step& step, const std::vector<Bytes>& before) {
    if (tensors(step.inputs) != before)
      throw std::runtime_error("a program has overwritten its operands");
    const auto fallback = arch::read_executable(e_.fallbacks[step.program], "fallback");
    if (!fallback.ok()) throw std::runtime_error(fallback.error().text());
    if (ExecutableRunner(*fallback).run(before) != tensors(step.outputs))
      throw std::runtime_error("fallback " + std::to_string(step.program) + " gives other bytes");
  }

  std::uint8_t* data(std::uint32_t id) {
    const arch::PlacedTensor& t = e_.tensors[id];
    if (t.placement != arch::Placement::kRegion)
      throw std::runtime_error("tensor " + std::to_string(id) + " has no storage");
    Bytes& region = regions_[static_cast<std::size_t>(t.region)];
    if (t.offset + static_cast<std::uint64_t>(t.desc.bytes()) > region.size())
      throw std::runtime_error("tensor outside its region");
    return region.data() + t.offset;
  }
  std::vector<arch::TensorView> views(const std::vector<std::uint32_t>& ids) {
    std::vector<arch::TensorView> out;
    for (const std::uint32_t id : ids) {
      if (id == arch::kNoTensor)
        out.push_back({});
      else
        out.push_back({&e_.tensors[id].desc, data(id)});
    }
    return out;
  }
  void host(const arch::Step& step) {
    const auto inputs = views(step.inputs), outputs = views(step.outputs);
    const arch::OpKind kind = e_.ops[step.source_op].kind;
    const auto check = host_runtime::check_host_op(kind, step.attrs, inputs, outputs);
    if (!check.ok()) throw std::runtime_error(check.error().text());
    const auto status = host_runtime::run_host_op(kind, step.attrs, inputs, outputs, e_.numerics);
    if (!status.ok()) throw std::runtime_error(status.error().text());
  }

  const arch::Executable& e_;
  const bool fast_npu_;
  bool fallbacks_ = false;
  Npu npu_;
  std::vector<Bytes> regions_;  // by arch::Region
};

}  // namespace deputy::test
