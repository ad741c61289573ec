#include "host_runtime/runtime/dsp_work.h"

#include <algorithm>
#include <cstring>

namespace deputy::host_runtime {
using base::Error;
using base::ErrorKind;

namespace {
constexpr std::uint64_t kProgressPs = 10'000'000'000;

arch::DspCommand transfer(arch::DspCommandKind kind, std::uint8_t region, std::uint32_t offset,
                          std::uint32_t tcm, std::uint32_t bytes) {
  arch::DspCommand c;
  c.kind = static_cast<std::uint8_t>(kind);
  c.region = region, c.offset = offset, c.tcm = tcm, c.row_bytes = bytes;
  return c;
}
}  // namespace

base::Result<std::shared_ptr<DspFirmware>> DspFirmware::load(Device& device,
                                                             const std::vector<std::uint8_t>& file,
                                                             const std::string& name) {
  auto out = std::make_shared<DspFirmware>();
  DEPUTY_ASSIGN(out->image_, arch::read_dsp_image(file, name));
  DEPUTY_TRY(device.start());
  if (!device.options().dsp)
    return Error{ErrorKind::kConfig, name, "this board has no DSP",
                 "choose a SoC with dsp.present"};
  DEPUTY_TRY(device.dsp().check_target(out->image_, name));
  const auto& words = out->image_.words;
  DEPUTY_ASSIGN(out->words_,
                Buffer::make(device.space(), MemoryKind::kDram, words.size() * 4, kCacheLine));
  DEPUTY_TRY(
      out->words_.write({reinterpret_cast<const std::uint8_t*>(words.data()), words.size() * 4}));
  out->hash_ = 0x811C9DC5;
  for (const std::uint32_t word : words) out->hash_ = (out->hash_ ^ word) * 0x01000193;
  return out;
}

base::Result<std::uint32_t> DspFirmware::entry(const std::string& kernel) const {
  if (const arch::DspKernelEntry* found = image_.find(kernel)) return found->entry;
  return Error{ErrorKind::kUsage, "dsp", "the image has no kernel '" + kernel + "'",
               "put it into the image"};
}

void DspTask::load(std::uint8_t region, std::uint32_t offset, std::uint32_t tcm,
                   std::uint32_t bytes) {
  commands.push_back(transfer(arch::DspCommandKind::kLoad, region, offset, tcm, bytes));
}
void DspTask::store(std::uint8_t region, std::uint32_t offset, std::uint32_t tcm,
                    std::uint32_t bytes) {
  commands.push_back(transfer(arch::DspCommandKind::kStore, region, offset, tcm, bytes));
}
void DspTask::run(std::uint32_t entry, std::span<const std::uint32_t> arguments) {
  arch::DspCommand c;
  c.kind = static_cast<std::uint8_t>(arch::DspCommandKind::kRun);
  c.entry = entry,
  c.arguments = static_cast<std::uint8_t>(std::min<std::size_t>(arguments.size(), 255));
  std::copy_n(arguments.begin(), std::min<std::size_t>(arguments.size(), arch::kDspArguments),
              c.argument);
  commands.push_back(c);
}

base::Result<std::shared_ptr<DspWork>> DspWork::make(Device& device,
                                                     std::shared_ptr<Context> context,
                                                     const DspTask& task,
                                                     std::span<const Fence> waits) {
  const auto bad = [](const char* what) {
    return Error{ErrorKind::kUsage, "dsp", what, "divide the job"};
  };
  if (task.regions.size() + 1 > arch::kRegionCount) return bad("a job has at most 7 buffers");
  if (task.commands.size() + 1 > arch::kDspMostCommands)
    return bad("a job has at most 63 commands");
  std::vector<arch::DspCommand> commands;
  commands.push_back(transfer(arch::DspCommandKind::kProgram, 0, 0, 0,
                              static_cast<std::uint32_t>(task.firmware->words().bytes())));
  commands[0].entry = task.firmware->hash();
  commands.insert(commands.end(), task.commands.begin(), task.commands.end());
  std::vector<std::uint32_t> words;
  for (const arch::DspCommand& command : commands) {
    if (arch::first_bad_field(command)) return bad("a command's field is out of range");
    arch::pack(command, words);
  }
  DEPUTY_TRY(device.start());
  std::shared_ptr<DspWork> out(new DspWork(device, std::move(context)));
  DEPUTY_ASSIGN(out->commands_,
                Buffer::make(device.space(), MemoryKind::kDram, words.size() * 4, kCacheLine));
  DEPUTY_TRY(out->commands_.write(
      {reinterpret_cast<const std::uint8_t*>(words.data()), words.size() * 4}));
  out->entry_.bytes = static_cast<std::uint32_t>(words.size() * 4);
  out->budget_ps_ = task.budget_ps;
  const auto region = [&](std::size_t i, const Buffer& buffer) {
    out->entry_.region_base[i] = buffer.address();
    out->entry_.region_bytes[i] = static_cast<std::uint32_t>(buffer.bytes());
  };
  region(0, task.firmware->words());
  out->reads_.push_back(task.firmware->words());
  for (std::size_t i = 0; i < task.regions.size(); ++i) {
    const DspTask::Region& r = task.regions[i];
    region(i + 1, r.buffer);
    if (r.reads) out->reads_.push_back(r.buffer);
    if (r.writes) out->writes_.push_back(r.buffer);
    if (r.reads && r.writes) out->restartable_ = false;  // it may have overwritten what it needs
  }
  DEPUTY_TRY(out->prepare(waits));
  return out;
}

JobLimits DspWork::limits() const {
  return {budget_ps_, std::max(kProgressPs, 8 * device_.options().board.transaction_ps),
          restartable_};
}

}  // namespace deputy::host_runtime
