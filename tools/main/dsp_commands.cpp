// Commands of the DSP: asm, dsp, stream.
#include "tools/main/command_line.h"

namespace deputy::tools {
namespace {

void add_programs(CommandLine& line) {
  CLI::App& app = line.app;
  CommonOptions& common = line.common;
  auto& dsp = line.keep<DspCommand>();
  auto* asm_cmd = app.add_subcommand("asm", "Assemble a DSP program (docs/dsp.md)");
  asm_cmd->add_option("file", dsp.file, ".dsp source")->required();
  asm_cmd->add_option("-o,--output", dsp.output, "program to write (default: FILE.dspx)");
  asm_cmd->add_flag("--listing", dsp.listing,
                    "print the packets; without -o no program is written");
  asm_cmd->footer("Example: deputy asm mine.dsp --listing");
  auto* dsp_cmd =
      app.add_subcommand("dsp", "Run a DSP program, or a kernel's cases, on the model alone");
  dsp_cmd->add_option("program", dsp.file, ".dsp source, .dspx program, or the name of a kernel")
      ->required();
  dsp_cmd->add_option("--arg", dsp.arguments, "value of r1, then r2, ... (repeatable)");
  dsp_cmd->add_option("--load", dsp.loads,
                      "ADDRESS=FILE: put a file's bytes into the data memory (repeatable)");
  dsp_cmd->add_option("--dump", dsp.dumps,
                      "ADDRESS:BYTES=FILE: write data memory to a file afterwards (repeatable)");
  dsp_cmd->add_option("--cycles", dsp.cycles, "cycles at most")->capture_default_str();
  auto& trace = line.keep<std::string>();
  dsp_cmd->add_option("--trace", trace, "dsp: print each packet with its cycle and its stalls")
      ->check(CLI::IsMember({"dsp"}));
  dsp_cmd->footer(
      "Examples: deputy dsp fir --trace=dsp\n          deputy dsp mine.dsp --arg 0x1000 --load "
      "0x1000=x.bin --dump 0x2000:256=y.bin");
  for (auto* command : {asm_cmd, dsp_cmd}) {
    add_soc_options(command, common);
    add_json(command, dsp.json);
    command->add_option("--param", dsp.parameters,
                        "NAME=VALUE for the source's .param NAME (repeatable)");
  }
  line.on(asm_cmd, [&line, &dsp] { return asm_command(line.common, dsp); });
  line.on(dsp_cmd, [&line, &dsp, &trace] {
    dsp.trace = trace == "dsp";
    return dsp_command(line.common, dsp);
  });
}

void add_stream(CommandLine& line) {
  CLI::App& app = line.app;
  CommonOptions& common = line.common;
  auto& stream = line.keep<StreamCommand>();
  auto* stream_cmd = app.add_subcommand(
      "stream", "Run a sensor's stream: DSP, network, decisions; latency, losses, power, battery");
  stream_cmd->add_option("scenario", stream.scenario, "YAML file, see configs/streams")->required();
  stream_cmd->add_option("--soc", stream.soc, "another SoC than the scenario's");
  stream_cmd->add_option("--set", common.sets, "override one key of the SoC (repeatable)")
      ->take_all();
  stream_cmd
      ->add_option("--with", stream.with,
                   "override one key of the scenario, e.g. source.seconds=3600 or "
                   "'dropouts=[{at_s: 5, for_s: 2}]' (repeatable)")
      ->take_all();
  stream_cmd->add_option("--faults", stream.faults, "fault plan to inject into the hardware");
  stream_cmd->add_option("--decisions", stream.decisions, "write the decisions to this file");
  stream_cmd->add_option(
      "--signal", stream.signal,
      "write the samples as the sensor gives them to this file, and run nothing");
  stream_cmd->add_option("--labels", stream.labels,
                         "write what is in them to this file, and run nothing");
  add_report(stream_cmd, stream.json, stream.report);
  stream_cmd->add_flag("--reproducible", stream.reproducible, "leave wall time out of the JSON");
  stream_cmd->add_flag("--compare", stream.compare,
                       "run it with the host between the engines or not, copying or not");
  stream_cmd->footer(
      "Example: deputy stream configs/streams/ecg_patch.yaml --with source.seconds=600");
  line.on(stream_cmd, [&line, &stream] { return stream_command(line.common, stream); });
}

}  // namespace

void add_dsp_commands(CommandLine& line) {
  add_programs(line);
  add_stream(line);
}

}  // namespace deputy::tools
