// Heart rate and seizures: the signals that the networks were trained on, what the networks say
// about signals that they were not, and how that is counted.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/stream/scenarios.h"
#include "tools/simulate.h"
#include "tools/stream/signal_file.h"
#include "workloads/eeg_signal.h"
#include "workloads/ppg_signal.h"

namespace deputy::stream_test {
namespace {

std::string golden(const std::string& name) {
  std::ifstream in(tests::source_dir() + "/tests/stream/goldens/" + name);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// The lag between 0.35 and 1.4 s at which the green light repeats itself best, as beats a minute.
double repeats(const workloads::PpgSignal& s, std::size_t last) {
  const std::size_t window = 256, first = last + 1 - window;
  double best = -1, lag_of_best = 0;
  for (std::size_t lag = 11; lag <= 45; ++lag) {
    double product = 0, a = 0, b = 0;
    for (std::size_t i = first; i + lag <= last; ++i) {
      const double x = s.samples[4 * i], y = s.samples[4 * (i + lag)];
      product += x * y, a += x * x, b += y * y;
    }
    if (const double r = product / std::sqrt(a * b); r > best)
      best = r, lag_of_best = static_cast<double>(lag);
  }
  return 60 * workloads::kPpgRate / lag_of_best;
}

double rms(const workloads::EegSignal& s, std::int64_t from, std::int64_t to) {
  double sum = 0;
  for (std::int64_t i = from * workloads::kEegChannels; i < to * workloads::kEegChannels; ++i)
    sum += std::pow(s.samples[static_cast<std::size_t>(i)], 2);
  return std::sqrt(sum / static_cast<double>((to - from) * workloads::kEegChannels)) / 64;
}

const ChainInfo& info(Judge judge) {
  static const ChainInfo value = {.name = "",
                                  .doc = "",
                                  .shape = {1, 1, 1},
                                  .classes = {"still", "moving"},
                                  .kernels = {},
                                  .tolerance_s = 0.5,
                                  .signal = nullptr,
                                  .make = nullptr,
                                  .judge = Judge::kValue,
                                  .unit = "bpm"};
  static const ChainInfo episodes = {.name = "",
                                     .doc = "",
                                     .shape = {1, 1, 1},
                                     .classes = {"background", "seizure"},
                                     .kernels = {},
                                     .tolerance_s = 2,
                                     .signal = nullptr,
                                     .make = nullptr,
                                     .judge = Judge::kEpisodes};
  return judge == Judge::kValue ? value : episodes;
}
StreamRun made(Judge judge) {
  StreamRun r;
  r.chain = &info(judge), r.offered = 3600, r.last_ps = r.record.end_ps = 1'000'000'000'000;
  return r;
}
void decide(StreamRun& r, std::int64_t sample, int kind, double value = 0) {
  StreamDecision d;
  d.sample = sample, d.kind = kind, d.value = value;
  r.decisions.push_back(d);
}

}  // namespace

TEST_CASE("light at the wrist beats as its labels say, and motion is where it is said to be") {
  const auto s = workloads::make_ppg(3, 400), again = workloads::make_ppg(3, 400);
  CHECK(s.samples == again.samples);
  CHECK(s.samples != workloads::make_ppg(4, 400).samples);
  REQUIRE(s.samples.size() == 400 * 32 * 4);
  double motion[2] = {}, count[2] = {};
  int windows = 0, near = 0;
  for (std::size_t last = 255; last < s.beats.size(); last += 64) {
    CHECK(s.rate(last, 256) > 40);
    CHECK(s.rate(last, 256) < 195);
    const bool still = std::none_of(s.moving.begin() + static_cast<std::ptrdiff_t>(last) - 320 + 65,
                                    s.moving.begin() + static_cast<std::ptrdiff_t>(last) + 1,
                                    [](bool moves) { return moves; });
    for (std::size_t i = last - 31; i <= last; ++i)
      motion[s.moving[i]] += std::abs(s.samples[4 * i + 2]) / 8192.0, count[s.moving[i]] += 1;
    // Lags are whole samples: a step of 3 at 75 beats a minute.
    if (still) ++windows, near += std::abs(repeats(s, last) - s.rate(last, 256)) < 6;
  }
  REQUIRE(windows > 10);
  CHECK(near * 10 >= windows * 6);  // gestures move the light as well
  CHECK(motion[1] / count[1] > 2 * motion[0] / count[0]);
}

TEST_CASE("seizures in the generated EEG begin low and end high, where the labels say") {
  const auto s = workloads::make_eeg({.seed = 17, .seconds = 60});
  CHECK(s.samples == workloads::make_eeg({.seed = 17, .seconds = 60}).samples);
  CHECK(s.samples != workloads::make_eeg({.seed = 18, .seconds = 60}).samples);
  REQUIRE(s.seizures.size() == 1);
  const auto [begin, end] = s.seizures[0];
  CHECK(end - begin >= 20 * 256);
  CHECK(end - begin <= 50 * 256);
  const double before = rms(s, begin - 10 * 256, begin);
  CHECK(before > 5);  // microvolts
  CHECK(before < 60);
  CHECK(rms(s, begin, begin + 256) < 1.5 * before);
  CHECK(rms(s, end - 8 * 256, end - 2 * 256) > 1.25 * before);
  CHECK(workloads::make_eeg({.seed = 17, .seconds = 60, .seizures_per_hour = 0}).seizures.empty());
}

TEST_CASE("the trained networks take windows as the DSP leaves them, and run on the NPU alone") {
  for (const char* scenario : {"ppg_heart_rate", "eeg_implant"}) {
    INFO(scenario);
    const auto o = options({}, {}, scenario);
    const auto graph = load_model(o.scenario.folder + "/" + o.scenario.model);
    REQUIRE(graph.ok());
    const auto& quant = graph->tensor(graph->inputs[0]).desc.quant;
    REQUIRE(quant.scale.size() == 1);
    CHECK(quant.scale[0] == 1.0f / 32);  // workloads/streams/train.py: UNIT
    CHECK(quant.zero_point[0] == 0);
    SimulateOptions compile;
    compile.soc = o.soc;
    const auto executable = compile_graph(*graph, compile, nullptr, nullptr);
    REQUIRE(executable.ok());
    for (const auto& op : executable->ops) CHECK(op.reason == "");
  }
}

// Remade by `deputy stream SCENARIO --with ... --decisions FILE`.
TEST_CASE("heart rate and seizures are as committed, and near the truth") {
  const auto ppg = options({"source.seconds=90"}, {}, "ppg_heart_rate");
  const StreamRun rates = run(ppg);
  CHECK(decisions_text(rates) == golden("ppg_heart_rate_90s.txt"));
  const StreamReport p = report_stream(ppg, rates);
  CHECK(p.values.all.labelled == 83);
  CHECK(p.values.all.found == 83);
  CHECK(p.values.all.error < 6);
  CHECK(stream_text(p).find("mean absolute error") != std::string::npos);

  const auto eeg = options({"source.seconds=60", "source.seed=17"}, {}, "eeg_implant");
  const StreamRun alarms = run(eeg);
  CHECK(decisions_text(alarms) == golden("eeg_implant_60s.txt"));
  const StreamReport e = report_stream(eeg, alarms);
  CHECK(e.episodes.labelled == 1);
  CHECK(e.episodes.found == 1);
  CHECK(e.episodes.false_alarms == 0);
  CHECK(e.episodes.latency_s < 15);
  CHECK(stream_json(e, true).find("false_per_hour") != std::string::npos);
}

// Remade by scripts/remake_goldens, which cuts and rounds windows by itself, as this test does.
TEST_CASE("the trained networks say what TFLite says, about the windows that the stream sees") {
  struct Stream {
    const char* scenario;
    std::vector<std::string> with;
    std::vector<std::int16_t> samples;  // channel by channel, sample by sample
    std::size_t planes, channels, window;
  };
  const Stream streams[] = {
      {"ppg_heart_rate", {"source.seconds=90"}, workloads::make_ppg(1, 90).samples, 1, 4, 256},
      {"eeg_implant",
       {"source.seconds=60", "source.seed=17"},
       workloads::make_eeg({.seed = 17, .seconds = 60}).samples,
       22,
       1,
       512}};
  for (const Stream& s : streams) {
    INFO(s.scenario);
    const auto o = options(s.with, {}, s.scenario);
    const StreamRun r = run(o);
    const auto graph = load_model(o.scenario.folder + "/" + o.scenario.model);
    REQUIRE(graph.ok());
    std::istringstream lines(golden(std::string(s.scenario) + "_xnnpack.txt"));
    std::size_t cases = 0;
    for (std::string line; std::getline(lines, line); ++cases) {
      std::istringstream words(line);
      std::size_t last = 0;
      words >> last;
      std::vector<std::int8_t> outside;
      for (int v; words >> v;) outside.push_back(static_cast<std::int8_t>(v));
      std::vector<std::uint8_t> window;
      for (std::size_t plane = 0; plane < s.planes; ++plane)
        for (std::size_t i = last + 1 - s.window; i <= last; ++i)
          for (std::size_t c = 0; c < s.channels; ++c) {
            const double v = s.samples[i * s.planes * s.channels + plane * s.channels + c] / 256.0;
            window.push_back(static_cast<std::uint8_t>(
                static_cast<std::int8_t>(std::clamp(std::floor(v + 0.5), -128.0, 127.0))));
          }
      const auto scores = [&](Numerics numerics) {
        SimulateOptions with;
        with.soc = o.soc, with.numerics = numerics;
        const auto out = simulate(*graph, with, {window});
        if (!out.ok()) FAIL(out.error().text());
        const auto& bytes = out->outputs[0];
        return std::vector<std::int8_t>(bytes.begin(), bytes.end());
      };
      CHECK(scores(Numerics::kFp32) == outside);
      const auto decision = std::ranges::find_if(
          r.decisions, [&](const auto& d) { return d.sample == static_cast<std::int64_t>(last); });
      REQUIRE(decision != r.decisions.end());
      CHECK(scores(Numerics::kTflite) == decision->scores);
    }
    CHECK(cases > 10);
  }
}

TEST_CASE("networks that would read the windows as something else are refused") {
  const auto refused = [](const char* scenario, const char* model) {
    const auto out = run_stream(options({"source.seconds=10", model}, {}, scenario));
    return out.ok() ? std::string("taken") : out.error().text();
  };
  CHECK(refused("ppg_heart_rate", "model=builtin:temponet").find("quantised") != std::string::npos);
  CHECK(refused("eeg_implant", "model=builtin:eegnet").find("quantised") != std::string::npos);
  CHECK(refused("eeg_implant", "model=../../workloads/streams/heart_rate.tflite") != "taken");
}

TEST_CASE("after a gap an alarm begins afresh") {
  auto o = options({"source.seconds=60", "source.seed=17"}, {}, "eeg_implant");
  const StreamRun whole = run(o);
  o.scenario.dropouts = {{38, 2}};
  const StreamRun r = run(o);
  CHECK(r.missed == 8);
  CHECK(r.failed == 0);
  std::int64_t first = 0, alarm = 0;
  for (const auto& d : r.decisions) {
    CHECK((d.sample < 38 * 256 || d.sample >= 42 * 256 - 1));  // 2 s of gap, 2 s to fill a window
    if (d.sample < 40 * 256) continue;
    if (first == 0) first = d.sample;
    if (alarm == 0 && d.kind == 1) alarm = d.sample;
  }
  CHECK(first == 42 * 256 - 1);
  CHECK(alarm >= first + 5 * 64);  // six looks
  const auto at = [&](std::int64_t sample) {
    return std::ranges::find(whole.decisions, sample, &StreamDecision::sample)->kind;
  };
  CHECK(at(first) == 1);  // without the gap the alarm is on
  CHECK(alarm > 0);
}

TEST_CASE("a signal that was written down gives the decisions of the generated one") {
  const auto folder = std::filesystem::temp_directory_path() / "deputy_labelled_test";
  std::filesystem::create_directories(folder);
  for (const char* scenario : {"ppg_heart_rate", "eeg_implant"}) {
    INFO(scenario);
    auto o = options({"source.seconds=12"}, {}, scenario);
    const StreamRun generated = run(o);
    const std::string raw = (folder / "x.raw").string(), text = (folder / "x.txt").string();
    REQUIRE(write_signal(o.scenario, raw, text).ok());
    o.scenario.source.file = raw, o.scenario.source.labels = text;
    const StreamRun read = run(o);
    CHECK(decisions_text(read) == decisions_text(generated));
    REQUIRE(read.signal.labels.size() == generated.signal.labels.size());
    for (std::size_t i = 0; i < read.signal.labels.size(); ++i) {
      CHECK(read.signal.labels[i].kind == generated.signal.labels[i].kind);
      CHECK(std::abs(read.signal.labels[i].value - generated.signal.labels[i].value) < 0.006);
    }
  }
  auto o = options({"source.seconds=12"}, {}, "ppg_heart_rate");
  o.scenario.source.file = (folder / "y.raw").string();
  o.scenario.source.labels = (folder / "bad.txt").string();
  REQUIRE(write_signal(o.scenario, o.scenario.source.file, "").ok());
  std::ofstream(folder / "bad.txt") << "255 fast\n";
  const auto bad = run_stream(o);
  REQUIRE(!bad.ok());
  CHECK(bad.error().text().find("'fast' is no number") != std::string::npos);
  std::filesystem::remove_all(folder);
}

TEST_CASE("values are held against the labels' numbers, by the labels' classes") {
  StreamRun r = made(Judge::kValue);
  r.signal.labels = {{10, 0, 60}, {20, 0, 70}, {30, 1, 80}, {40, 1, 90}};
  decide(r, 5, 0, 1), decide(r, 10, 0, 61), decide(r, 20, 0, 67), decide(r, 40, 0, 100);
  const ValueScores s = score_values(r);
  CHECK(s.all.labelled == 4);
  CHECK(s.all.found == 3);
  CHECK(s.all.error == Approx(14.0 / 3));
  CHECK(s.all.bias == Approx(8.0 / 3));
  CHECK(s.all.p90 == 10);
  REQUIRE(s.of_class.size() == 2);
  CHECK(s.of_class[0].error == Approx(2));
  CHECK(s.of_class[1].labelled == 2);
  CHECK(s.of_class[1].found == 1);
  CHECK(s.of_class[1].bias == 10);
}

TEST_CASE("alarms are counted for episodes, with how late they are, or as false") {
  StreamRun r = made(Judge::kEpisodes);
  r.signal.labels = {{100, 1}, {150, 0}, {1000, 1}, {1050, 0}, {2000, 1}, {2050, 0}};
  for (int t = 0; t < 3600; ++t)
    decide(r, t,
           (t >= 110 && t < 155) || (t >= 500 && t < 505) || (t >= 2052 && t < 2055) ||
               (t >= 3000 && t < 3001));
  const EpisodeScore s = score_episodes(r);
  CHECK(s.labelled == 3);
  CHECK(s.found == 2);  // the last one only just: within a window's length of its end
  CHECK(s.false_alarms == 2);
  CHECK(s.hours == Approx(1));
  CHECK(s.false_per_hour() == Approx(2));
  CHECK(s.latency_s == Approx((10 + 52) / 2.0));
  CHECK(s.latency_max_s == Approx(52));
  StreamRun open = made(Judge::kEpisodes);
  open.signal.labels = {{3500, 1}};  // the signal ends in it
  decide(open, 3590, 1);
  CHECK(score_episodes(open).found == 1);
  CHECK(score_episodes(open).false_alarms == 0);
}

}  // namespace deputy::stream_test
