#include "host_runtime/runtime/load_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "host_runtime/runtime/verify_dsp_job.h"
#include "host_runtime/runtime/verify_steps.h"

namespace deputy::host_runtime {
namespace {

using arch::Region;
using base::Error;
using base::ErrorKind;

constexpr std::uint64_t kBufferAlign = 64;
// A DSP job is no longer than this, and never stands still for so long (dsp_work.cpp has the same).
constexpr std::uint64_t kDspBudgetPs = 1'000'000'000'000, kDspProgressPs = 10'000'000'000;

// A tensor's bytes in its region; empty without storage.
RegionRange place(const arch::PlacedTensor& t) {
  if (t.placement == arch::Placement::kNone || t.desc.bytes() == 0) return {};
  return {static_cast<int>(t.region), t.offset,
          t.offset + static_cast<std::uint64_t>(t.desc.bytes())};
}
bool overlap(const RegionRange& a, const RegionRange& b) {
  return a.region == b.region && a.begin < b.end && b.begin < a.end;
}

// Kernels tell an empty operand from an unknown one by its pointer.
std::uint8_t* empty_bytes() {
  static std::uint64_t empty = 0;
  return reinterpret_cast<std::uint8_t*>(&empty);
}

class Loader {
 public:
  Loader(Device& device, std::shared_ptr<Context> context, const std::string& name)
      : device_(device),
        port_(device.port()),
        name_(name),
        model_(std::make_unique<LoadedModel>()) {
    model_->context = std::move(context);
  }

  base::Result<std::unique_ptr<LoadedModel>> run(std::span<const std::uint8_t> file) {
    DEPUTY_ASSIGN(model_->executable, arch::read_executable(file, name_));
    // All that can be known from the file first, then what needs memory, then what needs the NPU.
    DEPUTY_TRY(verify_programs());
    if ((!exe().programs.empty() || with_dsp()) && !model_->context) {
      DEPUTY_ASSIGN(model_->context, device_.default_context());
    }
    DEPUTY_TRY(allocate());
    DEPUTY_TRY(load_fallbacks());
    for (const arch::Step& step : exe().steps) {
      model_->host_steps.emplace_back();
      if (step.kind == arch::StepKind::kHost)
        DEPUTY_TRY(prepare_host(step, model_->host_steps.back()));
      else
        note_restart(step);
    }
    if (!exe().programs.empty()) {
      DEPUTY_TRY(device_.start());
      DEPUTY_TRY(device_.npu().check_target(exe().target, name_));
    }
    if (with_dsp()) {
      DEPUTY_TRY(device_.start());
      DEPUTY_TRY(device_.dsp().check_memories(dsp_.tcm_bytes, dsp_.program_bytes, name_));
    }
    return std::move(model_);
  }

 private:
  const arch::Executable& exe() const { return model_->executable; }

  base::Status verify_programs() {
    ProgramLimits limits;
    limits.target = exe().target;
    for (std::size_t r = 0; r < arch::kRegionCount; ++r) {
      limits.region_bytes[r] = exe().region_bytes(static_cast<Region>(r));
      limits.writable[r] = exe().region_written(static_cast<Region>(r));
    }
    limits.contents[static_cast<int>(Region::kConstants)] = exe().constants;
    limits.op_count = exe().ops.size();
    limits.transaction_ps = device_.options().board.transaction_ps;
    limits.clock_division = device_.options().board.clock_division;
    for (std::size_t i = 0; i < exe().programs.size(); ++i) {
      DEPUTY_ASSIGN(auto footprint, verify_program(exe().programs[i].words, limits,
                                                   fmt::format("{}, program {}", name_, i)));
      footprints_.push_back(std::move(footprint));
    }
    dsp_footprints_.resize(exe().dsp_jobs.size());
    for (const arch::Step& step : exe().steps) {
      if (step.dsp_job == arch::kNoDspJob) continue;
      DspFootprint& footprint = dsp_footprints_[step.dsp_job];
      DEPUTY_ASSIGN(footprint, verify_dsp_job(exe(), step,
                                              fmt::format("{}, DSP job {}", name_, step.dsp_job)));
      dsp_.tcm_bytes = std::max(dsp_.tcm_bytes, footprint.tcm_bytes);
      dsp_.program_bytes = std::max(dsp_.program_bytes, footprint.program_bytes);
    }
    return verify_steps(exe(), footprints_, name_);
  }
  bool with_dsp() const { return device_.options().dsp && !exe().dsp_jobs.empty(); }

  base::Status allocate() {
    DEPUTY_ASSIGN(model_->constants,
                  device_.allocate(MemoryKind::kDram, exe().constants.size(), kBufferAlign));
    if (const SharedBuffer& constants = model_->constants; constants.bytes() != 0) {
      std::memcpy(constants.host(), exe().constants.data(), constants.bytes());
      port_.clean(constants.address(), constants.bytes());
      DEPUTY_TRY(map(constants));
    }
    for (std::size_t i = 0; i < exe().programs.size(); ++i) {
      LoadedProgram& program = model_->programs.emplace_back();
      DEPUTY_TRY(load_words(exe().programs[i].words, program.stream));
      program.limits.budget_ps = footprints_[i].budget_ps;
      program.limits.progress_ps = footprints_[i].progress_ps;
      const auto besides_constants = [](std::vector<RegionRange> ranges) {
        std::erase_if(ranges, [](const RegionRange& r) {
          return r.region == static_cast<int>(Region::kConstants);
        });
        return ranges;
      };
      program.reads = besides_constants(std::move(footprints_[i].reads));
      program.writes = besides_constants(std::move(footprints_[i].writes));
    }
    for (std::size_t i = 0; with_dsp() && i < exe().dsp_jobs.size(); ++i) {
      LoadedProgram& job = model_->dsp_jobs.emplace_back();
      DEPUTY_TRY(load_words(exe().dsp_jobs[i].words, job.stream));
      job.reads = std::move(dsp_footprints_[i].reads);
      job.writes = std::move(dsp_footprints_[i].writes);
      job.limits.budget_ps = kDspBudgetPs;
      job.limits.progress_ps = std::max(kDspProgressPs, 8 * device_.options().board.transaction_ps);
    }
    return {};
  }

  base::Status load_words(const std::vector<std::uint32_t>& words, SharedBuffer& into) {
    DEPUTY_ASSIGN(into, device_.allocate(MemoryKind::kDram, words.size() * 4, kBufferAlign));
    std::uint8_t* to = into.host();
    for (const std::uint32_t word : words)
      for (int shift = 0; shift < 32; shift += 8) *to++ = static_cast<std::uint8_t>(word >> shift);
    port_.clean(into.address(), into.bytes());
    return map(into);
  }

  // The engines read it, and nobody writes it.
  base::Status map(const SharedBuffer& buffer) {
    if (!model_->context) return {};
    DEPUTY_ASSIGN(model_->mappings.emplace_back(),
                  Mapping::make(model_->context->space(), buffer.address(), buffer.bytes(), false));
    return {};
  }

  base::Status load_fallbacks() {
    if (!device_.options().recovery.cpu_fallback) return {};
    for (std::size_t i = 0; i < exe().fallbacks.size(); ++i) {
      const std::string name = fmt::format("{}, fallback {}", name_, i);
      DEPUTY_ASSIGN(model_->fallbacks.emplace_back(),
                    Loader(device_, nullptr, name).run(exe().fallbacks[i]));
    }
    return {};
  }

  // A program that overwrites its inputs cannot simply run again after it has run in part.
  void note_restart(const arch::Step& step) {
    LoadedProgram& program = model_->programs[step.program];
    for (const std::uint32_t id : step.inputs)
      for (const RegionRange& written : program.writes)
        if (overlap(place(exe().tensors[id]), written)) program.limits.restartable = false;
  }

  base::Status prepare_host(const arch::Step& step, HostStep& out) {
    const arch::SourceOp& op = exe().ops[step.source_op];
    out.kind = op.kind;
    out.attrs = &step.attrs;
    const std::string where =
        fmt::format("{}, {} '{}'", name_, arch::op_word(op.kind, step.attrs), op.name);
    // Operands as a kernel's check wants them: the data of constants only.
    std::vector<arch::TensorView> known, results;
    for (const std::uint32_t id : step.inputs) {
      if (id == arch::kNoTensor) {
        known.emplace_back();
        continue;
      }
      const arch::PlacedTensor& t = exe().tensors[id];
      known.push_back({&t.desc, t.constant ? constants_view(t) : nullptr});
    }
    for (const std::uint32_t& id : step.outputs) {
      results.push_back({&exe().tensors[id].desc, nullptr});
      for (const auto* others : {&step.inputs, &step.outputs})
        for (const std::uint32_t& other : *others)
          if (other != arch::kNoTensor && &other != &id &&
              overlap(place(exe().tensors[id]), place(exe().tensors[other])))
            return Error{ErrorKind::kModel, where, "its outputs overlap its operands in memory",
                         "compile the model again"};
    }
    if (const base::Status status = check_host_op(op.kind, step.attrs, known, results);
        !status.ok()) {
      Error error = status.error();
      error.where = where;
      return error;
    }
    out.work = arch::host_work(op.kind, step.attrs, known, results);
    return {};
  }

  std::uint8_t* constants_view(const arch::PlacedTensor& t) const {
    if (t.desc.bytes() == 0) return empty_bytes();
    return t.placement == arch::Placement::kRegion ? model_->constants.host() + t.offset : nullptr;
  }

  Device& device_;
  HwPort& port_;
  const std::string& name_;
  std::unique_ptr<LoadedModel> model_;
  std::vector<ProgramFootprint> footprints_;
  std::vector<DspFootprint> dsp_footprints_;
  DspFootprint dsp_;  ///< the most that its jobs need
};

}  // namespace

bool LoadedModel::arenas_shareable() const {
  if (executable.steps.size() != 1 || executable.steps[0].kind != arch::StepKind::kNpu)
    return false;
  const auto outside = [&](std::uint32_t id) {
    return executable.tensors[id].region > Region::kSlowArena;
  };
  return std::ranges::all_of(executable.inputs, outside) &&
         std::ranges::all_of(executable.outputs, outside);
}

base::Result<ModelMemory> ModelMemory::make(Device& device, const LoadedModel& model,
                                            const ModelMemory* shared) {
  ModelMemory out;
  out.model_ = &model;
  const auto map = [&](const auto& b, Mapping& mapping) -> base::Status {
    if (!model.context) return {};
    DEPUTY_ASSIGN(mapping, Mapping::make(model.context->space(), b.address(), b.bytes(), true));
    return {};
  };
  const auto memory = [](const SharedBuffer& b) {
    return SharedMemory{b.address(), b.bytes(), b.host()};
  };
  out.bind(Region::kConstants, memory(model.constants));
  for (const arch::ExternalRegion& region : model.executable.externals) {
    const bool sram = region.memory == arch::ExternalMemory::kSram;
    External& own = out.external_.emplace_back();
    DEPUTY_ASSIGN(own.buffer,
                  Buffer::make(device.space(), sram ? MemoryKind::kSram : MemoryKind::kDram,
                               region.bytes, std::max<std::uint64_t>(region.align, kBufferAlign)));
    DEPUTY_TRY(map(own.buffer, own.mapping));
    out.bind(arch::external_region(static_cast<int>(out.external_.size()) - 1),
             own.buffer.exported());
  }
  if (shared) {
    for (const Region region : {Region::kFastArena, Region::kSlowArena})
      out.regions_[static_cast<std::size_t>(region)] = shared->region(region);
    return out;
  }
  DEPUTY_ASSIGN(out.fast_, device.allocate(MemoryKind::kSram, model.executable.fast_arena_bytes,
                                           kBufferAlign));
  DEPUTY_ASSIGN(out.slow_, device.allocate(MemoryKind::kDram, model.executable.slow_arena_bytes,
                                           kBufferAlign));
  for (const SharedBuffer* arena : {&out.fast_, &out.slow_})
    DEPUTY_TRY(map(*arena, out.mappings_.emplace_back()));
  out.bind(Region::kFastArena, memory(out.fast_));
  out.bind(Region::kSlowArena, memory(out.slow_));
  return out;
}

arch::TensorView ModelMemory::view(std::uint32_t tensor) const {
  const arch::PlacedTensor& t = model_->executable.tensors[tensor];
  if (t.desc.bytes() == 0) return {&t.desc, empty_bytes()};
  if (t.placement == arch::Placement::kNone) return {&t.desc, nullptr};
  return {&t.desc, region(t.region).host + t.offset};
}

MemoryTouch ModelMemory::touch(std::uint32_t tensor, bool write) const {
  const arch::PlacedTensor& t = model_->executable.tensors[tensor];
  if (t.placement == arch::Placement::kNone) return {0, 0, write};
  return {region(t.region).address + t.offset, static_cast<std::uint64_t>(t.desc.bytes()), write};
}

base::Result<std::unique_ptr<LoadedModel>> load_model(Device& device,
                                                      std::shared_ptr<Context> context,
                                                      std::span<const std::uint8_t> file,
                                                      const std::string& name) {
  return Loader(device, std::move(context), name).run(file);
}

}  // namespace deputy::host_runtime
