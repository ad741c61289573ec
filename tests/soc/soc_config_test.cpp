// SoC files: every shipped board loads, an effective configuration reads back as itself, and each
// kind of mistake has its message.
#include "soc/soc_config.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/support/source_dir.h"

namespace deputy::soc_test {
namespace {

const std::string kConfigs = tests::source_dir() + "/configs/soc";

base::Result<soc::SocConfig> parse(const std::string& text) {
  auto config = base::Config::from_text(text, "t.yaml");
  if (!config.ok()) return config.error();
  return soc::parse_soc_config(std::move(*config), kConfigs);
}
const std::string kEnergy = "energy: {file: ../energy/28nm.yaml}\n";

std::vector<std::pair<std::string, std::string>> values(const soc::SocConfig& config) {
  std::vector<base::ParamRow> rows;
  base::list_params("", config, rows);
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& row : rows) out.emplace_back(row.key, row.value);
  return out;
}

std::string message(const std::string& text) {
  const auto result = parse(text);
  return result.ok() ? "accepted" : result.error().text();
}

}  // namespace

TEST_CASE("every shipped SoC loads, and its effective configuration is the same SoC") {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kConfigs)) {
    INFO(entry.path().filename().string());
    const auto config = soc::load_soc_config(entry.path().string(), {});
    if (!config.ok()) FAIL(config.error().text());
    CHECK(config->name == entry.path().stem().string());
    CHECK(config->energy.npu_mac_pj > 0);
    const auto again = parse(soc::effective_config_yaml(*config));
    if (!again.ok()) FAIL(again.error().text());
    CHECK(values(*again) == values(*config));
    CHECK(soc::effective_config_yaml(*again) == soc::effective_config_yaml(*config));
    ++count;
  }
  CHECK(count >= 2);
}

TEST_CASE("names that YAML could misread survive the effective configuration") {
  auto config = parse(kEnergy);
  REQUIRE(config.ok());
  for (const char* name : {"a: b",        "x #1",       "it's \"quoted\"",
                           "back\\slash", " spaces ",   "",
                           "null",        "~",          "-",
                           "---",         "...",        "true",
                           "1e3",         "two\nlines", "tab\there",
                           "\x01",        "[a, b]",     "{a}",
                           "*x",          "&x",         "!x",
                           "%x",          "@x",         "`x",
                           "caf\xc3\xa9", "?",          "- a"}) {
    INFO(name);
    config->name = name;
    const auto again = parse(soc::effective_config_yaml(*config));
    if (!again.ok()) FAIL_CHECK(again.error().text());
    if (again.ok()) CHECK(again->name == name);
  }
}

TEST_CASE("odd values survive too: small, large and fractional numbers") {
  auto config =
      soc::load_soc_config(kConfigs + "/wearable.yaml",
                           {"dram.tck_ns=0.8330000000000001", "energy.npu_mac_pj=1e-7",
                            "host.copy_byte=0.1", "dram.bytes=2147483648", "dram.model=fixed",
                            "noc.arbitration=fifo", "npu.spm.bytes=0x10000"});
  if (!config.ok()) FAIL(config.error().text());
  CHECK(config->dram.tck_ns == 0.8330000000000001);
  CHECK(config->energy.npu_mac_pj == 1e-7);
  CHECK(config->dram.bytes == 2147483648);
  CHECK(config->npu.spm.bytes == 65536);
  const auto again = parse(soc::effective_config_yaml(*config));
  REQUIRE(again.ok());
  CHECK(again->dram.tck_ns == config->dram.tck_ns);
  CHECK(again->energy.npu_mac_pj == config->energy.npu_mac_pj);
  CHECK(values(*again) == values(*config));
}

TEST_CASE("mistakes in a SoC file and their messages") {
  CHECK(message(kEnergy + "noc: {widht_bytes: 8}\n") ==
        "t.yaml:2: unknown key 'noc.widht_bytes' (did you mean 'noc.width_bytes'?)");
  CHECK(message(kEnergy + "noc:\n  width_bytes: 0\n") ==
        "t.yaml:3: noc.width_bytes = 0 is out of range (use a value from 1 to 256)");
  CHECK(message(kEnergy + "noc: {latency: fast}\n") ==
        "t.yaml:2: noc.latency = 'fast' is not an integer");
  CHECK(message(kEnergy + "noc: {arbitration: lottery}\n") ==
        "t.yaml:2: noc.arbitration = 'lottery' is not a choice (use one of round_robin, priority, "
        "fifo)");
  CHECK(message(kEnergy + "dram: {model: ideal}\n") ==
        "t.yaml:2: dram.model = 'ideal' is not a choice (use one of simple, full, fixed)");
  CHECK(message("name: x\n") ==
        "energy.npu_mac_pj: has no value (name a table with energy.file (configs/energy) or give "
        "the row)");
  CHECK(message("name: x\nenergy: {npu_mac_pj: 1}\n") ==
        "energy.npu_vec_pj: has no value (name a table with energy.file (configs/energy) or give "
        "the row)");
  CHECK_THAT(message("energy: {file: nowhere.yaml}\n"),
             Catch::StartsWith("t.yaml:1: energy table: ") &&
                 Catch::Contains("nowhere.yaml: cannot open the configuration file"));
  CHECK(message(kEnergy + "name: a\nname: b\n") ==
        "t.yaml:3: key 'name' is given twice (keep one of them)");
  CHECK(message(kEnergy + "noc: {latency: 1, latency: 2}\n") ==
        "t.yaml:2: key 'noc.latency' is given twice (keep one of them)");
  CHECK_THAT(message("noc: {latency: 1\n"), Catch::Contains("not valid YAML"));
  CHECK_THAT(message("noc:\n\t- x"), Catch::StartsWith("t.yaml:2: not valid YAML"));
  CHECK(message("just words") ==
        "t.yaml: the file is not a YAML mapping (write 'key: value' lines)");
  CHECK(message(kEnergy + "noc: {latency: }\n") ==
        "t.yaml:2: key 'noc.latency' has no value (give it one or remove the line)");
  CHECK(message(kEnergy + "dram: {width_bits: 24}\n") ==
        "dram.width_bits: a burst (width_bits / 8 * burst_length) must be a power of two of bytes "
        "(use 8, 16, 32 or 64 bits)");
  CHECK_THAT(message(kEnergy + "dram: {row_bytes: 3000}\n"),
             Catch::StartsWith("dram.row_bytes: must be a power of two"));
  CHECK_THAT(message(kEnergy + "dram: {banks: 6}\n"),
             Catch::StartsWith("dram.banks: must be a power of two"));
  CHECK(message(kEnergy + "dram: {trefi: 400}\n") ==
        "dram.trefi: refresh would take all the time (trefi must exceed trfc)");
}

TEST_CASE("a missing SoC file and bad assignments") {
  const auto text = [](const std::string& file, const std::vector<std::string>& sets) {
    const auto result = soc::load_soc_config(file, sets);
    return result.ok() ? "accepted" : result.error().text();
  };
  CHECK(text("/nowhere/x.yaml", {}) ==
        "/nowhere/x.yaml: cannot open the configuration file (check the path)");
  const std::string file = kConfigs + "/wearable.yaml";
  CHECK(text(file, {"noc.latency"}) ==
        "--set noc.latency: not of the form key=value (for example --set npu.mac.oc_lanes=32)");
  CHECK(text(file, {"noc.latenzy=3"}) ==
        "--set noc.latenzy=3: unknown key 'noc.latenzy' (did you mean 'noc.latency'?)");
  CHECK(
      text(file, {"noc.latency=99999"}) ==
      "--set noc.latency=99999: noc.latency = 99999 is out of range (use a value from 0 to 10000)");
  CHECK(text(file, {"energy.file=/nowhere/e.yaml"}).find("/nowhere/e.yaml: cannot open") !=
        std::string::npos);
}

}  // namespace deputy::soc_test
