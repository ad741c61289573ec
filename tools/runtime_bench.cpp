#include "tools/runtime_bench.h"

#include <algorithm>
#include <cmath>

#include "host_runtime/runtime/sensor_ring.h"
#include "soc/books.h"
#include "workloads/random.h"

namespace deputy::tools {
namespace {

using host_runtime::Buffer;
using host_runtime::Device;
using host_runtime::Fence;
using host_runtime::SensorRing;
using host_runtime::Session;

constexpr std::uint64_t kForever = ~std::uint64_t{0};
constexpr std::uint32_t kRing = 4;
constexpr int kInFlight = 3;
constexpr std::uint8_t kOffsetBinary = 0x80;

struct Run {
  soc::RunRecord record;
  std::vector<std::uint64_t> done_ps;  ///< by frame
  std::uint64_t copied = 0;
  std::uint32_t dropped = 0;
  std::vector<std::vector<std::uint8_t>> outputs;
};

/// The program: frames from the sensor through the network until `frames` are done.
class Stream {
 public:
  Stream(Device& device, Session& session, SensorRing& ring, Movement movement, Run& run)
      : device_(device),
        session_(session),
        ring_(ring),
        movement_(movement),
        run_(run),
        fences_(session.frames()) {}

  base::Status go(std::uint64_t frames) {
    std::uint64_t begun = 0, done = 0;
    while (done < frames) {
      while (begun < frames && begun - done < session_.frames() && can_begin(begun))
        DEPUTY_TRY(begin(begun++));
      if (begun == done) {
        DEPUTY_TRY(device_.wait(ring_.ready(begun), kForever));
        continue;
      }
      // Whichever comes first: the oldest result, or a frame for a place that is free.
      const bool free = begun < frames && begun - done < session_.frames();
      DEPUTY_TRY(device_.wait_until(
          [&] { return !fence(done).pending() || (free && can_begin(begun)); }, kForever));
      if (!fence(done).pending()) DEPUTY_TRY(end(done++));
    }
    return {};
  }

 private:
  Fence& fence(std::uint64_t n) { return fences_[n % fences_.size()]; }
  Session::Frame& frame(std::uint64_t n) { return session_.frame(n % session_.frames()); }

  // Without CPU work on the frame, the NPU itself waits for it.
  bool can_begin(std::uint64_t n) {
    if (movement_ == Movement::kZeroCopy) return true;
    Fence ready = ring_.ready(n);
    return device_.over(ready);
  }

  base::Status begin(std::uint64_t n) {
    host_runtime::SubmitOptions submit;
    switch (movement_) {
      case Movement::kCopy:
        DEPUTY_TRY(frame(n).input(0).copy_from(ring_.buffer(n), kOffsetBinary));
        ring_.release(n);
        break;
      case Movement::kMap:
        DEPUTY_TRY(convert_in_place(ring_.buffer(n)));
        DEPUTY_TRY(frame(n).bind_input(0, ring_.buffer(n)));
        break;
      case Movement::kZeroCopy:
        DEPUTY_TRY(frame(n).bind_input(0, ring_.buffer(n)));
        submit.waits = {ring_.ready(n)};
        break;
    }
    DEPUTY_ASSIGN(fence(n), frame(n).submit(submit));
    return {};
  }

  base::Status convert_in_place(Buffer& buffer) {
    DEPUTY_ASSIGN(const auto bytes, buffer.map(host_runtime::Access::kReadWrite));
    if (device_.port().functional())
      for (std::uint8_t& b : bytes) b ^= kOffsetBinary;
    const MemoryTouch touches[] = {{buffer.address(), bytes.size(), false},
                                   {buffer.address(), bytes.size(), true}};
    device_.port().charge(CpuKernel::kCopy, bytes.size(), touches);
    buffer.unmap();
    return {};
  }

  base::Status end(std::uint64_t n) {
    if (fence(n).state() == host_runtime::FenceState::kFailed) return fence(n).error();
    std::vector<std::uint8_t> output;
    if (movement_ == Movement::kCopy) {
      DEPUTY_ASSIGN(output, frame(n).output(0).read());
    } else {
      DEPUTY_ASSIGN(const auto bytes, frame(n).output(0).map(host_runtime::Access::kRead));
      output.assign(bytes.begin(),
                    bytes.end());  // for comparison; the program reads it where it is
      ring_.release(n);
    }
    run_.done_ps.push_back(device_.port().now_ps());
    if (device_.port().functional()) run_.outputs.push_back(std::move(output));
    return {};
  }

  Device& device_;
  Session& session_;
  SensorRing& ring_;
  Movement movement_;
  Run& run_;
  std::vector<Fence> fences_;
};

base::Result<Run> run(const PreparedCase& prepared, bool async, Movement movement,
                      std::uint32_t period_ns, bool timing_only, int frames) {
  Run out;
  soc::Platform platform(prepared.what.options.soc,
                         {.timing_only = timing_only, .sensor_frames = prepared.scene});
  DEPUTY_ASSIGN(out.record, platform.run([&](HwPort& port) -> base::Status {
    // A network that waits for a frame is no hung engine: look less often than frames come.
    Device device(port, {.watchdog_ps = 10'000'000'000 + 2000 * std::uint64_t{period_ns},
                         .board = board_times(prepared.what.options.soc, false)});
    DEPUTY_ASSIGN(auto session,
                  Session::load(device, prepared.file, prepared.what.name,
                                {.context = nullptr, .frames = async ? kInFlight : 1}));
    if (frames == 0) return {};
    DEPUTY_ASSIGN(auto ring,
                  SensorRing::start(device, {.kind = session->input_requirements(0).kind,
                                             .frames = kRing,
                                             .frame_bytes = prepared.frame_bytes,
                                             .period_ns = period_ns,
                                             .twos_complement = movement == Movement::kZeroCopy}));
    DEPUTY_TRY(
        Stream(device, *session, *ring, movement, out).go(static_cast<std::uint64_t>(frames)));
    out.copied = device.space().copied_bytes;
    out.dropped = ring->dropped();
    return {};
  }));
  DEPUTY_TRY(soc::balanced(prepared.what.name, out.record.imbalances));
  return out;
}

double dynamic_uj(const soc::RunRecord& record) {
  double nj = 0;
  for (const auto& [component, each] : record.energy_nj)
    if (!component.ends_with(".static")) nj += each;
  return nj / 1000;
}

double static_uj(const soc::RunRecord& record) {
  double nj = 0;
  for (const auto& [component, each] : record.energy_nj)
    if (component.ends_with(".static")) nj += each;
  return nj / 1000;
}

// The smallest value that at least this share of all does not exceed.
double percentile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  return values[std::max<std::size_t>(rank, 1) - 1];
}

}  // namespace

const char* movement_name(Movement movement) {
  constexpr const char* kNames[] = {"copy", "map", "zero-copy"};
  return kNames[static_cast<int>(movement)];
}

base::Result<PreparedCase> prepare(const StreamCase& what) {
  PreparedCase out;
  out.what = what;
  out.what.options.io = what.io;
  out.what.options.engine = delegate::EnginePolicy::kNpu;
  DEPUTY_ASSIGN(const auto executable,
                compile_graph(what.graph, out.what.options, nullptr, nullptr));
  out.file = arch::write_executable(executable);
  if (executable.inputs.size() != 1 || executable.outputs.size() != 1)
    return base::Error{base::ErrorKind::kUnsupported, what.name,
                       "the bench streams networks of one input and one output", ""};
  for (const auto& step : executable.steps) out.host_steps += step.kind == arch::StepKind::kHost;
  const arch::TensorDesc& input = executable.tensors[executable.inputs[0]].desc;
  out.frame_bytes = static_cast<std::uint32_t>(input.bytes());
  for (std::uint64_t i = 0; i < 3; ++i) out.scene.push_back(workloads::seeded_input(input, i + 1));
  DEPUTY_ASSIGN(const Run idle, run(out, false, Movement::kCopy, 0, true, 0));
  out.idle_dynamic_uj = dynamic_uj(idle.record);
  out.idle_end_us = static_cast<double>(idle.record.end_ps) / 1e6;
  return out;
}

base::Result<StreamRow> run_stream(const PreparedCase& prepared, bool async, Movement movement) {
  StreamRow row;
  row.name = prepared.what.name, row.async = async, row.movement = movement;
  const int frames = prepared.what.frames;

  DEPUTY_ASSIGN(const Run paced,
                run(prepared, async, movement, prepared.what.period_ns, true, frames));
  std::vector<double> latencies;
  for (std::size_t i = 0; i < paced.done_ps.size(); ++i)
    latencies.push_back(static_cast<double>(paced.done_ps[i] - paced.record.sensor_ready_ps[i]) /
                        1e6);
  row.p50_us = percentile(latencies, 0.5), row.p99_us = percentile(latencies, 0.99);
  row.dropped = paced.dropped;
  row.dynamic_uj = (dynamic_uj(paced.record) - prepared.idle_dynamic_uj) / frames;
  const double static_uw =
      static_uj(paced.record) / static_cast<double>(paced.record.end_ps) * 1e12;  // uJ/s
  row.total_uj = row.dynamic_uj + static_uw * prepared.what.period_ns * 1e-9;

  DEPUTY_ASSIGN(Run fast,
                run(prepared, async, movement, 0, prepared.what.options.timing_only, frames));
  row.copied_per_frame = fast.copied / static_cast<std::uint64_t>(frames);
  row.outputs = std::move(fast.outputs);
  // The pipeline is full from here on.
  const std::size_t warm = std::min<std::size_t>(kInFlight, fast.done_ps.size() / 2) - 1;
  const std::uint64_t from = fast.done_ps[warm], to = fast.done_ps.back();
  const double span = static_cast<double>(to - from),
               counted = static_cast<double>(fast.done_ps.size() - 1 - warm);
  row.frames_per_s = counted / span * 1e12;
  row.cpu_busy = soc::busy_within(fast.record.busy.at("host"), from, to) / span;
  row.npu_busy = soc::busy_within(fast.record.busy.at("npu"), from, to) / span;
  row.dma_busy = soc::busy_within(fast.record.busy.at("dma"), from, to) / span;
  row.busiest_fps = row.frames_per_s / std::max({row.cpu_busy, row.npu_busy, row.dma_busy});
  return row;
}

}  // namespace deputy::tools
