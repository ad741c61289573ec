// Shell manners: doctor, completion, man page.
#include <catch2/catch.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "tests/system/deputy_process.h"

using namespace deputy::test;
using Catch::Matchers::Contains;

namespace {

std::string output_of(const std::string& command) {
  std::string out;
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe);
  char buffer[4096];
  while (const std::size_t n = fread(buffer, 1, sizeof buffer, pipe)) out.append(buffer, n);
  CHECK(pclose(pipe) == 0);
  return out;
}

}  // namespace

TEST_CASE("the doctor finds this installation sound") {
  const auto r = run_deputy({"doctor", "--json"});
  INFO(r.out << r.err);
  CHECK(r.exit_code == 0);
  const auto json = nlohmann::json::parse(r.out);
  CHECK(json["good"] == true);
  CHECK(json["checks"].size() == 5);
}

TEST_CASE("bash completes commands, options, and values that an option can have") {
  TempFolder folder;
  const std::string script = folder.file("completion");
  const auto r = run_deputy({"completion", "bash"});
  REQUIRE(r.exit_code == 0);
  write_text(script, r.out);
  const auto completed = [&](const std::string& words, int at) {
    return output_of("bash -c 'source " + script + "; COMP_WORDS=(" + words + "); COMP_CWORD=" +
                     std::to_string(at) + "; _deputy; echo \" ${COMPREPLY[*]} \"'");
  };
  CHECK(completed("deputy insp", 1) == " inspect \n");
  CHECK_THAT(completed("deputy \"\"", 1),
             Contains(" explore ") && Contains(" run ") && Contains(" ci "));
  CHECK(completed("deputy run --timing", 2) == " --timing-only \n");
  CHECK(completed("deputy run --effort \"\"", 3) == " fast full \n");
  CHECK(completed("deputy explore x.yaml --method n", 4) == " nsga2 nspso \n");
  CHECK_THAT(completed("deputy bench ra", 2), Contains(" ratios "));
  CHECK(completed("deputy bench ratios --per-", 3) == " --per-layer \n");
  CHECK(run_deputy({"completion", "fish"}).exit_code == 2);
}

TEST_CASE("the man page and the zsh script have every command") {
  const auto man = run_deputy({"man"}), zsh = run_deputy({"completion", "zsh"}),
             help = run_deputy({"--help"});
  CHECK(man.exit_code == 0);
  CHECK(zsh.exit_code == 0);
  for (const char* command :
       {"run", "compile", "explore", "ci", "campaign", "doctor", "validate", "bench"}) {
    CHECK_THAT(man.out, Contains(std::string(".SH deputy ") + command + "\n"));
    CHECK_THAT(zsh.out, Contains(std::string("_deputy_") + command + "_options"));
    CHECK_THAT(help.out, Contains(command));
  }
  CHECK_THAT(man.out, Contains("\\-\\-timing\\-only"));
}

TEST_CASE("zsh knows the arguments of a command by their place") {
  const auto zsh = run_deputy({"completion", "zsh"}).out;
  const auto options_of = [&](const std::string& name) {
    const std::size_t from = zsh.find("_" + name + "_options() {"),
                      to = zsh.find("&& return", from);
    REQUIRE(from != std::string::npos);
    return zsh.substr(from, to - from);
  };
  CHECK_THAT(options_of("deputy_cache"),
             Contains("'1:what:(list verify prune)'") && Contains("'2:folder:_files'"));
  CHECK_THAT(options_of("deputy_validate"), Contains("'*:anchors:_files'"));
  CHECK_THAT(options_of("deputy_bench_ratios"), Contains("'1:data:_files'"));
  if (std::system("command -v zsh >/dev/null") != 0)
    return;  // where it is installed, it must understand the script
  TempFolder folder;
  write_text(folder.file("_deputy"), zsh);
  CHECK(output_of("zsh -n " + folder.file("_deputy") + " 2>&1") == "");
}
