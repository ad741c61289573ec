// deputy compile, disasm, inspect
#include <fmt/format.h>

#include <filesystem>

#include "arch/isa.h"
#include "delegate/dump.h"
#include "tools/cli/common.h"
#include "tools/files.h"
#include "tools/table.h"

namespace deputy::tools {
namespace {

base::Result<arch::Executable> load_or_compile(const CommonOptions& common, const std::string& file,
                                               delegate::CompileTrace* trace = nullptr) {
  if (file.ends_with(".dexe")) {
    DEPUTY_ASSIGN(auto bytes, read_file(file));
    return arch::read_executable(bytes, file);
  }
  DEPUTY_ASSIGN(auto options, simulate_options(common));
  DEPUTY_ASSIGN(auto graph, load_model(file));
  delegate::CompileOptions compile = compile_options(options);
  compile.trace = trace;
  return delegate::compile(graph, compile);
}

base::Status compile(const CommonOptions& common, const CompileCommand& command) {
  DEPUTY_ASSIGN(auto executable, load_or_compile(common, command.model));
  std::string output = command.output;
  if (output.empty()) output = std::filesystem::path(command.model).stem().string() + ".dexe";
  const auto bytes = arch::write_executable(executable);
  DEPUTY_TRY(write_file(output, bytes));
  std::size_t on_npu = 0, words = 0;
  for (const auto& op : executable.ops) on_npu += op.on_npu;
  for (const auto& program : executable.programs) words += program.words.size();
  fmt::print("{}: {}, hash {:016x}\n", output, human_bytes(static_cast<double>(bytes.size())), arch::content_hash(bytes));
  fmt::print("  operators   {} on the NPU, {} on the CPU\n", on_npu, executable.ops.size() - on_npu);
  fmt::print("  programs    {}, {} of commands\n", executable.programs.size(), human_bytes(4.0 * static_cast<double>(words)));
  fmt::print("  constants   {}\n", human_bytes(static_cast<double>(executable.constants.size())));
  fmt::print("  arenas      {} in SRAM, {} in DRAM\n", human_bytes(static_cast<double>(executable.fast_arena_bytes)),
             human_bytes(static_cast<double>(executable.slow_arena_bytes)));
  return {};
}

base::Status disasm(const CommonOptions& common, const std::string& file) {
  DEPUTY_ASSIGN(auto executable, load_or_compile(common, file));
  for (std::size_t p = 0; p < executable.programs.size(); ++p) {
    fmt::print("program {}\n", p);
    std::span<const std::uint32_t> words = executable.programs[p].words;
    for (std::size_t at = 0; at < words.size();) {
      const arch::Decoded decoded = arch::decode(words.subspan(at));
      if (decoded.fault != arch::DecodeFault::kNone)
        return base::Error{base::ErrorKind::kModel, fmt::format("{} program {} word {}", file, p, at),
                           "not a valid instruction", "compile the model again"};
      fmt::print("  {:06x}  {}\n", at * 4, arch::disassemble(decoded.instruction));
      at += decoded.instruction.header.words;
    }
  }
  return {};
}

base::Status inspect(const CommonOptions& common, const std::string& model) {
  delegate::CompileTrace trace;
  DEPUTY_ASSIGN(auto executable, load_or_compile(common, model, &trace));
  fmt::print("{}", delegate::dump_executable(executable));
  for (const delegate::TraceNote& note : trace.notes) fmt::print("{}: {}\n", note.topic, note.text);
  return {};
}

}  // namespace

int compile_command(const CommonOptions& common, const CompileCommand& command) { return finish(compile(common, command)); }
int disasm_command(const CommonOptions& common, const std::string& file) { return finish(disasm(common, file)); }
int inspect_command(const CommonOptions& common, const std::string& model) { return finish(inspect(common, model)); }

}  // namespace deputy::tools
