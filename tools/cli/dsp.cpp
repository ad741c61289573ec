// deputy asm, deputy dsp, and deputy disasm of DSP programs
#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "dsp_asm/assembler.h"
#include "soc/soc_config.h"
#include "tools/cli/common.h"
#include "tools/dsp_run.h"
#include "tools/files.h"
#include "tools/json_text.h"
#include "tools/table.h"

namespace deputy::tools {
namespace {

base::Result<arch::DspConfig> dsp_config(const CommonOptions& common) {
  DEPUTY_ASSIGN(const auto options, simulate_options(common));
  return options.soc.dsp;
}

// Between `least` and `most`; what lies outside would wrap.
base::Result<std::int64_t> number(const std::string& text, const std::string& option,
                                  std::int64_t least, std::int64_t most) {
  std::string_view digits = text;
  const bool minus = digits.starts_with("-");
  if (minus) digits.remove_prefix(1);
  const bool hex = digits.starts_with("0x");
  if (hex) digits.remove_prefix(2);
  std::uint64_t value = 0;  // unsigned: a second sign is no digit
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
  if (error != std::errc{} || end != digits.data() + digits.size() || digits.empty())
    return base::Error{base::ErrorKind::kUsage, option, fmt::format("'{}' is no number", text),
                       "decimal or 0x..."};
  const std::int64_t signed_value =
      minus ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
  if (value > INT64_MAX || signed_value < least || signed_value > most)
    return base::Error{base::ErrorKind::kUsage, option, fmt::format("'{}' is out of range", text),
                       fmt::format("{} to {}", least, most)};
  return signed_value;
}
base::Result<std::uint32_t> word(const std::string& text, const std::string& option,
                                 std::int64_t least) {
  DEPUTY_ASSIGN(const auto value, number(text, option, least, UINT32_MAX));
  return static_cast<std::uint32_t>(value);
}

// "NAME=rest"
base::Result<std::pair<std::string, std::string>> assignment(const std::string& text,
                                                             const std::string& option) {
  const auto at = text.find('=');
  if (at == std::string::npos || at == 0)
    return base::Error{base::ErrorKind::kUsage, option, fmt::format("'{}' has no '='", text), ""};
  return std::pair{text.substr(0, at), text.substr(at + 1)};
}

base::Result<dsp_asm::Program> assemble_file(const DspCommand& command,
                                             const arch::DspConfig& config) {
  dsp_asm::Options options{.latency = config.latency};
  for (const auto& text : command.parameters) {
    DEPUTY_ASSIGN(const auto pair, assignment(text, "--param"));
    DEPUTY_ASSIGN(options.parameters[pair.first],
                  number(pair.second, "--param", INT64_MIN, INT64_MAX));
  }
  DEPUTY_ASSIGN(const auto bytes, read_file(command.file));
  return dsp_asm::assemble({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                           command.file, options);
}

// When the text is printed already.
base::Status print_only(bool json, const char* format, const nlohmann::ordered_json& fields) {
  if (json) fmt::print("{}", json_text(format, fields));
  return {};
}

base::Status assemble(const CommonOptions& common, const DspCommand& command) {
  DEPUTY_ASSIGN(const auto config, dsp_config(common));
  DEPUTY_ASSIGN(const auto program, assemble_file(command, config));
  nlohmann::ordered_json json = {{"words", program.words.size()}, {"labels", program.labels}};
  if (command.listing) {
    if (command.json)
      json["listing"] = dsp_asm::disassemble(program.words);
    else
      fmt::print("{}", dsp_asm::disassemble(program.words));
    if (command.output.empty()) return print_only(command.json, "deputy-asm-1", json);
  }
  std::string output = command.output;
  if (output.empty()) output = std::filesystem::path(command.file).stem().string() + ".dspx";
  const auto bytes = dsp_asm::write_program(program.words);
  DEPUTY_TRY(write_file(output, bytes));
  json["file"] = output;
  return give_results(command.json, "", json_text("deputy-asm-1", json),
                      fmt::format("{}: {} words, {} labels\n", output, program.words.size(),
                                  program.labels.size()));
}

nlohmann::ordered_json stats_json(const dsp_model::DspStats& stats) {
  nlohmann::ordered_json out;
  dsp_model::DspStats::fields(
      stats, [&](const auto& value, const base::Field& f) { out[f.name] = value; });
  return out;
}

void print_stats(const dsp_model::DspStats& stats) {
  dsp_model::DspStats::fields(stats, [](const auto& value, const base::Field& f) {
    if (value) fmt::print("  {:<18} {:>10}  {}\n", f.name, value, f.doc);
  });
}

void print_line(const std::string& line) { fmt::print("{}", line); }

base::Status run_case_of(const DspCommand& command, const arch::DspConfig& config) {
  // A case brings its own.
  for (const auto& [option, given] : {std::pair{"--param", !command.parameters.empty()},
                                      {"--arg", !command.arguments.empty()},
                                      {"--load", !command.loads.empty()},
                                      {"--dump", !command.dumps.empty()}})
    if (given)
      return base::Error{
          base::ErrorKind::kUsage, option,
          fmt::format("'{}' is not a file, and a kernel's cases have their own", command.file),
          "give a .dsp or .dspx file"};
  bool found = false;
  auto cases = nlohmann::ordered_json::array();
  for (const auto& c : dsp_kernels::kernel_cases(1, dsp_kernels::Fill::kRandom)) {
    if (c.kernel != command.file || (found && command.trace)) continue;
    found = true;
    DEPUTY_ASSIGN(
        const auto outcome,
        run_kernel_case(config, c,
                        command.trace ? print_line : std::function<void(const std::string&)>{},
                        command.cycles));
    cases.push_back({{"case", c.what},
                     {"outputs", c.outputs},
                     {"unit", c.unit},
                     {"stats", stats_json(outcome.stats)}});
    if (command.json) continue;
    fmt::print("{}: {}: {} cycles for {} ({:.3f} each), equal to the reference\n", c.kernel, c.what,
               outcome.stats.cycles, fmt::format("{} {}s", c.outputs, c.unit),
               static_cast<double>(outcome.stats.cycles) / static_cast<double>(c.outputs));
    print_stats(outcome.stats);
  }
  if (found)
    return print_only(command.json, "deputy-dsp-kernel-1",
                      {{"kernel", command.file}, {"cases", cases}});
  std::string names;
  for (const auto& [name, text] : dsp_kernels::kernel_sources())
    names += (names.empty() ? "" : ", ") + name;
  return base::Error{base::ErrorKind::kUsage, command.file,
                     "is neither a .dsp nor a .dspx file nor a kernel", "kernels: " + names};
}

base::Status run(const CommonOptions& common, const DspCommand& command) {
  DEPUTY_ASSIGN(const auto config, dsp_config(common));
  if (command.json && command.trace)
    return base::Error{base::ErrorKind::kUsage, "--json",
                       "does not go with --trace, which prints text", "drop one of them"};
  const bool source = command.file.ends_with(".dsp"), binary = command.file.ends_with(".dspx");
  if (!source && !binary) return run_case_of(command, config);
  DspRun run{.most_cycles = command.cycles};
  if (command.trace) run.trace = print_line;
  if (source) {
    DEPUTY_ASSIGN(auto program, assemble_file(command, config));
    run.words = std::move(program.words);
  } else {
    if (!command.parameters.empty())
      return base::Error{base::ErrorKind::kUsage, "--param", "a .dspx is assembled already",
                         "give them to `deputy asm`"};
    DEPUTY_ASSIGN(const auto bytes, read_file(command.file));
    DEPUTY_ASSIGN(run.words, dsp_asm::read_program(bytes, command.file));
  }
  for (const auto& text : command.arguments) {
    DEPUTY_ASSIGN(run.arguments.emplace_back(), word(text, "--arg", INT32_MIN));
  }
  for (const auto& text : command.loads) {
    DEPUTY_ASSIGN(const auto pair, assignment(text, "--load"));
    DEPUTY_ASSIGN(const auto at, word(pair.first, "--load", 0));
    DEPUTY_ASSIGN(auto bytes, read_file(pair.second));
    run.memory.push_back({at, std::move(bytes)});
  }
  DEPUTY_ASSIGN(const auto outcome, run_dsp(config, run));
  if (!command.json)
    for (const std::uint32_t word : outcome.mail) fmt::print("mail 0x{:08x}\n", word);
  for (const auto& text : command.dumps) {
    DEPUTY_ASSIGN(const auto pair, assignment(text, "--dump"));
    const auto colon = pair.first.find(':');
    if (colon == std::string::npos)
      return base::Error{base::ErrorKind::kUsage, "--dump",
                         fmt::format("'{}' has no ':'", pair.first), "ADDRESS:BYTES=FILE"};
    DEPUTY_ASSIGN(const auto at, word(pair.first.substr(0, colon), "--dump", 0));
    DEPUTY_ASSIGN(const auto count, word(pair.first.substr(colon + 1), "--dump", 0));
    const auto size = static_cast<std::int64_t>(outcome.tcm.size());
    if (at > size || count > size - at)
      return base::Error{base::ErrorKind::kUsage, "--dump",
                         fmt::format("{} bytes at {} are not in the data memory", count, at), ""};
    DEPUTY_TRY(write_file(
        pair.second, std::span(outcome.tcm)
                         .subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(count))));
  }
  if (command.json)
    return print_only(true, "deputy-dsp-1",
                      {{"mail", outcome.mail}, {"stats", stats_json(outcome.stats)}});
  fmt::print("halted\n");
  print_stats(outcome.stats);
  return {};
}

base::Status disassemble(const std::string& file, bool json) {
  DEPUTY_ASSIGN(const auto bytes, read_file(file));
  DEPUTY_ASSIGN(const auto words, dsp_asm::read_program(bytes, file));
  return give_results(json, "",
                      json_text("deputy-disasm-dsp-1", {{"words", words.size()},
                                                        {"listing", dsp_asm::disassemble(words)}}),
                      dsp_asm::disassemble(words));
}

}  // namespace

int asm_command(const CommonOptions& common, const DspCommand& command) {
  return finish(assemble(common, command));
}
int dsp_command(const CommonOptions& common, const DspCommand& command) {
  return finish(run(common, command));
}
int disasm_dsp_command(const std::string& file, bool json) {
  return finish(disassemble(file, json));
}

}  // namespace deputy::tools
