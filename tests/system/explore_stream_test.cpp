// Streams as workloads of an exploration: held against `deputy stream` on the same SoC.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/system/deputy_process.h"

using namespace deputy::test;
using Catch::Matchers::Contains;
using Json = nlohmann::json;

namespace {

std::string experiment(const std::string& workloads, const std::string& objectives) {
  return "soc: patch\nworkloads: [" + workloads + "]\nobjectives: [" + objectives +
         "]\nparameters:\n  dsp: {key: dsp.clock_mhz, values: [4, 32]}\n";
}

const std::string kStream = "{stream: ecg_patch, name: ecg, with: [source.seconds=6]}";

}  // namespace

TEST_CASE("an exploration of a stream measures what the stream's own report says") {
  TempFolder folder;
  const std::string file = folder.file("x.yaml"), db = folder.file("x.db");
  write_text(file, experiment(kStream + ", {network: ecg_tcn, name: net}",
                              "p99@ecg, misses@ecg, power@ecg, latency@net, area"));
  const auto explore = [&] {
    return run_deputy(
        {"explore", file, "--db", db, "--jobs", "1", "--json", "--html", folder.file("x.html")});
  };
  const auto r = explore();
  INFO(r.err);
  REQUIRE(r.exit_code == 0);
  const Json points = Json::parse(r.out)["points"];
  REQUIRE(points.size() == 2);
  for (const Json& point : points) {
    const std::string clock = point["parameters"]["dsp"];
    const auto s = run_deputy({"stream", project_file("configs/streams/ecg_patch.yaml"), "--with",
                               "source.seconds=6", "--set", "dsp.clock_mhz=" + clock, "--json"});
    REQUIRE(s.exit_code == 0);
    const Json stream = Json::parse(s.out);
    const Json& found = point["objectives"];
    CHECK(found["p99@ecg"].get<double>() ==
          Approx(stream["latency_ms"]["p99"].get<double>() * 1e6));
    CHECK(found["power@ecg"] == stream["power_mw"]["soc"]);
    CHECK(found["misses@ecg"] == stream["decisions"]["deadline_misses"].get<int>() +
                                     stream["decisions"]["given_up"].get<int>() +
                                     stream["frames"]["dropped"].get<int>() +
                                     stream["frames"]["failed"].get<int>());
    CHECK(found["latency@net"] > 0);
    CHECK(found["area"] > 0);
  }
  CHECK(points[0]["objectives"]["p99@ecg"] >
        points[1]["objectives"]["p99@ecg"]);  // 4 MHz against 32
  // From the store; another length of signal is another run.
  CHECK(explore().out == r.out);
  write_text(file, experiment("{stream: ecg_patch, name: ecg, with: [source.seconds=8]}",
                              "p99, misses, power"));
  const auto longer = explore();
  REQUIRE(longer.exit_code == 0);
  CHECK(Json::parse(longer.out)["points"][0]["objectives"]["power"] !=
        points[0]["objectives"]["power@ecg"]);
}

TEST_CASE("what makes no sense of streams is refused before anything runs") {
  TempFolder folder;
  const auto refused = [&](const std::string& text) {
    write_text(folder.file("x.yaml"), text);
    const auto r = run_deputy({"explore", folder.file("x.yaml"), "--db", folder.file("x.db")});
    CHECK(r.exit_code == 4);
    return r.err;
  };
  CHECK_THAT(refused(experiment(kStream, "latency")),
             Contains("'latency' is not measured of 'ecg', a stream"));
  CHECK_THAT(refused(experiment(kStream + ", {network: ecg_tcn}", "misses")),
             Contains("which is no stream"));
  CHECK_THAT(refused(experiment(kStream, "")), Contains("no usual set"));
  CHECK_THAT(refused(experiment("{network: ecg_tcn, with: [source.seconds=6]}", "latency")),
             Contains("only streams"));
  CHECK_THAT(refused(experiment("{stream: ecg_patch, network: ecg_tcn}", "p99")),
             Contains("a stream and a network"));
  CHECK_THAT(refused(experiment("{stream: ecg_patch, with: [nonsense=1]}", "p99")),
             Contains("nonsense"));
  // No second is long enough for a decision: no point has a p99.
  write_text(folder.file("x.yaml"),
             experiment("{stream: ecg_patch, with: [source.seconds=0.5]}", "p99"));
  const auto none = run_deputy({"explore", folder.file("x.yaml"), "--db", folder.file("x.db")});
  CHECK(none.exit_code == 5);
  CHECK_THAT(none.out + none.err, Contains("no decision"));
}
