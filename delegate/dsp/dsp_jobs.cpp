#include "delegate/dsp/dsp_jobs.h"

#include <fmt/format.h>

#include <algorithm>

#include "arch/dsp_job.h"
#include "base/check.h"
#include "delegate/dsp/dsp_ops.h"

namespace deputy::delegate {
namespace {

using Kind = arch::DspCommandKind;

arch::DspCommand transfer(Kind kind, arch::Region region, std::uint64_t offset,
                          std::uint32_t bytes) {
  arch::DspCommand c;
  c.kind = static_cast<std::uint8_t>(kind), c.region = static_cast<std::uint8_t>(region),
  c.offset = static_cast<std::uint32_t>(offset), c.row_bytes = bytes;
  return c;
}

}  // namespace

base::Status DspJobs::finish(const Graph& graph, const CompileOptions& options,
                             ConstantPool& constants, arch::Executable& out) const {
  if (ops_.empty()) return {};
  std::vector<DspPlan> plans;
  std::vector<dsp_kernels::KernelUse> uses;
  for (const Op* op : ops_) {
    plans.push_back(plan_dsp(graph, *op, options));
    const dsp_kernels::KernelUse& use = plans.back().use;
    if (std::ranges::none_of(uses, [&](const auto& u) { return u.name == use.name; }))
      uses.push_back(use);
  }
  DEPUTY_ASSIGN(const arch::DspImage image, dsp_kernels::build_image(uses, options.dsp));
  if (image.words.size() * 4 > static_cast<std::size_t>(options.dsp.tcm.program_bytes))
    return base::Error{base::ErrorKind::kConfig, "dsp.tcm.program_bytes",
                       fmt::format("the kernels take {} bytes", image.words.size() * 4),
                       "make the program memory larger, or keep operators off the DSP (--deny)"};
  std::uint32_t hash = 0x811C9DC5;
  for (const std::uint32_t word : image.words) hash = (hash ^ word) * 0x01000193;
  const auto* words = reinterpret_cast<const std::uint8_t*>(image.words.data());
  const std::uint64_t image_at = constants.add({words, image.words.size() * 4});
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    const auto place = [&](TensorId id) -> const arch::PlacedTensor& {
      const auto& t = out.tensors[static_cast<std::size_t>(id)];
      DEPUTY_CHECK(t.placement == arch::Placement::kRegion, "a DSP job's operand without storage");
      return t;
    };
    const arch::PlacedTensor &in = place(ops_[i]->inputs[0]), &to = place(ops_[i]->outputs[0]);
    const std::uint64_t table = constants.add(plans[i].table);
    std::vector<arch::DspCommand> commands = {
        transfer(Kind::kProgram, arch::Region::kConstants, image_at,
                 static_cast<std::uint32_t>(image.words.size() * 4))};
    commands[0].entry = hash;
    for (const DspMove& m : plans[i].moves) {
      arch::DspCommand c;
      switch (m.what) {
        case DspMove::What::kTable:
          c = transfer(Kind::kLoad, arch::Region::kConstants, table + m.offset, m.bytes);
          break;
        case DspMove::What::kInput:
          c = transfer(Kind::kLoad, in.region, in.offset + m.offset, m.bytes);
          break;
        case DspMove::What::kOutput:
          c = transfer(Kind::kStore, to.region, to.offset + m.offset, m.bytes);
          break;
        case DspMove::What::kRun:
          c.kind = static_cast<std::uint8_t>(Kind::kRun);
          c.entry = image.find(plans[i].use.name)->entry;
          c.arguments = static_cast<std::uint8_t>(m.arguments.size());
          std::ranges::copy(m.arguments, c.argument);
      }
      c.tcm = m.tcm, c.rows = m.rows, c.memory_stride = m.memory_stride,
      c.tcm_stride = m.tcm_stride;
      commands.push_back(c);
    }
    arch::DspJob job;
    job.cycles = plans[i].cycles;
    for (const arch::DspCommand& c : commands) arch::pack(c, job.words);
    out.dsp_jobs.push_back(std::move(job));
  }
  return {};
}

}  // namespace deputy::delegate
