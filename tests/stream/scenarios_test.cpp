// The shipped scenarios, signals and labels of the user's own, and how decisions are counted.
#include "tests/stream/scenarios.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "workloads/ecg_signal.h"

namespace deputy::stream_test {
namespace {

// A decision for each frame from the `first` on, in time, and the same with copies.
void check_regular(const char* scenario, const std::vector<std::string>& with, std::size_t frames,
                   std::size_t first) {
  INFO(scenario);
  const auto o = options(with, {}, scenario);
  const StreamRun r = run(o);
  const StreamReport report = report_stream(o, r);
  CHECK(r.offered == frames);
  CHECK(r.decisions.size() == frames - first);
  CHECK(report.deadline_misses == 0);
  CHECK(report.lost_samples == 0);
  CHECK(report.failures.empty());
  CHECK(report.soc_mw > 0);
  auto copies = with;
  copies.push_back("zero_copy=false");
  const auto copied = run(options(copies, {}, scenario));
  CHECK(decisions_text(copied) == decisions_text(r));
  CHECK(copied.record.end_ps != r.record.end_ps);
}

std::vector<std::uint8_t> raw(const std::vector<std::int16_t>& samples) {
  std::vector<std::uint8_t> out(2 * samples.size());
  std::memcpy(out.data(), samples.data(), out.size());
  return out;
}

// A folder of this test's own, gone at its end.
struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / "deputy_stream_test";
  Folder() {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name, std::ios::binary) << text;
  }
};

}  // namespace

TEST_CASE("keywords: cepstra on the DSP, a decision a frame, and silence is not speech") {
  check_regular("keyword", {"source.seconds=2"}, 31, 12);
  const StreamRun r = run(options({"source.seconds=4"}, {}, "keyword"));
  // A voice from 0 to 0.5 s and from 2 to 2.5 s: windows of 0.8 s that see it, and some that do
  // not.
  const auto at = [&](double s) {
    return std::ranges::find_if(
               r.decisions,
               [&](const StreamDecision& d) { return static_cast<double>(d.sample) / 16000 >= s; })
        ->scores;
  };
  CHECK(at(2.4) != at(1.7));
  CHECK(at(1.6) != at(2.6));
}

TEST_CASE("capsule and camera: every image is sampled down and looked at in time") {
  check_regular("capsule", {"source.seconds=1"}, 4, 0);
  check_regular("camera", {"source.seconds=0.2"}, 6, 0);
}

TEST_CASE("a signal and labels from files give what the generator gives") {
  const Folder folder;
  const auto made = workloads::make_ecg({.seed = 1, .seconds = 20});
  const auto bytes = raw(made.samples);
  folder.write("ecg.raw", std::string(bytes.begin(), bytes.end()));
  std::string labels = "# sample class\n";
  for (std::size_t i = 0; i < made.beats.size(); ++i)
    labels += std::to_string(made.beats[i].sample) + " " +
              (i % 2 || made.beats[i].kind != 0 ? std::to_string(made.beats[i].kind) : "normal") +
              "\n";
  folder.write("ecg.txt", labels);
  auto o = options({"source.seconds=20"});
  const StreamRun generated = run(o);
  o.scenario.folder = folder.path.string(), o.scenario.source.file = "ecg.raw",
  o.scenario.source.labels = "ecg.txt";
  o.scenario.model = tests::source_dir() + "/workloads/ecg/ecg_beats.tflite";
  const StreamRun mine = run(o);
  CHECK(decisions_text(mine) == decisions_text(generated));
  const StreamScore a = report_stream(o, generated).score, b = report_stream(o, mine).score;
  CHECK(a.labelled == b.labelled);
  CHECK(a.right == b.right);
  CHECK(a.confusion == b.confusion);
  CHECK(b.labelled > 10);

  // Without labels nothing is said about correctness.
  o.scenario.source.labels.clear();
  const StreamReport unlabelled = report_stream(o, run(o));
  CHECK(!unlabelled.labelled);
  CHECK(stream_json(unlabelled, true).find("correctness") == std::string::npos);

  const auto refused = [&](const std::string& text) {
    folder.write("bad.txt", text);
    o.scenario.source.labels = "bad.txt";
    const auto out = run_stream(o);
    REQUIRE(!out.ok());
    return out.error().text();
  };
  CHECK(refused("1 normal\nx normal\n").find("bad.txt:2") != std::string::npos);
  CHECK(refused("1 flutter\n").find("no class 'flutter'") != std::string::npos);
  CHECK(refused("1 5\n").find("no class '5'") != std::string::npos);
  CHECK(refused("1\n").find("there is no class") != std::string::npos);
  CHECK(refused("9 normal\n8 normal\n").find("order of time") != std::string::npos);
  CHECK(refused("9 normal 3\n").find("too much") != std::string::npos);
  o.scenario.source.labels.clear(), o.scenario.source.file = "nowhere.raw";
  CHECK(!run_stream(o).ok());
}

TEST_CASE("sensitivity and predictivity count what is found, missed, named wrongly and invented") {
  static const ChainInfo chain = {.name = "",
                                  .doc = "",
                                  .shape = {1, 1, 100},
                                  .classes = {"a", "b"},
                                  .kernels = {},
                                  .tolerance_s = 0.05,
                                  .blind_s = 0.1,
                                  .signal = nullptr,
                                  .make = nullptr};
  StreamRun r;
  r.chain = &chain, r.offered = 1000, r.last_ps = 1'000'000'000'000, r.record.end_ps = r.last_ps;
  // One in the blind end; two of a found, one of them as b; one of b missed; one decision without
  // a label.
  r.signal.labels = {{5, 0}, {100, 0}, {200, 0}, {300, 1}, {400, 1}};
  const auto decide = [&](std::int64_t sample, int kind) {
    StreamDecision d;
    d.sample = sample, d.kind = kind;
    r.decisions.push_back(d);
  };
  decide(5, 0), decide(101, 0), decide(198, 1), decide(250, 1), decide(400, 1);
  const StreamScore s = report_stream(options({}), r).score;
  CHECK(s.labelled == 4);
  CHECK(s.found == 3);
  CHECK(s.right == 2);
  CHECK(s.extra == 1);
  CHECK(s.sensitivity() == Approx(3.0 / 4));
  CHECK(s.predictivity() == Approx(3.0 / 4));
  CHECK(s.accuracy() == Approx(2.0 / 3));
  REQUIRE(s.of_class.size() == 2);
  CHECK(s.of_class[0].sensitivity() == Approx(1.0 / 2));
  CHECK(s.of_class[0].predictivity() == Approx(1));
  CHECK(s.of_class[1].sensitivity() == Approx(1.0 / 2));
  CHECK(s.of_class[1].predictivity() == Approx(1.0 / 3));
  CHECK(s.confusion[0][1] == 1);
}

}  // namespace deputy::stream_test
