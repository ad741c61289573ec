// `deputy quantize` as a user runs it: files, messages, and the models it writes against outside
// runtimes' outputs (tests/goldens/quantised, made by scripts/remake_goldens).
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/system/deputy_process.h"
#include "tools/npy.h"

using namespace deputy;
using namespace deputy::test;
using Catch::Matchers::Contains;

namespace {

const std::string kDigits = project_file("workloads/trained/digits.onnx");

std::string golden(const std::string& name) {
  return project_file("tests/goldens/quantised/" + name);
}

Outcome quantize(const std::string& model, const std::string& output,
                 std::vector<std::string> more) {
  std::vector<std::string> all = {"quantize", model, "--dim", "batch=1", "-o", output};
  all.insert(all.end(), more.begin(), more.end());
  return run_deputy(all);
}

std::string hash(const std::string& bytes) {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (const char c : bytes) h = (h ^ static_cast<std::uint8_t>(c)) * 0x100000001b3u;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(h));
  return text;
}

tools::NpyArray array(const std::string& path) {
  const std::string text = read_text(path);
  auto out =
      tools::parse_npy({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, path);
  REQUIRE(out.ok());
  return *out;
}
void write_array(const std::string& path, DType type, const Shape& shape,
                 const std::vector<std::uint8_t>& data) {
  const auto bytes = tools::format_npy(type, shape, data);
  write_text(path, {bytes.begin(), bytes.end()});
}
std::vector<std::uint8_t> row(const tools::NpyArray& a, std::size_t i) {
  const std::size_t size = a.data.size() / static_cast<std::size_t>(a.shape[0]);
  return {a.data.begin() + static_cast<std::ptrdiff_t>(i * size),
          a.data.begin() + static_cast<std::ptrdiff_t>((i + 1) * size)};
}

}  // namespace

TEST_CASE("quantised models give the outside runtimes' bytes on the SoC") {
  const auto goldens = nlohmann::json::parse(read_text(golden("golden.json")));
  for (const auto& model : goldens["models"]) {
    const auto name = model["network"].get<std::string>(),
               format = model["format"].get<std::string>();
    auto options = model["options"].get<std::vector<std::string>>();
    const bool mixed = std::find(options.begin(), options.end(), "--mixed") != options.end();
    const std::string label = name + (mixed ? "_mixed_" : "_") + format;
    TempFolder t;
    const std::string file = t.file(label + "." + format);
    options.insert(options.begin(), {"--calib", golden(name + "_x.npy")});
    const auto made = quantize(project_file("workloads/trained/" + name + ".onnx"), file, options);
    INFO(label << ": " << made.err);
    REQUIRE(made.exit_code == 0);
    CHECK(hash(read_text(file)) == model["model_hash"].get<std::string>());
    const auto x = array(golden(name + "_x.npy")), y = array(golden(label + ".npy"));
    Shape shape = x.shape;
    shape[0] = 1;
    for (const std::size_t i : {0u, 7u}) {
      write_array(t.file("x.npy"), DType::kFloat32, shape, row(x, i));
      const auto run = run_deputy({"run", file, "--numerics", "fp32", "--input", t.file("x.npy"),
                                   "--output-dir", t.file("out"), "--quiet"});
      INFO(run.out << run.err);
      REQUIRE(run.exit_code == 0);
      const auto got = array(t.file("out/output0.npy")).data, want = row(y, i);
      REQUIRE(got.size() == want.size());
      if (!mixed || format == "tflite") {
        CHECK(got == want);
        continue;
      }
      // ONNX Runtime computes 16x8 operators in floats, Deputy by TFLite's rule
      // (docs/quantisation.md).
      const float step = model["step"].get<float>();
      for (std::size_t k = 0; k + 4 <= got.size(); k += 4) {
        float a, b;
        std::memcpy(&a, &got[k], 4), std::memcpy(&b, &want[k], 4);
        CHECK(std::fabs(a - b) < 4.5f * step);
      }
    }
  }
}

TEST_CASE("the report has layers, sizes and the metric, as text and as JSON") {
  TempFolder t;
  const auto x = array(golden("digits_x.npy"));
  std::vector<std::uint8_t> labels(static_cast<std::size_t>(x.shape[0]), 3);
  write_array(t.file("y.npy"), DType::kUint8, {x.shape[0]}, labels);
  const auto text = quantize(kDigits, t.file("out.tflite"),
                             {"--calib", golden("digits_x.npy"), "--labels", t.file("y.npy"),
                              "--metric", "top1", "--report", t.file("r.json")});
  INFO(text.err);
  REQUIRE(text.exit_code == 0);
  CHECK_THAT(text.out, Contains("DEPTHWISE_CONV_2D") && Contains("SQNR") && Contains("weights") &&
                           Contains("top1") && Contains("samples are few"));
  CHECK(text.err.empty());  // no progress line where there is no terminal
  const auto json = nlohmann::json::parse(read_text(t.file("r.json")));
  CHECK(json["weights"]["after"].get<int>() * 4 == json["weights"]["before"].get<int>());
  CHECK(json["metric"]["samples"].get<int>() == x.shape[0]);
  for (const auto& layer : json["layers"]) CHECK(layer["int8"].get<bool>());
  CHECK_FALSE(std::filesystem::exists(t.file("out.tflite.calibration")));
}

TEST_CASE("an interrupted calibration is taken up, and only its own") {
  TempFolder t;
  const std::string x = golden("digits_x.npy"), state = t.file("state");
  REQUIRE(quantize(kDigits, t.file("whole.onnx"), {"--equalise", "off", "--calib", x, "--quiet"})
              .exit_code == 0);
  REQUIRE(quantize(kDigits, t.file("part.onnx"),
                   {"--equalise", "off", "--calib", x, "--max-samples", "5", "--calibration", state,
                    "--quiet"})
              .exit_code == 0);
  const auto resumed =
      quantize(kDigits, t.file("resumed.onnx"),
               {"--equalise", "off", "--calib", x, "--calibration", state, "--json"});
  REQUIRE(resumed.exit_code == 0);
  CHECK(nlohmann::json::parse(resumed.out)["resumed"].get<int>() == 5);
  CHECK(read_text(t.file("resumed.onnx")) == read_text(t.file("whole.onnx")));
  // Other bytes under the same name and shape.
  auto changed = array(x);
  changed.data[5] ^= 1;
  std::filesystem::create_directory(t.file("d"));
  write_array(t.file("d/digits_x.npy"), changed.dtype, changed.shape, changed.data);
  const auto stale =
      quantize(kDigits, t.file("o.onnx"),
               {"--equalise", "off", "--calib", t.file("d"), "--calibration", state, "--json"});
  REQUIRE(stale.exit_code == 0);
  CHECK_THAT(stale.err, Contains("the samples have changed"));
  CHECK(nlohmann::json::parse(stale.out)["resumed"].get<int>() == 0);
}

TEST_CASE("quantize says what is wrong with its arguments") {
  TempFolder t;
  const std::string x = golden("digits_x.npy"), out = t.file("out.onnx");
  const auto fails = [&](int code, const std::string& text, const std::string& output,
                         const std::vector<std::string>& more) {
    const auto r = quantize(kDigits, output, more);
    INFO(r.err);
    CHECK(r.exit_code == code);
    CHECK_THAT(r.err, Contains(text));
    CHECK_FALSE(std::filesystem::exists(output));
  };
  fails(2, "neither .onnx nor .tflite", t.file("out.bin"), {"--calib", x});
  fails(2, "go together", out, {"--calib", x, "--metric", "top1"});
  fails(7, "cannot be read", out, {"--calib", t.file("none.npy")});
  fails(9, "holds float32", out, {"--calib", golden("beats_ae_x.npy")});
  std::filesystem::create_directory(t.file("empty"));
  fails(9, "has no .npy file", out, {"--calib", t.file("empty")});
  fails(2, "no operator is a 'nothing'", out, {"--calib", x, "--keep-float", "nothing"});
  write_array(t.file("y.npy"), DType::kUint8, {5}, {1, 2, 3, 4, 5});
  fails(9, "holds 5 labels for 12 samples", out,
        {"--calib", x, "--labels", t.file("y.npy"), "--metric", "top1"});
  auto bad = array(x);
  for (std::size_t i = 0; i < 4; ++i) bad.data[i] = 0xff;
  write_array(t.file("nan.npy"), bad.dtype, bad.shape, bad.data);
  fails(9, "nan.npy: value 0 of sample 0 is NaN", out, {"--calib", t.file("nan.npy")});
  bad = array(x);
  for (const std::size_t i : {0u, 1u}) bad.data[row(bad, 0).size() * 3 + 8 + i] = 0;
  for (const std::size_t i : {2u, 3u})
    bad.data[row(bad, 0).size() * 3 + 8 + i] = i == 2 ? 0x80 : 0x7f;
  write_array(t.file("inf.npy"), bad.dtype, bad.shape, bad.data);
  fails(9, "inf.npy: value 2 of sample 3 is infinite", out, {"--calib", t.file("inf.npy")});
  fails(2, "needs a --budget", t.file("out.tflite"), {"--calib", x, "--mixed"});
  fails(2, "is no budget", t.file("out.tflite"), {"--calib", x, "--mixed", "--budget", "10"});
  write_text(t.file("cut.npy"), read_text(x).substr(0, 5000));
  fails(9, "holds", out, {"--calib", t.file("cut.npy")});
  const auto again = run_deputy(
      {"quantize", project_file("workloads/ecg/ecg_beats.tflite"), "--calib", x, "-o", out});
  CHECK(again.exit_code == 3);
  CHECK_THAT(again.err, Contains("quantised already"));
}
