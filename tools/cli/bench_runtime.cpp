// deputy bench runtime: what copies and waiting cost, and where they do not matter.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/cli/common.h"
#include "tools/json_text.h"
#include "tools/runtime_bench.h"
#include "tools/table.h"
#include "workloads/networks.h"

namespace deputy::tools {
namespace {

constexpr Movement kMovements[] = {Movement::kCopy, Movement::kMap, Movement::kZeroCopy};

base::Result<StreamCase> make_case(const std::string& name, const CommonOptions& common,
                                   const RuntimeBenchCommand& command) {
  CommonOptions with = common;
  with.soc = !command.soc.empty() ? command.soc : name == "camera" ? "imaging" : "wearable";
  StreamCase out;
  out.name = name, out.frames = command.frames;
  DEPUTY_ASSIGN(out.options, simulate_options(with));
  if (name == "ecg") {
    DEPUTY_ASSIGN(out.graph, load_model(std::string(DEPUTY_CONFIG_DIR) +
                                        "/../workloads/ecg/ecg_beats.tflite"));
    out.io = delegate::IoPlacement::kSram, out.period_ns = 800'000'000;  // a beat: 75 a minute
  } else if (name == "kws") {
    DEPUTY_ASSIGN(out.graph, workloads::build_network("ds_cnn"));
    out.io = delegate::IoPlacement::kSram,
    out.period_ns = 32'000'000;  // MLPerf Tiny's streaming wakeword
  } else {
    out.graph = workloads::build_camera_network();
    out.io = delegate::IoPlacement::kDram, out.period_ns = 33'333'333;  // 30 frames/s
  }
  return out;
}

struct CaseRows {
  PreparedCase prepared;
  std::vector<StreamRow> rows;  ///< sync, then async, each copy, map, zero-copy
  const StreamRow& row(bool async, Movement movement) const {
    return rows[(async ? 3u : 0u) + static_cast<std::size_t>(movement)];
  }
};

base::Result<CaseRows> measure(const StreamCase& what, Progress& progress) {
  CaseRows out;
  progress.show(what.name + ": compiling");
  DEPUTY_ASSIGN(out.prepared, prepare(what));
  for (const bool async : {false, true})
    for (const Movement movement : kMovements) {
      progress.show(
          fmt::format("{} {} {}", what.name, async ? "async" : "sync", movement_name(movement)));
      DEPUTY_ASSIGN(auto row, run_stream(out.prepared, async, movement));
      if (!out.rows.empty() && row.outputs != out.rows[0].outputs)
        return base::Error{base::ErrorKind::kMismatch, what.name,
                           fmt::format("{} {} computes other outputs than sync copy",
                                       async ? "async" : "sync", movement_name(movement)),
                           "this is a defect; please report it"};
      out.rows.push_back(std::move(row));
    }
  return out;
}

std::vector<std::string> verdicts(const CaseRows& c) {
  const StreamRow &copy = c.row(false, Movement::kCopy), &zero = c.row(false, Movement::kZeroCopy);
  const StreamRow& async_zero = c.row(true, Movement::kZeroCopy);
  const double saved = 1 - zero.p50_us / copy.p50_us,
               gain = async_zero.frames_per_s / zero.frames_per_s;
  const double rate = async_zero.frames_per_s / async_zero.busiest_fps;
  const double energy = 1 - zero.total_uj / copy.total_uj;
  std::vector<std::string> out;
  out.push_back(fmt::format(
      "zero-copy saves {:.1f} % of the latency ({:.1f} us) and {:.1f} % of the energy a frame: {}",
      100 * saved, copy.p50_us - zero.p50_us, 100 * energy,
      saved >= 0.3    ? "it matters"
      : saved >= 0.05 ? "it helps"
                      : "it does not matter"));
  out.push_back(
      fmt::format("async zero-copy gives {:.2f} times the frames of sync zero-copy, {:.1f} % of "
                  "the busiest engine's rate",
                  gain, 100 * rate));
  out.push_back(fmt::format("zero-copy copies {} bytes a frame, copy {}",
                            async_zero.copied_per_frame, copy.copied_per_frame));
  return out;
}

nlohmann::ordered_json to_json(const CaseRows& c) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const StreamRow& r : c.rows)
    rows.push_back({{"mode", r.async ? "async" : "sync"},
                    {"movement", movement_name(r.movement)},
                    {"p50_us", r.p50_us},
                    {"p99_us", r.p99_us},
                    {"dynamic_uj", r.dynamic_uj},
                    {"total_uj", r.total_uj},
                    {"dropped", r.dropped},
                    {"frames_per_s", r.frames_per_s},
                    {"cpu_busy", r.cpu_busy},
                    {"npu_busy", r.npu_busy},
                    {"dma_busy", r.dma_busy},
                    {"of_busiest", r.frames_per_s / r.busiest_fps},
                    {"copied_bytes", r.copied_per_frame}});
  return {{"case", c.prepared.what.name},
          {"soc", c.prepared.what.options.soc.name},
          {"frame_bytes", c.prepared.frame_bytes},
          {"period_ns", c.prepared.what.period_ns},
          {"frames", c.prepared.what.frames},
          {"host_steps", c.prepared.host_steps},
          {"rows", rows},
          {"verdicts", verdicts(c)}};
}

base::Status bench(const CommonOptions& common, const RuntimeBenchCommand& command) {
  std::vector<std::string> names = command.cases;
  if (names.empty()) names = {"ecg", "kws", "camera"};
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  std::string text;
  Progress progress;
  for (const std::string& name : names) {
    DEPUTY_ASSIGN(const StreamCase what, make_case(name, common, command));
    DEPUTY_ASSIGN(const CaseRows c, measure(what, progress));
    Table table({"mode", "frame", ">p50 us", ">p99 us", ">frames/s", ">of busiest", ">CPU", ">NPU",
                 ">DMA", ">copied B", ">dyn. uJ", ">total uJ"});
    for (const StreamRow& r : c.rows)
      table.row(
          {r.async ? "async" : "sync", movement_name(r.movement), fmt::format("{:.1f}", r.p50_us),
           fmt::format("{:.1f}", r.p99_us), fmt::format("{:.1f}", r.frames_per_s),
           fmt::format("{:.1f} %", 100 * r.frames_per_s / r.busiest_fps),
           fmt::format("{:.1f} %", 100 * r.cpu_busy), fmt::format("{:.1f} %", 100 * r.npu_busy),
           fmt::format("{:.1f} %", 100 * r.dma_busy), std::to_string(r.copied_per_frame),
           fmt::format("{:.2f}", r.dynamic_uj), fmt::format("{:.2f}", r.total_uj)});
    text += fmt::format(
        "{} on {}: {} bytes a frame, {:.1f} frames/s for latency and energy, {} host steps\n\n{}\n",
        name, what.options.soc.name, c.prepared.frame_bytes, 1e9 / what.period_ns,
        c.prepared.host_steps, table.text());
    for (const std::string& verdict : verdicts(c)) text += "  " + verdict + "\n";
    text += "\n";
    all.push_back(to_json(c));
  }
  return give_results(command.json, command.report,
                      json_text("deputy-bench-runtime-1", {{"cases", all}}), text);
}

}  // namespace

int runtime_bench_command(const CommonOptions& common, const RuntimeBenchCommand& options) {
  return finish(bench(common, options));
}

}  // namespace deputy::tools
