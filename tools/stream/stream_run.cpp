#include "tools/stream/stream_run.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <filesystem>

#include "host_runtime/runtime/sensor_ring.h"
#include "soc/books.h"
#include "soc/platform.h"
#include "tools/simulate.h"
#include "tools/simulator/target.h"
#include "tools/stream/signal_file.h"
#include "workloads/networks.h"

namespace deputy::tools {
namespace {

using host_runtime::Device;
using host_runtime::SensorRing;
using host_runtime::Session;

constexpr std::size_t kMostFailures = 20;

// The host's program: frames in order, gaps where they are, failures counted.
class StreamProgram {
 public:
  StreamProgram(const StreamOptions& options, StreamRun& out)
      : o_(options.scenario), soc_(options.soc), out_(out) {}

  base::Status run(HwPort& port, const std::vector<std::uint8_t>& image,
                   const std::vector<std::uint8_t>& file) {
    host_runtime::DeviceOptions with;
    with.dsp = true, with.recovery = host_runtime::RecoveryPolicy::full();
    with.recovery.cpu_fallback = false;
    with.watchdog_ps = static_cast<std::uint64_t>(o_.watchdog_ms * 1e9);
    with.board = board_times(soc_, false);
    Device device(port, with);
    DEPUTY_ASSIGN(auto context, device.default_context());
    DEPUTY_ASSIGN(const auto firmware,
                  host_runtime::DspFirmware::load(device, image, o_.name + "'s DSP image"));
    DEPUTY_ASSIGN(auto session,
                  Session::load(device, file, o_.model, {.context = context, .frames = 1}));
    chain_ = out_.chain->make();
    const base::Status status = stream(device, context, firmware, *session);
    out_.decisions = chain_->decisions(), out_.given_up = chain_->given_up();
    out_.recovery = device.recovery_events();
    chain_.reset();  // its buffers are the device's
    return status;
  }

 private:
  const FrameShape& shape() const { return out_.chain->shape; }
  // A ring that would take more than a quarter of the SRAM is in the DRAM.
  MemoryKind frames_in() const {
    const std::uint64_t ring = static_cast<std::uint64_t>(o_.ring_frames) * shape().frame_bytes;
    return 4 * ring > static_cast<std::uint64_t>(soc_.sram.bytes) ? MemoryKind::kDram
                                                                  : MemoryKind::kSram;
  }

  base::Status stream(Device& device, const std::shared_ptr<host_runtime::Context>& context,
                      const std::shared_ptr<host_runtime::DspFirmware>& firmware,
                      Session& session) {
    DEPUTY_TRY(chain_->prepare(
        {&device, context, firmware, &session, &o_, frames_in(), shape().samples_per_frame}));
    const double period_ns =
        shape().samples_per_frame / shape().samples_per_second / o_.source.speedup * 1e9;
    if (!(period_ns >= 1 && period_ns < 4294967295.0))
      return base::Error{base::ErrorKind::kConfig, "source.speedup",
                         fmt::format("a frame in {} ns", period_ns),
                         "the sensor's period has 32 bits of ns"};
    const double frame_ns = shape().frame_bytes * 1e3 / soc_.sensor.mb_per_s;
    if (frame_ns > period_ns)
      return base::Error{
          base::ErrorKind::kConfig, "source.mb_per_s",
          fmt::format("a frame takes {:.0f} ns to come in, and the next begins after {:.0f} ns",
                      frame_ns, period_ns),
          "raise source.mb_per_s or the SoC's sensor.mb_per_s"};
    period_ps_ = static_cast<std::uint64_t>(std::llround(period_ns)) * 1000;
    DEPUTY_ASSIGN(
        auto ring,
        SensorRing::start(device, {.kind = frames_in(),
                                   .frames = static_cast<std::uint32_t>(o_.ring_frames),
                                   .frame_bytes = shape().frame_bytes,
                                   .period_ns = static_cast<std::uint32_t>(period_ps_ / 1000)}));
    out_.first_ps = device.port().now_ps();
    const base::Status status = frames(device, *ring);
    out_.last_ps = device.port().now_ps();
    return status;
  }

  // The sensor's own clock says when its last frame is over, whatever became of it.
  base::Status frames(Device& device, SensorRing& ring) {
    HwPort& port = device.port();
    const std::uint64_t end = out_.first_ps + (out_.offered + 2) * period_ps_;
    std::uint64_t n = 0;
    while (n + lost_ < out_.offered) {
      const std::uint64_t last = std::min<std::uint64_t>(static_cast<std::uint64_t>(o_.watermark),
                                                         out_.offered - n - lost_);
      const base::Status ready = device.wait(
          ring.ready(n + last - 1), std::min(end, port.now_ps() + (last + 1) * period_ps_));
      if (!ready.ok() && ready.error().kind != base::ErrorKind::kDeadline) return ready;
      look(ring, n);
      if (!ready.ok() && ring.head() == n) {
        if (port.now_ps() >= end) break;
        continue;
      }
      const std::uint64_t there = ready.ok() ? n + last : ring.head();
      for (; n < there; ++n) {
        take(device, ring, n);
        ring.release(n);
        look(ring, n);  // what was dropped until then was dropped behind the full ring of before
      }
    }
    out_.taken = n;
    // The sensor does not know the end of the signal: what it lost behind it is none of the
    // signal's.
    for (std::uint64_t* count : {&out_.missed, &out_.dropped})
      while (n + lost_ > out_.offered && *count > 0) --*count, --lost_;
    if (n + lost_ != out_.offered)
      return base::Error{
          base::ErrorKind::kHardwareFault, "sensor",
          fmt::format("of {} frames {} came and {} are known to be lost", out_.offered, n, lost_),
          "it stopped; see its registers, or the fault plan"};
    return {};
  }

  void take(Device& device, SensorRing& ring, std::uint64_t n) {
    if (!gaps_.empty() && gaps_.front().frame <= n) {
      while (!gaps_.empty() && gaps_.front().frame <= n)
        skipped_ += gaps_.front().lost, gaps_.erase(gaps_.begin());
      note(chain_->gap(sample(n)), n);
    }
    const std::uint64_t ready_ps = device.port().now_ps();
    if (const base::Status done = chain_->frame(ring.buffer(n), sample(n), ready_ps); !done.ok()) {
      ++out_.failed;
      note(done, n);
      note(chain_->gap(sample(n + 1)), n);
    }
  }

  // What the sensor has lost since the last look. It drops when the ring is full: behind the last
  // of its buffers. What the source did not deliver is behind the newest frame.
  void look(SensorRing& ring, std::uint64_t n) {
    const std::uint64_t dropped = ring.dropped(), missed = ring.missed();
    if (dropped != out_.dropped)
      gaps_.push_back({n + static_cast<std::uint64_t>(o_.ring_frames), dropped - out_.dropped});
    if (missed != out_.missed) gaps_.push_back({ring.head(), missed - out_.missed});
    lost_ += dropped - out_.dropped + missed - out_.missed;
    out_.dropped = dropped, out_.missed = missed;
  }

  std::int64_t sample(std::uint64_t n) const {
    return static_cast<std::int64_t>((n + skipped_) * shape().samples_per_frame);
  }
  void note(const base::Status& status, std::uint64_t n) {
    if (!status.ok() && out_.failures.size() < kMostFailures)
      out_.failures.push_back(fmt::format("frame {}: {}", n, status.error().text()));
  }

  struct Gap {
    std::uint64_t frame = 0, lost = 0;  ///< before this frame of the ring
  };
  const StreamScenario& o_;
  const soc::SocConfig& soc_;
  std::unique_ptr<Chain> chain_;
  StreamRun& out_;
  std::uint64_t period_ps_ = 0, lost_ = 0, skipped_ = 0;
  std::vector<Gap> gaps_;
};

// Frames that a dropout covers are empty: the sensor delivers nothing.
void drop_out(const StreamScenario& scenario, const FrameShape& shape, StreamSignal& signal) {
  const double frame_s = shape.samples_per_frame / shape.samples_per_second;
  for (const Dropout& d : scenario.dropouts)
    for (std::size_t i = 0; i < signal.frames.size(); ++i)
      if (const double t = static_cast<double>(i) * frame_s; t >= d.at_s && t < d.at_s + d.for_s)
        signal.frames[i].clear();
}

}  // namespace

base::Result<StreamOptions> stream_options(StreamScenario scenario,
                                           const std::vector<std::string>& sets) {
  DEPUTY_ASSIGN(const std::string path, find_soc(scenario.soc));
  DEPUTY_ASSIGN(const auto soc, soc::load_soc_config(path, sets));
  return stream_on(std::move(scenario), soc);
}

base::Result<StreamOptions> stream_on(StreamScenario scenario, const soc::SocConfig& soc) {
  StreamOptions out;
  out.soc = soc;
  if (!soc.dsp.present)
    return base::Error{base::ErrorKind::kConfig, soc.name, "has no DSP, which streams need",
                       "set dsp.present, or choose another SoC"};
  out.soc.sensor.mb_per_s = scenario.source.mb_per_s > 0
                                ? scenario.source.mb_per_s
                                : out.soc.sensor.mb_per_s * scenario.source.speedup;
  out.scenario = std::move(scenario);
  return out;
}

base::Result<StreamRun> run_stream(const StreamOptions& options) {
  StreamRun out;
  const StreamScenario& scenario = options.scenario;
  DEPUTY_ASSIGN(out.chain, find_chain(scenario.chain));
  if (scenario.source.file.empty()) {
    DEPUTY_ASSIGN(out.signal, out.chain->signal(scenario));
  } else {
    DEPUTY_ASSIGN(out.signal, read_signal(scenario, *out.chain));
  }
  drop_out(scenario, out.chain->shape, out.signal);
  out.offered = out.signal.frames.size();
  if (out.offered == 0)
    return base::Error{base::ErrorKind::kConfig, scenario.name, "there is no whole frame of signal",
                       "use more seconds"};
  DEPUTY_ASSIGN(const auto image, dsp_kernels::build_image(out.chain->kernels, options.soc.dsp));
  SimulateOptions compile;
  compile.soc = options.soc, compile.io = delegate::IoPlacement::kSram;
  compile.sram_limit =
      static_cast<std::uint64_t>(options.soc.sram.bytes) / 2;  // the other half is the stream's own
  constexpr std::string_view kBuiltin = "builtin:";
  const bool builtin = scenario.model.starts_with(kBuiltin);
  DEPUTY_ASSIGN(
      const auto graph,
      builtin ? workloads::build_network(scenario.model.substr(kBuiltin.size()))
              : load_model((std::filesystem::path(scenario.folder) / scenario.model).string()));
  DEPUTY_ASSIGN(const auto executable, compile_graph(graph, compile, nullptr, nullptr));
  StreamProgram program(options, out);
  const auto wall = std::chrono::steady_clock::now();
  soc::Platform platform(options.soc,
                         {.sensor_frames = std::move(out.signal.frames), .faults = options.faults});
  auto outcome = platform.run_to_end([&](HwPort& port) {
    return program.run(port, arch::write_dsp_image(image), arch::write_executable(executable));
  });
  out.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count();
  DEPUTY_TRY(outcome.status);
  out.record = std::move(outcome.record);
  DEPUTY_TRY(soc::balanced(scenario.name, out.record.imbalances));
  return out;
}

}  // namespace deputy::tools
