// The tables of configs/energy and configs/host: every row says what it rests on, derived rows are
// what their rule makes of the cited value, SRAM energy follows the sizes. Read here with a YAML
// parser of its own, not through the loader.
#include <yaml-cpp/yaml.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <set>

#include "soc/energy_tables.h"
#include "soc/soc_config.h"
#include "tests/support/source_dir.h"

namespace deputy::soc_test {
namespace {

const std::string kFolder = tests::source_dir() + "/configs/";

std::vector<std::string> tables(const char* folder) {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder + folder))
    out.push_back(entry.path().string());
  return out;
}

// A row is a mapping with a basis; anything else in a table is a header.
template <class Use>
void each_row(const YAML::Node& node, const std::string& name, const Use& use) {
  if (node.IsMap() && (node["value"] || node["read_byte_pj"])) return use(name, node);
  if (node.IsMap())
    for (const auto& item : node) each_row(item.second, name + "/" + item.first.Scalar(), use);
  if (node.IsSequence())
    for (const auto& item : node) each_row(item, name, use);
  if (!node.IsScalar()) return;
  static const std::set<std::string> kHeaders = {"node_nm", "volts", "dram_file", "host_file"};
  CHECK(kHeaders.count(name.substr(name.rfind('/') + 1)) == 1);
}

// Stillmaker & Baas, Integration 58 (2017): energy of a gate as a quadratic in the supply voltage,
// per node; between two nodes linear.
double gate(double nm, double v) {
  struct Fit {
    double nm, a, b, c;
  };
  constexpr Fit kFits[] = {{45, 1.103, -0.362, 0.2767},
                           {32, 0.9559, -0.7823, 0.471},
                           {20, 0.373, -0.1582, 0.04104},
                           {16, 0.2958, -0.1241, 0.03024}};
  const auto at = [&](const Fit& f) { return (f.a * v + f.b) * v + f.c; };
  for (std::size_t i = 0; i < 4; ++i) {
    if (kFits[i].nm == nm) return at(kFits[i]);
    if (i > 0 && nm > kFits[i].nm && nm < kFits[i - 1].nm)
      return at(kFits[i]) + (at(kFits[i - 1]) - at(kFits[i])) * (nm - kFits[i].nm) /
                                (kFits[i - 1].nm - kFits[i].nm);
  }
  FAIL("no fit for " << nm << " nm");
  return 0;
}

soc::SocConfig board(const std::string& table) {
  auto config = base::Config::from_text("energy: {file: ../energy/" + table + "}\n", "t.yaml");
  auto soc = soc::parse_soc_config(std::move(*config), kFolder + "soc");
  if (!soc.ok()) FAIL(soc.error().text());
  return *soc;
}

}  // namespace

TEST_CASE("every row of every table names its source, or says that it is an assumption") {
  int rows = 0;
  for (const char* folder : {"energy", "host"})
    for (const auto& path : tables(folder))
      each_row(YAML::LoadFile(path), path, [&](const std::string& name, const YAML::Node& row) {
        INFO(name);
        REQUIRE(row["basis"]);
        const auto basis = row["basis"].as<std::string>();
        CHECK((basis == "source" || basis == "derived" || basis == "assumption"));
        REQUIRE(row["source"]);
        CHECK(row["source"].as<std::string>().size() > 5);
        // What is called cited does not admit in its text that it is not.
        if (basis != "assumption")
          CHECK(row["source"].as<std::string>().find("no source") == std::string::npos);
        ++rows;
      });
  CHECK(rows > 80);
}

TEST_CASE("rows scaled between nodes are the cited value by the published equations") {
  int scaled = 0;
  for (const auto& path : tables("energy")) {
    const YAML::Node table = YAML::LoadFile(path);
    if (!table["node_nm"]) continue;
    each_row(table, path, [&](const std::string& name, const YAML::Node& row) {
      if (!row["cited_nm"]) return;
      INFO(name);
      const double factor = gate(table["node_nm"].as<double>(), table["volts"].as<double>()) /
                            gate(row["cited_nm"].as<double>(), row["cited_volts"].as<double>());
      const auto check = [&](const char* value, const char* cited) {
        if (!row[value]) return;
        CHECK(row[value].as<double>() == Approx(row[cited].as<double>() * factor).epsilon(2e-3));
        ++scaled;
      };
      check("value", "cited");
      check("read_byte_pj", "cited_read");
      check("write_byte_pj", "cited_write");
    });
  }
  CHECK(scaled > 25);
}

TEST_CASE("LPDDR4 rows follow from its currents") {
  const YAML::Node table = YAML::LoadFile(kFolder + "energy/lpddr4-3200.yaml");
  // mA on VDD1 1.8 V, VDD2 1.1 V, VDDQ 1.1 V: DRAMSys, JEDEC_8Gb_LPDDR4-3200_16bit.json. 6.4 GB/s.
  constexpr double v[] = {1.8, 1.1, 1.1}, idd0[] = {3.5, 45, 0.75}, idd2n[] = {2, 27, 0.75},
                   idd3n[] = {2.25, 30, 0.75}, idd4r[] = {2.25, 275, 0.75},
                   idd4w[] = {2.25, 210, 0.75}, idd6[] = {0.3, 0.5, 0.1};
  constexpr double tck = 0.625, trc = 97, tras = 68, trp = 29, io_read = 150 * 1.1,
                   io_write = 55 * 1.1;
  double activate = 0, read = io_read, write = io_write, sleep = 0;
  for (int rail = 0; rail < 3; ++rail) {
    activate += v[rail] * (idd0[rail] * trc - idd3n[rail] * tras - idd2n[rail] * trp) * tck;
    read += v[rail] * (idd4r[rail] - idd3n[rail]);
    write += v[rail] * (idd4w[rail] - idd3n[rail]);
    sleep += v[rail] * idd6[rail];
  }
  CHECK(table["dram_read_byte_pj"]["value"].as<double>() == Approx(read / 6.4).epsilon(5e-3));
  CHECK(table["dram_write_byte_pj"]["value"].as<double>() == Approx(write / 6.4).epsilon(5e-3));
  CHECK(table["dram_activate_pj"]["value"].as<double>() == Approx(activate).epsilon(5e-3));
  CHECK(table["dram_sleep_mw"]["value"].as<double>() == Approx(sleep).epsilon(5e-3));
}

TEST_CASE("a byte in an SRAM costs what the table says for its size") {
  const std::vector<soc::SramMacro> horowitz = {{8, 1.25, 1.25, {"source", "a", ""}},
                                                {32, 2.5, 2.5, {"source", "b", ""}}};
  CHECK(soc::sram_energy(horowitz, 8192).read_byte_pj == 1.25);
  CHECK(soc::sram_energy(horowitz, 8192).row.basis == "source");
  CHECK(soc::sram_energy(horowitz, 16384).read_byte_pj ==
        Approx(1.25 * std::sqrt(2.0)));  // halfway in the logarithm
  CHECK(soc::sram_energy(horowitz, 16384).row.basis == "derived");
  CHECK(soc::sram_energy(horowitz, 131072).read_byte_pj ==
        Approx(5));  // four times the largest: twice
  CHECK(soc::sram_energy(horowitz, 2048).read_byte_pj == Approx(0.625));
  // A larger memory never reads cheaper, at any node; and a newer node never costs more.
  std::vector<double> last;
  for (const char* table : {"45nm.yaml", "28nm.yaml", "22nm.yaml", "16nm.yaml"}) {
    const auto config =
        base::Config::from_text(std::string("energy: {file: ../energy/") + table + "}\n", "t.yaml");
    auto copy = *config;
    const auto loaded = soc::load_energy_tables(copy, kFolder + "soc");
    REQUIRE(loaded.ok());
    double before = 0;
    std::vector<double> now;
    for (double bytes = 4096; bytes <= 8 << 20; bytes *= 1.5) {
      now.push_back(soc::sram_energy(loaded->macros, bytes).read_byte_pj);
      CHECK(now.back() >= before);
      before = now.back();
    }
    for (std::size_t i = 0; i < last.size(); ++i) CHECK(now[i] <= last[i]);
    last = now;
    const auto soc = board(table);
    CHECK(soc.energy.npu_spm_read_byte_pj ==
          soc::sram_energy(loaded->macros, static_cast<double>(soc.npu.spm.bytes)).read_byte_pj);
    CHECK(soc.energy.sram_write_byte_pj ==
          soc::sram_energy(loaded->macros, static_cast<double>(soc.sram.bytes)).write_byte_pj);
  }
}

TEST_CASE("a row that the board gives is an assumption unless it names its source") {
  const auto load = [](const std::string& energy) {
    auto config =
        base::Config::from_text("energy: {file: ../energy/28nm.yaml, " + energy + "}\n", "t.yaml");
    return soc::parse_soc_config(std::move(*config), kFolder + "soc");
  };
  auto plain = load("npu_mac_pj: 0.5");
  REQUIRE(plain.ok());
  CHECK(plain->energy.npu_mac_pj == 0.5);
  CHECK(plain->energy_sources.at("npu_mac_pj").basis == "assumption");
  auto named = load("npu_mac_pj: {value: 0.5, basis: source, source: a paper}");
  REQUIRE(named.ok());
  CHECK(named->energy.npu_mac_pj == 0.5);
  CHECK(named->energy_sources.at("npu_mac_pj") == soc::RowSource{"source", "a paper", ""});
  CHECK(load("npu_mac_pj: {value: 0.5, source: a paper}").error().text() ==
        "energy.npu_mac_pj.basis: '' is no basis (use one of source, derived, assumption)");
  CHECK(load("npu_mac_pj: {value: 0.5, basis: source}").error().text() ==
        "energy.npu_mac_pj.source: has no value (say who is cited, or what is assumed)");
  CHECK(load("npu_mac_pj: {value: 0.5, basis: source, source: x, page: 3}")
            .error()
            .text()
            .find("page") != std::string::npos);
  CHECK(load("npu_mac_pj: {basis: source, source: x}").error().text() ==
        "energy.npu_mac_pj.value: has no value (give it, or remove the row)");
}

TEST_CASE("a host preset gives costs and energy, and the board's own keys win") {
  auto config = base::Config::from_text(
      "host: {file: ../host/cortex-a53.yaml, copy_byte: 0.25}\nenergy: {file: "
      "../energy/28nm.yaml}\n",
      "t.yaml");
  auto soc = soc::parse_soc_config(std::move(*config), kFolder + "soc");
  if (!soc.ok()) FAIL(soc.error().text());
  CHECK(soc->host.clock_mhz == 1400);
  CHECK(soc->host.copy_byte == 0.25);
  CHECK(soc->energy.host_cycle_pj == 150);
  // TI's figures from the preset's cycles: 9.1 us a switch, 928 MB/s a copy.
  CHECK(soc->host.context_switch / soc->host.clock_mhz == Approx(9.1).epsilon(1e-3));
  const auto usual = board("28nm.yaml");
  CHECK(usual.host.copy_byte == arch::HostConfig{}.copy_byte);
}

}  // namespace deputy::soc_test
