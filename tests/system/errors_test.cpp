// Bad input is answered: each case states the exit code and what the message must say.
#include <catch2/catch.hpp>

#include "tests/system/deputy_process.h"

using namespace deputy::test;
using Catch::Matchers::Contains;

namespace {
const std::string kModel = project_file("workloads/ecg/ecg_beats.tflite");
}

TEST_CASE("a missing model file is named") {
  const auto r = run_deputy({"run", "no_such_model.tflite"});
  CHECK(r.exit_code == 7);
  CHECK_THAT(r.err, Contains("no_such_model.tflite") && Contains("cannot open"));
}

TEST_CASE("a folder is not a model") {
  const auto r = run_deputy({"run", "/tmp"});
  CHECK(r.exit_code == 7);
  CHECK_THAT(r.err, Contains("is a folder"));
}

TEST_CASE("a truncated model is malformed, not a crash") {
  TempFolder t;
  const std::string whole = read_text(kModel);
  REQUIRE(whole.size() > 1000);
  for (const std::size_t keep :
       {std::size_t{0}, std::size_t{7}, whole.size() / 2, whole.size() - 1}) {
    write_text(t.file("cut.tflite"), whole.substr(0, keep));
    const auto r = run_deputy({"run", t.file("cut.tflite")});
    INFO(keep << " bytes: " << r.err);
    CHECK(r.exit_code == 3);
    CHECK_THAT(r.err, Contains("cut.tflite"));
  }
}

TEST_CASE("an unknown SoC name says where names come from") {
  const auto r = run_deputy({"run", kModel, "--soc", "nosuch"});
  CHECK(r.exit_code == 7);
  CHECK_THAT(r.err, Contains("nosuch") && Contains("configs/soc"));
}

TEST_CASE("an unknown key names its file, line and the nearest key") {
  TempFolder t;
  write_text(t.file("soc.yaml"), "name: x\nnpu:\n  mac:\n    oc_lane: 8\n");
  const auto r = run_deputy({"run", kModel, "--soc", t.file("soc.yaml")});
  CHECK(r.exit_code == 4);
  CHECK_THAT(r.err, Contains("soc.yaml:4") && Contains("npu.mac.oc_lane") &&
                        Contains("did you mean 'npu.mac.oc_lanes'"));
}

TEST_CASE("a value out of range states the range") {
  const auto r = run_deputy({"run", kModel, "--set", "npu.mac.oc_lanes=0"});
  CHECK(r.exit_code == 4);
  CHECK_THAT(r.err, Contains("npu.mac.oc_lanes = 0 is out of range") && Contains("1 to 256"));
}

TEST_CASE("a value of the wrong kind is refused") {
  const auto r = run_deputy({"run", kModel, "--set", "npu.mac.oc_lanes=many"});
  CHECK(r.exit_code == 4);
  CHECK_THAT(r.err, Contains("'many' is not an integer"));
}

TEST_CASE("an assignment without '=' is a usage error") {
  const auto r = run_deputy({"run", kModel, "--set", "npu.mac.oc_lanes"});
  CHECK(r.exit_code == 2);
  CHECK_THAT(r.err, Contains("key=value"));
}

TEST_CASE("an input of the wrong size names expected and found") {
  TempFolder t;
  write_text(t.file("in.bin"), "abc");
  const auto r = run_deputy({"run", kModel, "--input", t.file("in.bin")});
  CHECK(r.exit_code == 9);
  CHECK_THAT(r.err, Contains("holds 3 bytes") && Contains("input 0"));
}

TEST_CASE("an input that is not what its name says is refused") {
  TempFolder t;
  write_text(t.file("in.npy"), "abcabcabcabcabc");
  const auto r = run_deputy({"run", kModel, "--input", t.file("in.npy")});
  CHECK(r.exit_code == 9);
  CHECK_THAT(r.err, Contains("not a .npy file"));
}

TEST_CASE("too many inputs is a usage error") {
  const std::string in = project_file("workloads/ecg/sample_beat.npy");
  const auto r = run_deputy({"run", kModel, "--input", in, "--input", in});
  CHECK(r.exit_code == 2);
  CHECK_THAT(r.err, Contains("2 files given, the model has 1 inputs"));
}

TEST_CASE("an expectation that does not hold is a mismatch and still leaves the report") {
  TempFolder t;
  write_text(t.file("want.bin"), "wrong");
  const auto r =
      run_deputy({"run", kModel, "--expect", t.file("want.bin"), "--report", t.file("r.json")});
  CHECK(r.exit_code == 8);
  CHECK_THAT(r.err, Contains("output 0 differs"));
  CHECK_FALSE(read_text(t.file("r.json")).empty());
}

TEST_CASE("strict placement names the first operator on the CPU and why") {
  const auto r = run_deputy({"run", kModel, "--engine", "cpu", "--strict"});
  CHECK(r.exit_code == 5);
  CHECK_THAT(r.err, Contains("runs on the CPU"));
}

TEST_CASE("an unwritable output is an I/O error") {
  const auto r = run_deputy({"run", kModel, "--report", "/proc/nowhere/r.json"});
  CHECK(r.exit_code == 7);
  CHECK_THAT(r.err, Contains("/proc/nowhere/r.json"));
}

TEST_CASE("unknown commands and options are usage errors") {
  CHECK(run_deputy({"fly"}).exit_code == 2);
  CHECK(run_deputy({"run"}).exit_code == 2);
  CHECK(run_deputy({"run", kModel, "--engine", "gpu"}).exit_code == 2);
  CHECK(run_deputy({"list", "nothing"}).exit_code == 2);
}
