// deputy compile, disasm, inspect
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "arch/engine.h"
#include "arch/isa.h"
#include "delegate/dump.h"
#include "tools/cli/common.h"
#include "tools/explain.h"
#include "tools/files.h"
#include "tools/json_text.h"
#include "tools/split.h"
#include "tools/table.h"

namespace deputy::tools {
namespace {

base::Result<arch::Executable> load_or_compile(const CommonOptions& common, const std::string& file,
                                               delegate::CompileTrace* trace = nullptr) {
  if (file.ends_with(".dexe")) {
    DEPUTY_TRY(no_placement_options(common, file));
    DEPUTY_ASSIGN(auto bytes, read_file(file));
    return arch::read_executable(bytes, file);
  }
  DEPUTY_ASSIGN(auto options, simulate_options(common, file));
  DEPUTY_ASSIGN(const auto model, load_model_file(file, options.bindings));
  if (!trace && !options.cache.empty()) {  // who wants to know why must compile
    DEPUTY_ASSIGN(const auto compiled, compile_model(model, options));
    const api::CacheNote& cache = compiled.provenance.cache;
    if (cache.state == "hit") fmt::print("out of the cache, key {}\n", cache.key.substr(0, 12));
    return arch::read_executable(compiled.bytes, file);
  }
  return compile_graph(model.graph, options, nullptr, trace);
}

constexpr const char* kDumps[] = {"graph", "partition", "tiles", "memory", "stream"};

base::Result<std::vector<std::string>> parse_dumps(const std::string& list) {
  std::vector<std::string> out;
  for (const std::string& name : split(list, ',')) {
    if (name == "all") return std::vector<std::string>(std::begin(kDumps), std::end(kDumps));
    if (std::find(std::begin(kDumps), std::end(kDumps), name) == std::end(kDumps))
      return base::Error{base::ErrorKind::kUsage, "--dump",
                         fmt::format("'{}' cannot be dumped", name),
                         "use some of graph, partition, tiles, memory, stream, or all"};
    out.push_back(name);
  }
  return out;
}

std::string dump_text(const std::string& name, const delegate::Graph& graph,
                      const arch::Executable& executable, const delegate::CompileTrace& trace) {
  std::string out;
  if (name == "graph") return delegate::dump_graph(graph);
  if (name == "tiles") return delegate::dump_tiles(executable, &trace);
  if (name == "stream") return delegate::dump_programs(executable);
  const std::string topic = name == "partition" ? "partition" : "memory";
  out = name == "partition" ? delegate::dump_placement(executable)
                            : delegate::dump_memory(executable);
  for (const delegate::TraceNote& note : trace.notes)
    if (note.topic == topic) out += "  " + note.text + "\n";
  return out;
}

// --dump and --explain: what the compiler did with the model, and why.
base::Status show(const CommonOptions& common, const CompileCommand& command,
                  arch::Executable& executable) {
  if (command.model.ends_with(".dexe"))
    return base::Error{base::ErrorKind::kUsage, command.dump.empty() ? "--explain" : "--dump",
                       "needs a model: an executable is compiled already", "give the .tflite file"};
  DEPUTY_ASSIGN(auto dumps, parse_dumps(command.dump));
  DEPUTY_ASSIGN(auto options, simulate_options(common, command.model));
  DEPUTY_ASSIGN(auto graph, load_model(command.model, options.bindings));
  delegate::CompileTrace trace;
  DEPUTY_ASSIGN(executable, compile_graph(graph, options, nullptr, &trace));
  for (const auto& name : dumps) {
    const std::string text = dump_text(name, graph, executable, trace);
    if (command.dump_dir.empty()) {
      fmt::print("{}{}", dumps.size() > 1 ? "== " + name + "\n" : "", text);
    } else {
      const std::string path = command.dump_dir + "/" + name + ".txt";
      DEPUTY_TRY(write_text(path, text));
      fmt::print("{}\n", path);
    }
  }
  if (command.explain.empty()) return {};
  DEPUTY_ASSIGN(auto text, explain(graph, executable, trace, options, command.explain));
  fmt::print("{}", text);
  return {};
}

// What was made, for programs: `deputy compile --json` and `deputy inspect --json`.
nlohmann::ordered_json json_of(const arch::Executable& e) {
  using Json = nlohmann::ordered_json;
  Json ops = Json::array(), tensors = Json::array();
  for (std::size_t i = 0; i < e.ops.size(); ++i) {
    const arch::SourceOp& op = e.ops[i];
    Json row = {{"name", op.name},
                {"kind", e.op_word(i)},
                {"engine", op.aliased ? "none" : arch::engine_word(arch::engine_of(e, i))},
                {"macs", op.macs}};
    if (!op.reason.empty()) row["reason"] = op.reason;
    if (op.fused_into >= 0) row["fused_into"] = op.fused_into;
    ops.push_back(std::move(row));
  }
  for (const arch::PlacedTensor& t : e.tensors) {
    Json row = {{"name", t.desc.name},
                {"type", dtype_name(t.desc.dtype)},
                {"shape", t.desc.shape},
                {"bytes", t.desc.bytes()},
                {"constant", t.constant}};
    if (t.placement != arch::Placement::kNone)
      row["memory"] = e.region_in_sram(t.region) ? "sram" : "dram", row["offset"] = t.offset;
    tensors.push_back(std::move(row));
  }
  std::size_t words = 0;
  for (const auto& program : e.programs) words += program.words.size();
  return {{"model", e.model_name},
          {"numerics", numerics_name(e.numerics)},
          {"programs", e.programs.size()},
          {"command_bytes", 4 * words},
          {"constant_bytes", e.constants.size()},
          {"sram_arena_bytes", e.fast_arena_bytes},
          {"dram_arena_bytes", e.slow_arena_bytes},
          {"external_regions", e.externals.size()},
          {"ops", ops},
          {"tensors", tensors}};
}

base::Status compile(const CommonOptions& common, const CompileCommand& command) {
  arch::Executable executable;
  if (command.json && !(command.dump.empty() && command.explain.empty()))
    return base::Error{base::ErrorKind::kUsage, "--json",
                       "does not go with --dump and --explain, which print text",
                       "drop one of them; deputy inspect --json has placement and memory"};
  const bool shows = !command.dump.empty() || !command.explain.empty();
  if (shows) {
    DEPUTY_TRY(show(common, command, executable));
    if (command.output.empty()) return {};
  } else {
    DEPUTY_ASSIGN(executable, load_or_compile(common, command.model));
  }
  std::string output = command.output;
  if (output.empty()) output = std::filesystem::path(command.model).stem().string() + ".dexe";
  const auto bytes = arch::write_executable(executable);
  DEPUTY_TRY(write_file(output, bytes));
  std::size_t words = 0, on[arch::kEngineWords.size()] = {}, views = 0;
  for (std::size_t i = 0; i < executable.ops.size(); ++i)
    ++(executable.ops[i].aliased ? views
                                 : on[static_cast<std::size_t>(arch::engine_of(executable, i))]);
  for (const auto& program : executable.programs) words += program.words.size();
  if (command.json) {
    nlohmann::ordered_json out = json_of(executable);
    out["file"] = output, out["bytes"] = bytes.size(),
    out["hash"] = fmt::format("{:016x}", arch::content_hash(bytes));
    fmt::print("{}", json_text("deputy-executable-1", out));
    return {};
  }
  fmt::print("{}: {}, hash {:016x}\n", output, human_bytes(static_cast<double>(bytes.size())),
             arch::content_hash(bytes));
  fmt::print("  operators   ");
  for (const arch::Engine e : {arch::Engine::kNpu, arch::Engine::kDsp, arch::Engine::kCpu})
    if (const std::size_t n = on[static_cast<std::size_t>(e)]; n > 0 || e != arch::Engine::kDsp)
      fmt::print("{} on the {}, ", n, arch::engine_title(e));
  fmt::print("{} without work\n", views);
  fmt::print("  programs    {}, {} of commands\n", executable.programs.size(),
             human_bytes(4.0 * static_cast<double>(words)));
  fmt::print("  constants   {}\n", human_bytes(static_cast<double>(executable.constants.size())));
  fmt::print("  arenas      {} in SRAM, {} in DRAM\n",
             human_bytes(static_cast<double>(executable.fast_arena_bytes)),
             human_bytes(static_cast<double>(executable.slow_arena_bytes)));
  if (!executable.externals.empty()) {
    std::uint64_t sum = 0;
    for (const arch::ExternalRegion& region : executable.externals) sum += region.bytes;
    fmt::print("  external    {} in {} regions\n", human_bytes(static_cast<double>(sum)),
               executable.externals.size());
  }
  return {};
}

base::Status disasm(const CommonOptions& common, const std::string& file, bool json) {
  DEPUTY_ASSIGN(auto executable, load_or_compile(common, file));
  auto programs = nlohmann::ordered_json::array();
  for (std::size_t p = 0; p < executable.programs.size(); ++p) {
    if (!json) fmt::print("program {}\n", p);
    auto instructions = nlohmann::ordered_json::array();
    std::span<const std::uint32_t> words = executable.programs[p].words;
    for (std::size_t at = 0; at < words.size();) {
      const arch::Decoded decoded = arch::decode(words.subspan(at));
      if (decoded.fault != arch::DecodeFault::kNone)
        return base::Error{base::ErrorKind::kModel,
                           fmt::format("{} program {} word {}", file, p, at),
                           "not a valid instruction", "compile the model again"};
      if (json)
        instructions.push_back(
            {{"offset", at * 4}, {"text", arch::disassemble(decoded.instruction)}});
      else
        fmt::print("  {:06x}  {}\n", at * 4, arch::disassemble(decoded.instruction));
      at += decoded.instruction.header.words;
    }
    programs.push_back({{"instructions", std::move(instructions)}});
  }
  if (json) fmt::print("{}", json_text("deputy-disasm-1", {{"programs", programs}}));
  return {};
}

base::Status inspect(const CommonOptions& common, const std::string& model, bool json) {
  delegate::CompileTrace trace;
  DEPUTY_ASSIGN(auto executable, load_or_compile(common, model, &trace));
  if (json) {
    nlohmann::ordered_json out = json_of(executable);
    for (const delegate::TraceNote& note : trace.notes)
      out["notes"].push_back({{"topic", note.topic}, {"text", note.text}});
    fmt::print("{}", json_text("deputy-executable-1", out));
    return {};
  }
  fmt::print("{}", delegate::dump_executable(executable));
  for (const delegate::TraceNote& note : trace.notes) fmt::print("{}: {}\n", note.topic, note.text);
  return {};
}

}  // namespace

int compile_command(const CommonOptions& common, const CompileCommand& command) {
  return finish(compile(common, command));
}
int disasm_command(const CommonOptions& common, const std::string& file, bool json) {
  return finish(disasm(common, file, json));
}
int inspect_command(const CommonOptions& common, const std::string& model, bool json) {
  return finish(inspect(common, model, json));
}

}  // namespace deputy::tools
