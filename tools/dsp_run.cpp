#include "tools/dsp_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "arch/dsp_packet.h"

namespace deputy::tools {
namespace {

using dsp_model::DspCore, dsp_model::DspTraceRow;

std::string register_name(int id) {
  if (id >= arch::kDspForwardId) return fmt::format("a{}", id - arch::kDspForwardId);
  if (id >= arch::kDspMaskId) return fmt::format("m{}", id - arch::kDspMaskId);
  if (id >= arch::kDspAccumulatorId) return fmt::format("a{}", id - arch::kDspAccumulatorId);
  if (id >= arch::kDspVectorId) return fmt::format("v{}", id - arch::kDspVectorId);
  return fmt::format("r{}", id);
}

std::string trace_line(const DspTraceRow& row, std::span<const std::uint32_t> words) {
  arch::DspPacket packet;
  arch::decode_dsp_packet(words, row.pc, packet);
  std::string line =
      fmt::format("{:8} {:6}  {}", row.cycle, row.pc, arch::disassemble_dsp_packet(packet, row.pc));
  if (row.stall_operand)
    line += fmt::format("   ; waited {} for {}", row.stall_operand, register_name(row.waited_for));
  if (row.stall_bank) line += fmt::format("   ; banks {}", row.stall_bank);
  if (row.stall_dma) line += fmt::format("   ; dma {}", row.stall_dma);
  if (row.stall_branch) line += fmt::format("   ; branch {}", row.stall_branch);
  return line + "\n";
}

}  // namespace

base::Result<DspOutcome> run_dsp(const arch::DspConfig& config, const DspRun& run) {
  const auto bad = [](base::ErrorKind kind, std::string where, std::string message,
                      std::string remedy = "") {
    return base::Error{kind, std::move(where), std::move(message), std::move(remedy)};
  };
  DspCore core(config);
  if (!core.load(run.words))
    return bad(base::ErrorKind::kConfig, "dsp.tcm.program_bytes",
               fmt::format("the program has {} bytes", 4 * run.words.size()),
               "make the program memory larger");
  for (const auto& m : run.memory) {
    if (m.address + std::uint64_t{m.bytes.size()} > core.tcm().size())
      return bad(base::ErrorKind::kConfig, "dsp.tcm.bytes",
                 fmt::format("{} bytes at 0x{:x} do not fit", m.bytes.size(), m.address),
                 "make the data memory larger");
    std::copy(m.bytes.begin(), m.bytes.end(), core.tcm().begin() + m.address);
  }
  if (run.arguments.size() > 30)
    return bad(base::ErrorKind::kUsage, "arguments",
               fmt::format("{} of them", run.arguments.size()), "at most 30: r1 to r30");
  core.start();
  for (std::size_t i = 0; i < run.arguments.size(); ++i)
    core.registers().r[i + 1] = run.arguments[i];
  DspOutcome out;
  if (run.trace)
    core.on_packet([&](const DspTraceRow& row) { run.trace(trace_line(row, core.program())); });
  DspCore::Stop stop;
  while ((stop = core.run(run.most_cycles)) == DspCore::Stop::kSignal) {
    while (const auto word = core.collect()) out.mail.push_back(*word);
    if (core.take_dma())
      return bad(base::ErrorKind::kUnsupported, fmt::format("word {}", core.pc()),
                 "the program asks for a DMA transfer, and the model runs alone",
                 "put the data in place with --load");
  }
  const std::string where =
      fmt::format("word {}", stop == DspCore::Stop::kFault ? core.fault_pc() : core.pc());
  switch (stop) {
    case DspCore::Stop::kHalted:
      break;
    case DspCore::Stop::kFault:
      return bad(base::ErrorKind::kHardwareFault, where,
                 fmt::format("{} (detail 0x{:x})", arch::dsp_fault_text(core.fault()),
                             core.fault_detail()),
                 "deputy dsp --trace dsp shows the way there");
    case DspCore::Stop::kTime:
      return bad(base::ErrorKind::kDeadline, where,
                 fmt::format("not done after {} cycles", core.cycle()), "allow more with --cycles");
    default:
      return bad(base::ErrorKind::kUnsupported, where,
                 "the program waits for the host, and the model runs alone");
  }
  out.stats = core.stats();
  out.tcm.assign(core.tcm().begin(), core.tcm().end());
  return out;
}

base::Result<DspOutcome> run_kernel_case(const arch::DspConfig& config,
                                         const dsp_kernels::KernelCase& kernel,
                                         std::function<void(const std::string&)> trace,
                                         std::uint64_t most_cycles) {
  DEPUTY_ASSIGN(auto program,
                dsp_kernels::build_kernel(
                    kernel.kernel, {.parameters = kernel.parameters, .latency = config.latency}));
  DspRun run{.words = std::move(program.words),
             .arguments = kernel.arguments,
             .memory = kernel.inputs,
             .most_cycles = most_cycles,
             .trace = std::move(trace)};
  DEPUTY_ASSIGN(auto outcome, run_dsp(config, run));
  for (const auto& m : kernel.expected) {
    const auto at =
        std::mismatch(m.bytes.begin(), m.bytes.end(), outcome.tcm.begin() + m.address).first -
        m.bytes.begin();
    if (at != static_cast<long>(m.bytes.size()))
      return base::Error{
          base::ErrorKind::kMismatch, kernel.kernel,
          fmt::format("{}: byte {} at 0x{:x} is not the reference's", kernel.what, at, m.address),
          ""};
  }
  return outcome;
}

}  // namespace deputy::tools
