// Commands about models and what is compiled from them: compile, disasm, inspect, check, cache,
// list, network.
#include "tools/main/command_line.h"

namespace deputy::tools {
namespace {

void add_compile(CommandLine& line) {
  CLI::App& app = line.app;
  CommonOptions& common = line.common;
  auto& compile = line.keep<CompileCommand>();
  auto* compile_cmd = app.add_subcommand("compile", "Compile a model to an executable file");
  compile_cmd->add_option("model", compile.model, ".tflite model")->required();
  compile_cmd->add_option("-o,--output", compile.output,
                          "executable to write (default: MODEL.dexe)");
  compile_cmd->add_option(
      "--dump", compile.dump,
      "print what the compiler made: some of graph,partition,tiles,memory,stream, or all; without "
      "-o no executable is written");
  compile_cmd->add_option("--dump-dir", compile.dump_dir,
                          "write each dump to NAME.txt in this folder instead");
  compile_cmd->add_option("--explain", compile.explain,
                          "print everything known about one operator, by index or name");
  compile_cmd->add_flag("--json", compile.json, "print what was made as JSON");
  compile_cmd->footer(
      "Examples: deputy compile model.tflite --dump=tiles,memory\n          deputy compile "
      "model.tflite --explain 5");
  add_compile_options(compile_cmd, common);
  add_cache_options(compile_cmd, common);
  line.on(compile_cmd, [&line, &compile] { return compile_command(line.common, compile); });
}

void add_disasm(CommandLine& line) {
  CLI::App& app = line.app;
  CommonOptions& common = line.common;
  auto& file = line.keep<std::string>();
  auto& json = line.keep<bool>();
  auto* disasm_cmd = app.add_subcommand(
      "disasm", "Print the NPU programs of an executable or a model, or a DSP program");
  disasm_cmd->add_option("file", file, ".dexe, .tflite or .dspx")->required();
  add_compile_options(disasm_cmd, common);
  add_json(disasm_cmd, json);
  disasm_cmd->footer(
      "Examples: deputy disasm model.tflite\n          deputy disasm model.tflite --json");
  line.on(disasm_cmd, [&line, &file, &json] {
    return file.ends_with(".dspx") ? disasm_dsp_command(file, json)
                                   : disasm_command(line.common, file, json);
  });
}

void add_inspect(CommandLine& line) {
  CLI::App& app = line.app;
  CommonOptions& common = line.common;
  auto& model = line.keep<std::string>();
  auto& json = line.keep<bool>();
  auto* inspect_cmd =
      app.add_subcommand("inspect", "Print graph, placement with reasons, and memory plan");
  inspect_cmd->add_option("model", model, ".tflite model")->required();
  add_json(inspect_cmd, json);
  add_compile_options(inspect_cmd, common);

  inspect_cmd->footer(
      "Examples: deputy inspect model.tflite\n          deputy inspect model.tflite --soc "
      "ethos-u55-128-like --json");
  line.on(inspect_cmd,
          [&line, &model, &json] { return inspect_command(line.common, model, json); });
}

void add_check(CommandLine& line) {
  CLI::App& app = line.app;
  CommonOptions& common = line.common;
  auto& contract = line.keep<CheckCommand>();
  auto* contract_cmd = app.add_subcommand(
      "check", "List what in a model is not as the NPU wants it quantised, with the remedy");
  contract_cmd->add_option("model", contract.model, ".tflite or .onnx model")->required();
  contract_cmd->add_flag("--json", contract.json, "print JSON");
  add_compile_options(contract_cmd, common);
  contract_cmd->footer("Example: deputy check model.tflite --soc wearable");
  line.on(contract_cmd, [&line, &contract] { return check_command(line.common, contract); });
}

void add_cache(CommandLine& line) {
  CLI::App& app = line.app;
  CommonOptions& common = line.common;
  auto& what = line.keep<std::string>();
  auto& folder = line.keep<std::string>();
  auto& json = line.keep<bool>();
  auto* cache_cmd =
      app.add_subcommand("cache", "List, verify or prune a folder of compiled programs");
  cache_cmd->add_option("what", what, "list, verify or prune")
      ->required()
      ->check(CLI::IsMember({"list", "verify", "prune"}));
  cache_cmd->add_option("folder", folder, "what --cache was given")->required();
  cache_cmd->add_option("--cache-limit", common.cache_limit, "prune: bytes to keep")
      ->transform(CLI::AsSizeValue(false))
      ->capture_default_str();

  cache_cmd->footer(
      "Examples: deputy run model.tflite --cache programs\n          deputy cache verify programs "
      "--json");
  add_json(cache_cmd, json);
  line.on(cache_cmd, [&line, &what, &folder, &json] {
    return cache_command(line.common, what, folder, json);
  });
}

void add_list(CommandLine& line) {
  CLI::App& app = line.app;
  auto& what = line.keep<std::string>();
  auto& json = line.keep<bool>();
  auto* list_cmd = app.add_subcommand(
      "list", "Print a table: ops, params, stats, registers, instructions or networks");
  list_cmd->add_option("what", what, "which table")
      ->required()
      ->check(CLI::IsMember(
          {"ops", "params", "stats", "registers", "instructions", "dsp-instructions", "networks"}));

  list_cmd->footer("Examples: deputy list params\n          deputy list networks --json");
  add_json(list_cmd, json);
  line.on(list_cmd, [&what, &json] { return list_command(what, json); });
}

void add_network(CommandLine& line) {
  CLI::App& app = line.app;
  auto& network = line.keep<NetworkCommand>();
  auto* network_cmd =
      app.add_subcommand("network", "Write one of the built-in networks as .tflite");
  network_cmd->add_option("name", network.name, "see 'deputy list networks'")->required();
  network_cmd->add_option("-o,--output", network.output, "file to write (default: NAME.tflite)");

  add_json(network_cmd, network.json);
  network_cmd->footer("Example: deputy network ds_cnn -o kws.tflite");
  line.on(network_cmd, [&network] { return network_command(network); });
}

}  // namespace

void add_model_commands(CommandLine& line) {
  add_compile(line);
  add_disasm(line);
  add_inspect(line);
  add_check(line);
  add_cache(line);
  add_list(line);
  add_network(line);
}

}  // namespace deputy::tools
