// What --json prints is JSON of the shape that docs/json.md tells, for every command that has it.
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/system/deputy_process.h"
#include "tools/npy.h"

using namespace deputy;
using namespace deputy::test;

namespace {

using Json = nlohmann::json;

/// Field -> whether it may be missing, by format.
using Shapes = std::map<std::string, std::map<std::string, bool>>;

Shapes documented() {
  Shapes out;
  std::istringstream lines(read_text(project_file("docs/json.md")));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t format = line.find("| `deputy-");
    if (!line.starts_with("| ") || format == std::string::npos) continue;
    const std::size_t fields = line.find("` | ", format);
    auto& shape = out[line.substr(format + 3, fields - format - 3)];
    for (std::size_t at = line.find('`', fields + 1); at != std::string::npos;
         at = line.find('`', at + 1)) {
      const std::size_t end = line.find('`', at + 1);
      shape[line.substr(at + 1, end - at - 1)] = line[end + 1] == '?';
      at = end;
    }
  }
  return out;
}

struct Checker {
  Shapes shapes = documented();
  std::set<std::string> seen;

  Json check(const std::string& text, const std::string& format) {
    const Json json = Json::parse(text);  // throws, and so fails, when it is none
    CHECK(json.at("format") == format);
    const auto& shape = shapes[format];
    CHECK_FALSE(shape.empty());
    for (const auto& [name, value] : json.items()) {
      INFO(format << "." << name << " is not in docs/json.md");
      CHECK((name == "format" || shape.contains(name)));
    }
    for (const auto& [name, may_lack] : shape) {
      INFO(format << " lacks " << name);
      CHECK((may_lack || json.contains(name)));
    }
    seen.insert(format);
    return json;
  }

  Json operator()(const std::string& format, std::vector<std::string> arguments,
                  int exit_code = 0) {
    arguments.push_back("--json");
    const auto r = run_deputy(arguments);
    INFO(format << ": " << r.out.substr(0, 2000) << r.err);
    CHECK(r.exit_code == exit_code);
    return check(r.out, format);
  }
};

}  // namespace

TEST_CASE("every quick command's JSON has the shape that its page tells") {
  TempFolder folder;
  const auto in = [&](const char* name) { return folder.file(name); };
  const std::string model = in("model.tflite");
  Checker json;
  CHECK(json.shapes.size() >= 30);

  const auto network = json("deputy-network-1", {"network", "ecg_tcn", "-o", model});
  CHECK(network["bytes"] == std::filesystem::file_size(model));
  for (const char* what :
       {"ops", "params", "stats", "registers", "instructions", "dsp-instructions", "networks"}) {
    const auto rows = json("deputy-list-1", {"list", what})["rows"];
    CHECK(rows.size() >= 8);
    for (const auto& row : rows) CHECK(row.size() == rows[0].size());
  }
  const auto compiled = json("deputy-executable-1", {"compile", model, "-o", in("m.dexe")}),
             inspected = json("deputy-executable-1", {"inspect", model});
  CHECK(compiled["bytes"] == std::filesystem::file_size(in("m.dexe")));
  CHECK(compiled["ops"] == inspected["ops"]);
  CHECK(compiled["tensors"] == inspected["tensors"]);
  CHECK(run_deputy({"compile", model, "--dump=tiles", "--json"}).exit_code == 2);
  CHECK(json("deputy-disasm-1", {"disasm", in("m.dexe")})["programs"].size() ==
        compiled["programs"]);

  json("deputy-report-1", {"run", model, "--timing-only", "--cache", in("cache"), "--frames", "4",
                           "--frame-period", "2000", "--report", in("a.json")});
  json.check(read_text(in("a.json")), "deputy-report-1");
  CHECK(json("deputy-report-1", {"report", in("a.json")}) == Json::parse(read_text(in("a.json"))));
  CHECK(json("deputy-run-compare-1",
             {"run", model, "--timing-only", "--compare", "no-fusion"})["runs"]
            .size() == 2);
  json("deputy-compare-1", {"compare", in("a.json"), in("a.json")});
  json("deputy-explain-1", {"explain", in("a.json")});
  CHECK(json("deputy-cache-1", {"cache", "list", in("cache")})["entries"].size() == 1);
  CHECK(json("deputy-cache-prune-1",
             {"cache", "prune", in("cache"), "--cache-limit", "0"})["removed"] == 1);
  json("deputy-check-1", {"check", model});
  json("deputy-doctor-1", {"doctor"});
  CHECK(json("deputy-bench-1", {"bench", "ecg_tcn", "--runs", "1"})["networks"][0]["macs"] > 0);
  json("deputy-bench-sram-sweep-1", {"bench", "sram-sweep", model, "--kib", "16,64"});
  json("deputy-bench-copies-1",
       {"bench", "copies", "--soc", "wearable", "--report", in("copies.json")});
  json.check(read_text(in("copies.json")), "deputy-bench-copies-1");
  CHECK(json("deputy-check-onnx-1", {"check-onnx", "--filter", "test_relu"})["counts"]["pass"] ==
        1);

  write_text(in("p.dsp"), "start: halt\n");
  CHECK(json("deputy-asm-1", {"asm", in("p.dsp"), "-o", in("p.dspx")})["labels"]["start"] == 0);
  CHECK(json("deputy-asm-1", {"asm", in("p.dsp"), "--listing"}).contains("listing"));
  json("deputy-disasm-dsp-1", {"disasm", in("p.dspx")});
  CHECK(json("deputy-dsp-1", {"dsp", in("p.dspx")})["stats"]["packets"] == 1);
  CHECK(json("deputy-dsp-kernel-1", {"dsp", "fir"})["cases"].size() > 1);
  CHECK(run_deputy({"dsp", "fir", "--trace=dsp", "--json"}).exit_code == 2);

  const std::string patch = project_file("configs/streams/ecg_patch.yaml");
  json("deputy-stream-1", {"stream", patch, "--with", "source.seconds=4"});
  CHECK(json("deputy-stream-compare-1",
             {"stream", patch, "--with", "source.seconds=4", "--compare"})["rows"]
            .size() == 3);
  const std::string plan = project_file("configs/campaigns/short.yaml");
  const auto campaign =
      json("deputy-campaign-1", {"campaign", plan, "--injections", "6", "--findings", in("found"),
                                 "--report", in("campaign.json")});
  CHECK(campaign["all"]["runs"] == 6);
  CHECK(Json::parse(read_text(in("campaign.json"))) == campaign);
  CHECK(json("deputy-campaign-run-1",
             {"campaign", plan, "--injections", "6", "--only", "3"})["run"] == 3);
  write_text(in("x.yaml"),
             "soc: wearable\nworkloads: [{network: ecg_tcn}]\nobjectives: [latency]\nparameters:\n "
             " c: {key: npu.clock_mhz, values: [100, 200]}\n");
  CHECK(json("deputy-explore-1",
             {"explore", in("x.yaml"), "--db", in("x.db"), "--jobs", "1"})["points"]
            .size() == 2);
  const std::vector<std::uint8_t> zeros(8 * 784 * 4);
  const auto samples = tools::format_npy(DType::kFloat32, {8, 1, 28, 28}, zeros);
  write_text(in("samples.npy"), {samples.begin(), samples.end()});
  json("deputy-quantize-1", {"quantize", project_file("workloads/trained/digits.onnx"), "--dim",
                             "batch=1", "--calib", in("samples.npy"), "-o", in("int8.tflite")});
  write_text(in("suite.yaml"), "name: one\ncases: [{network: ecg_tcn}]\n");
  REQUIRE(run_deputy({"ci", in("suite.yaml"), "--update-baseline"}).exit_code == 0);
  CHECK(json("deputy-ci-verdict-1", {"ci", in("suite.yaml")})["good"] == true);

  // The others are slow, or need models from elsewhere: below.
  const std::set<std::string> elsewhere = {"deputy-probe-1",         "deputy-bench-runtime-1",
                                           "deputy-bench-engines-1", "deputy-bench-ratios-1",
                                           "deputy-check-data-1",    "deputy-validate-1"};
  for (const auto& documented : json.shapes) {
    INFO(documented.first);
    CHECK(json.seen.contains(documented.first) != elsewhere.contains(documented.first));
  }
}

TEST_CASE("the slow commands' JSON has the shape that its page tells", "[.slow]") {
  TempFolder folder;
  Checker json;
  json("deputy-probe-1", {"probe"});
  json("deputy-bench-runtime-1", {"bench", "runtime", "--case", "ecg", "--frames", "4"});
  json("deputy-bench-engines-1", {"bench", "engines", "--set", "dsp.present=true"});
  json("deputy-validate-1", {"validate", "--quick"});
  if (const auto data = shared_data("models"); !data.empty())
    json("deputy-bench-ratios-1", {"bench", "ratios", data, "--anchors", "ethos-u55-128"});
  if (const auto manifest = shared_data("manifest.json"); !manifest.empty())
    json("deputy-check-data-1", {"check-data", manifest});
}
