#include "host_runtime/runtime/load_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "host_runtime/runtime/verify_program.h"

namespace deputy::host_runtime {
namespace {

using arch::Region;
using base::Error;
using base::ErrorKind;

constexpr std::uint64_t kBufferAlign = 64;

bool overlap(const MemoryTouch& a, const MemoryTouch& b) {
  return a.bytes != 0 && b.bytes != 0 && a.address < b.address + b.bytes &&
         b.address < a.address + a.bytes;
}

class Loader {
 public:
  Loader(HwPort& port, const std::string& name)
      : port_(port), name_(name), model_(std::make_unique<LoadedModel>(port)) {}

  base::Result<std::unique_ptr<LoadedModel>> run(std::span<const std::uint8_t> file) {
    DEPUTY_ASSIGN(model_->executable, arch::read_executable(file, name_));
    // All that can be known from the file first, then what needs memory, then what needs the NPU.
    DEPUTY_TRY(verify_programs());
    DEPUTY_TRY(allocate());
    for (const arch::Step& step : exe().steps) {
      model_->host_steps.emplace_back();
      if (step.kind == arch::StepKind::kHost)
        DEPUTY_TRY(prepare_host(step, model_->host_steps.back()));
    }
    if (!exe().programs.empty()) {
      DEPUTY_TRY(model_->intc.probe());
      DEPUTY_TRY(model_->npu.probe());
      DEPUTY_TRY(model_->npu.check_target(exe().target, name_));
      for (const Region region : {Region::kConstants, Region::kFastArena, Region::kSlowArena})
        if (const SharedBuffer& buffer = model_->region(region); buffer.bytes() != 0)
          model_->npu.bind(static_cast<int>(region), buffer.address(), buffer.bytes());
    }
    return std::move(model_);
  }

 private:
  const arch::Executable& exe() const { return model_->executable; }

  base::Status verify_programs() {
    ProgramLimits limits;
    limits.target = exe().target;
    limits.region_bytes[static_cast<int>(Region::kConstants)] = exe().constants.size();
    limits.region_bytes[static_cast<int>(Region::kFastArena)] = exe().fast_arena_bytes;
    limits.region_bytes[static_cast<int>(Region::kSlowArena)] = exe().slow_arena_bytes;
    limits.writable[static_cast<int>(Region::kFastArena)] =
        limits.writable[static_cast<int>(Region::kSlowArena)] = true;
    limits.op_count = exe().ops.size();
    for (std::size_t i = 0; i < exe().programs.size(); ++i) {
      DEPUTY_ASSIGN(auto footprint, verify_program(exe().programs[i].words, limits,
                                                   fmt::format("{}, program {}", name_, i)));
      footprints_.push_back(std::move(footprint));
    }
    return {};
  }

  base::Status allocate() {
    DEPUTY_ASSIGN(model_->constants, SharedBuffer::make(port_, MemoryKind::kDram,
                                                        exe().constants.size(), kBufferAlign));
    DEPUTY_ASSIGN(model_->fast_arena, SharedBuffer::make(port_, MemoryKind::kSram,
                                                         exe().fast_arena_bytes, kBufferAlign));
    DEPUTY_ASSIGN(model_->slow_arena, SharedBuffer::make(port_, MemoryKind::kDram,
                                                         exe().slow_arena_bytes, kBufferAlign));
    if (const SharedBuffer& constants = model_->constants; constants.bytes() != 0) {
      std::memcpy(constants.host(), exe().constants.data(), constants.bytes());
      port_.clean(constants.address(), constants.bytes());
    }
    for (std::size_t i = 0; i < exe().programs.size(); ++i) {
      const auto& words = exe().programs[i].words;
      LoadedProgram& program = model_->programs.emplace_back();
      DEPUTY_ASSIGN(program.stream,
                    SharedBuffer::make(port_, MemoryKind::kDram, words.size() * 4, kBufferAlign));
      std::uint8_t* to = program.stream.host();
      for (const std::uint32_t word : words)
        for (int shift = 0; shift < 32; shift += 8)
          *to++ = static_cast<std::uint8_t>(word >> shift);
      port_.clean(program.stream.address(), program.stream.bytes());
      program.budget_ps = footprints_[i].budget_ps;
      program.reads = addresses(footprints_[i].reads);
      program.writes = addresses(footprints_[i].writes);
    }
    return {};
  }

  std::vector<AddressRange> addresses(const std::vector<RegionRange>& ranges) const {
    std::vector<AddressRange> out;
    for (const RegionRange& r : ranges)
      if (const auto region = static_cast<Region>(r.region); region != Region::kConstants)
        out.push_back({model_->region(region).address() + r.begin, r.end - r.begin});
    return out;
  }

  base::Status prepare_host(const arch::Step& step, HostStep& out) {
    const arch::SourceOp& op = exe().ops[step.source_op];
    out.kind = op.kind;
    out.attrs = &step.attrs;
    std::vector<arch::TensorView> known;  // as a kernel's check wants them: data of constants only
    const auto add = [&](std::uint32_t id, bool write) {
      const arch::TensorView view = id == arch::kNoTensor ? arch::TensorView{} : model_->view(id);
      (write ? out.outputs : out.inputs).push_back(view);
      if (!write)
        known.push_back(view && !exe().tensors[id].constant ? arch::TensorView{view.desc, nullptr}
                                                            : view);
      if (!view) return;
      if (const MemoryTouch touch = model_->touch(id, write); touch.bytes != 0)
        out.touches.push_back(touch);
    };
    for (const std::uint32_t id : step.inputs) add(id, false);
    for (const std::uint32_t id : step.outputs) add(id, true);

    const std::string where = fmt::format("{}, {} '{}'", name_, arch::op_name(op.kind), op.name);
    for (std::size_t i = 0; i < out.touches.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if ((out.touches[i].write || out.touches[j].write) &&
            overlap(out.touches[i], out.touches[j]))
          return Error{ErrorKind::kModel, where, "its outputs overlap its operands in memory",
                       "compile the model again"};
    std::vector<arch::TensorView> results;  // outputs have no data yet either
    for (const arch::TensorView& view : out.outputs) results.push_back({view.desc, nullptr});
    if (const base::Status status = check_host_op(op.kind, step.attrs, known, results);
        !status.ok()) {
      Error error = status.error();
      error.where = where;
      return error;
    }
    out.work = arch::host_work(op.kind, step.attrs, known, results);
    return {};
  }

  HwPort& port_;
  const std::string& name_;
  std::unique_ptr<LoadedModel> model_;
  std::vector<ProgramFootprint> footprints_;
};

}  // namespace

const SharedBuffer& LoadedModel::region(Region region) const {
  switch (region) {
    case Region::kConstants:
      return constants;
    case Region::kFastArena:
      return fast_arena;
    case Region::kSlowArena:
      return slow_arena;
  }
  DEPUTY_CHECK(false, "read_executable checked the region");
}

arch::TensorView LoadedModel::view(std::uint32_t tensor) const {
  // Kernels tell an empty operand from an unknown one by its pointer.
  static std::uint64_t empty = 0;
  const arch::PlacedTensor& t = executable.tensors[tensor];
  if (t.desc.bytes() == 0) return {&t.desc, reinterpret_cast<std::uint8_t*>(&empty)};
  if (t.placement == arch::Placement::kNone) return {&t.desc, nullptr};
  return {&t.desc, region(t.region).host() + t.offset};
}

MemoryTouch LoadedModel::touch(std::uint32_t tensor, bool write) const {
  const arch::PlacedTensor& t = executable.tensors[tensor];
  if (t.placement == arch::Placement::kNone) return {0, 0, write};
  return {region(t.region).address() + t.offset, static_cast<std::uint64_t>(t.desc.bytes()), write};
}

base::Result<std::unique_ptr<LoadedModel>> load_model(HwPort& port,
                                                      std::span<const std::uint8_t> file,
                                                      const std::string& name) {
  return Loader(port, name).run(file);
}

}  // namespace deputy::host_runtime
