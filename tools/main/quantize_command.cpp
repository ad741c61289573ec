// deputy quantize
#include "tools/cli/common.h"
#include "tools/main/command_line.h"

namespace deputy::tools {

void add_quantize(CommandLine& line) {
  CLI::App& app = line.app;
  CommonOptions& common = line.common;
  auto& quantize = line.keep<QuantizeCommand>();
  auto* quantize_cmd = app.add_subcommand(
      "quantize", "Make an int8 model of a float one, by calibration (docs/quantisation.md)");
  quantize_cmd->add_option("model", quantize.model, ".onnx or .tflite model in float32")
      ->required();
  quantize_cmd
      ->add_option(
          "--calib", quantize.calib,
          "samples: .npy files, or folders of them; INPUT=PATH where the model has several inputs")
      ->required();
  quantize_cmd->add_option("-o,--output", quantize.output, "file to write: .onnx (QDQ) or .tflite")
      ->required();
  quantize_cmd->add_option("--max-samples", quantize.max_samples,
                           "calibrate with the first so many only");
  quantize_cmd
      ->add_option("--method", quantize.method,
                   "how ranges follow from samples; auto: the one that loses least on some of them")
      ->check(CLI::IsMember({"auto", "minmax", "average", "percentile", "entropy", "mse"}))
      ->capture_default_str();
  quantize_cmd
      ->add_option("--percentile", quantize.percentile,
                   "for --method percentile: values kept, in percent")
      ->check(CLI::Range(50.0, 100.0))
      ->capture_default_str();
  quantize_cmd->add_flag("--per-tensor", quantize.per_tensor,
                         "one scale for a layer's weights, not one for each output channel");
  quantize_cmd->add_flag(
      "--matrix-per-channel", quantize.matrix_per_channel,
      "a scale for each row of matrices too, as always in .onnx; older TFLite runtimes refuse it");
  quantize_cmd->add_flag("--no-bias-correction", quantize.no_bias_correction,
                         "leave the shift of means by rounded weights in");
  quantize_cmd
      ->add_option("--rounding", quantize.rounding,
                   "of weights: each to its nearest integer, or compensated: so that their errors "
                   "cancel on the samples, where that gains")
      ->check(CLI::IsMember({"nearest", "compensated"}))
      ->capture_default_str();
  quantize_cmd
      ->add_option("--equalise", quantize.equalise,
                   "balance the weights of neighbouring layers by channel; auto: where the first "
                   "samples gain by it")
      ->check(CLI::IsMember({"auto", "on", "off"}))
      ->capture_default_str();
  quantize_cmd
      ->add_option("--io", quantize.io, "type of the model's inputs and outputs: float or int8")
      ->check(CLI::IsMember({"float", "int8"}))
      ->capture_default_str();
  quantize_cmd->add_option(
      "--keep-float", quantize.keep_float,
      "operators that stay in floats, by kind (CONV_2D, Conv), by their name in the model or by "
      "that of their result; a trailing * stands for any rest (repeatable)");
  auto* mixed = quantize_cmd->add_flag(
      "--mixed", quantize.mixed,
      "keep the results that gain most in int16 (16x8 operators), within --budget");
  quantize_cmd
      ->add_option("--budget", quantize.budget,
                   "for --mixed: bytes=PERCENT or cycles=PERCENT more than int8, or sqnr=DECIBELS "
                   "of the outputs to stop at (repeatable; all hold)")
      ->take_all()
      ->needs(mixed);
  quantize_cmd->add_option("--eval", quantize.eval,
                           "samples for the metric, like --calib (default: those of --calib)");
  quantize_cmd->add_option("--labels", quantize.labels,
                           ".npy file with a label for each sample, or 'input': the sample itself");
  quantize_cmd
      ->add_option("--metric", quantize.metric,
                   "figure to compare: top1, auc, anomaly-auc, mae or dice")
      ->check(CLI::IsMember({"top1", "auc", "anomaly-auc", "mae", "dice"}));
  quantize_cmd->add_option("--calibration", quantize.calibration,
                           "file to keep the statistics in, and to take them from; otherwise "
                           "OUTPUT.calibration until the model is written");
  quantize_cmd->add_option("--report", quantize.report, "also write the report as JSON");
  quantize_cmd->add_flag("--json", quantize.json, "print JSON instead of tables");
  quantize_cmd->add_flag("--quiet", quantize.quiet, "leave out the table of layers");
  quantize_cmd
      ->add_option("--numerics", common.numerics,
                   "rounding that the report's int8 figures follow; auto: fp32 for .onnx, tflite "
                   "for .tflite")
      ->check(CLI::IsMember(words_of("numerics")))
      ->capture_default_str();
  quantize_cmd
      ->add_option("--dim", common.dims,
                   "size of an open dimension of an ONNX model: batch=1 (repeatable)")
      ->take_all();
  quantize_cmd
      ->add_option("--shape", common.shapes,
                   "shape of an ONNX model's input: image=1x3x32x32 (repeatable)")
      ->take_all();
  add_soc_options(quantize_cmd, common);
  quantize_cmd->footer(
      "Example: deputy quantize model.onnx --dim batch=1 --calib samples.npy -o model_int8.tflite "
      "--eval test_x.npy --labels test_y.npy --metric top1");
  line.on(quantize_cmd, [&line, &quantize] { return quantize_command(line.common, quantize); });
}

}  // namespace deputy::tools
