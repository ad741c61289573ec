#include "tools/main/options.h"

#include "base/fields.h"
#include "tools/cli/common.h"

namespace deputy::tools {

void add_soc_options(CLI::App* command, CommonOptions& options) {
  command
      ->add_option("--soc", options.soc,
                   "SoC configuration: a YAML file, or a name under configs/soc")
      ->capture_default_str();
  command
      ->add_option("--set", options.sets,
                   "override one key, for example --set npu.mac.oc_lanes=32 (repeatable)")
      ->take_all();
  const auto short_for = [&](const char* option, const char* key, const char* what) {
    command
        ->add_option_function<std::string>(
            option,
            [&options, key](const std::string& value) {
              options.sets.push_back(std::string(key) + "=" + value);
            },
            std::string(what) + "; the same as --set " + key)
        ->group("Power");
  };
  short_for("--operating-point", "power.point",
            "voltage and clocks, one of the SoC's power.points");
  short_for("--battery-mah", "battery.mah", "battery capacity in mAh: how long it lasts");
  short_for("--volts", "battery.volts", "the battery's average voltage");
  short_for("--period", "battery.period_ms", "milliseconds from one inference to the next");
}

void add_compile_options(CLI::App* command, CommonOptions& options) {
  add_soc_options(command, options);
  command
      ->add_option("--engine", options.engine,
                   "where operators go: auto, npu (all it can take) or cpu")
      ->check(CLI::IsMember(words_of("engine")))
      ->capture_default_str();
  command
      ->add_option("--force", options.force,
                   "put operators on one engine (cpu, npu, dsp): SOFTMAX=cpu, '#12=npu' or "
                   "output/name*=cpu (repeatable)")
      ->group("Placement");
  command
      ->add_option("--deny", options.deny,
                   "keep operators off the NPU, or off another engine with NAME=cpu or NAME=dsp "
                   "(repeatable)")
      ->group("Placement");
  command
      ->add_option("--quirks", options.quirks,
                   "file of known faults of certain hardware, firmware or drivers (repeatable; "
                   "docs/quirks.md)")
      ->group("Placement");
  command
      ->add_option("--min-partition", options.min_partition,
                   "operators that an NPU program has at least")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{65536}))
      ->group("Placement");
  command->add_option("--max-partitions", options.max_partitions, "NPU programs at most")
      ->group("Placement");
  command
      ->add_option("--numerics", options.numerics,
                   "rounding rule: tflite, single or fp32; auto: fp32 for ONNX models, else tflite")
      ->check(CLI::IsMember(words_of("numerics")))
      ->capture_default_str();
  command
      ->add_option("--dim", options.dims,
                   "size of an open dimension of an ONNX model: batch=1 (repeatable)")
      ->take_all();
  command
      ->add_option("--shape", options.shapes,
                   "shape of an ONNX model's input: image=1x3x32x32 (repeatable)")
      ->take_all();
  command->add_flag("--strict", options.strict, "make an operator on the CPU an error");
  command
      ->add_option("--sram-limit", options.sram_limit,
                   "SRAM bytes the compiler may use for tensors, for example 64KiB (default: all)")
      ->transform(CLI::AsSizeValue(false));
  command->add_option("--effort", options.effort, "how long the compiler searches: fast or full")
      ->check(CLI::IsMember(words_of("effort")))
      ->capture_default_str();
  command->add_flag("--fallback", options.fallback,
                    "keep for every NPU program one for the CPU that computes the same");
  command
      ->add_option("--contract", options.contract,
                   "what becomes of operators whose tensors the NPU wants quantised otherwise: "
                   "cpu, reject, or convert (docs/contract.md)")
      ->check(CLI::IsMember(words_of("contract")))
      ->capture_default_str();
  command
      ->add_option(
          "--io", options.io,
          "where graph inputs and outputs lie: arena, or memory of their own in sram or dram")
      ->check(CLI::IsMember(words_of("io")))
      ->capture_default_str();
  delegate::Optimisations::fields(options.optimisations, [&](bool& on, const base::Field& field) {
    command
        ->add_flag(std::string("--no-") + field.name + "{false}", on,
                   std::string("switch off: ") + field.doc)
        ->group("Optimisations");
  });
}

void add_cache_options(CLI::App* command, CommonOptions& options) {
  command
      ->add_option("--cache", options.cache,
                   "folder of compiled programs to look in and store into")
      ->group("Cache");
  command
      ->add_option("--cache-limit", options.cache_limit,
                   "bytes that the folder may hold, for example 64MiB")
      ->transform(CLI::AsSizeValue(false))
      ->capture_default_str()
      ->group("Cache");
}

void add_json(CLI::App* command, bool& into) {
  command->add_flag("--json", into, "print JSON (docs/json.md)");
}

void add_report(CLI::App* command, bool& into, std::string& report) {
  add_json(command, into);
  command->add_option("--report", report, "also write that JSON to this file");
}

}  // namespace deputy::tools
