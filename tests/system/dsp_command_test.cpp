// `deputy dsp` as a user runs it: traces survive a fault, numbers that would wrap and options that
// nothing would use are refused.
#include <catch2/catch.hpp>

#include "tests/system/deputy_process.h"

using namespace deputy::test;
using Catch::Matchers::Contains;

TEST_CASE("deputy dsp prints the trace of a program that faults") {
  const TempFolder t;
  write_text(t.file("t.dsp"), " movi r2, 5\n trap 7\n");
  const auto r = run_deputy({"dsp", t.file("t.dsp"), "--trace=dsp"});
  CHECK(r.exit_code == 6);
  CHECK_THAT(r.out, Contains("movi r2, 5"));
  CHECK_THAT(r.err, Contains("word 1"));
}

TEST_CASE("deputy dsp refuses numbers that would wrap and options that nothing would use") {
  const TempFolder t;
  write_text(t.file("t.dsp"), ".param N 1\n halt\n");
  write_text(t.file("x.bin"), "abcd");
  const std::string program = t.file("t.dsp"), load = "=" + t.file("x.bin");
  REQUIRE(run_deputy({"dsp", program, "--arg", "0xFFFFFFFF", "--arg=-2147483648"}).exit_code == 0);
  REQUIRE(run_deputy({"asm", program, "-o", t.file("t.dspx")}).exit_code == 0);
  struct Case {
    std::vector<std::string> arguments;
    const char* says;
  };
  for (const Case& c :
       std::vector<Case>{{{"dsp", program, "--arg", "0x100000000"}, "out of range"},
                         {{"dsp", program, "--arg=-2147483649"}, "out of range"},
                         {{"dsp", program, "--arg=--5"}, "no number"},
                         {{"dsp", program, "--arg=-0x-5"}, "no number"},
                         {{"dsp", program, "--load", "0x100000000" + load}, "out of range"},
                         {{"dsp", program, "--load=-4" + load}, "out of range"},
                         {{"dsp", program, "--dump=0:-1=" + t.file("y")}, "out of range"},
                         {{"dsp", program, "--param", "N=99999999999999999999"}, "no number"},
                         {{"dsp", "fir", "--arg", "5"}, "is not a file"},
                         {{"dsp", "fir", "--param", "TAPS=3"}, "is not a file"},
                         {{"dsp", t.file("t.dspx"), "--param", "N=3"}, "assembled already"}}) {
    const auto r = run_deputy(c.arguments);
    INFO(c.arguments[1] << " " << c.arguments.back() << ": " << r.err);
    CHECK(r.exit_code == 2);
    CHECK_THAT(r.err, Contains(c.says));
  }
}
