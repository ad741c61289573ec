#include "tools/frames.h"

#include <fmt/format.h>

#include <algorithm>

#include "host_runtime/runtime/session.h"
#include "soc/platform.h"
#include "tools/simulate.h"
#include "tools/table.h"

namespace deputy::tools {
namespace {

using host_runtime::Device;
using host_runtime::Fence;
using host_runtime::Session;

constexpr std::uint64_t kForever = ~std::uint64_t{0};
constexpr int kColumns = 100;

// Frame n of the program is frame n mod in-flight of the session: free when the result before it has been taken.
class Pipeline {
 public:
  Pipeline(Device& device, Session& session, const std::vector<std::vector<std::uint8_t>>& inputs, std::uint64_t frames)
      : device_(device), session_(session), inputs_(inputs), frames_(frames), fences_(session.frames()) {}

  base::Status go(FrameTimeline& out) {
    out.from_ps = device_.port().now_ps();
    base::Status produced;
    const ThreadId producer = device_.port().start_thread([&] {
      produced = produce();
      over_ = true;
      device_.port().wake_waiters();
    });
    const base::Status consumed = consume(out);
    over_ = true;
    device_.port().wake_waiters();
    device_.port().join(producer);
    out.to_ps = device_.port().now_ps();
    if (!consumed.ok()) return consumed;
    return produced;
  }

 private:
  base::Status produce() {
    for (std::uint64_t n = 0; n < frames_; ++n) {
      DEPUTY_TRY(device_.wait_until([&] { return over_ || n < taken_ + session_.frames(); }, kForever));
      if (over_) return {};
      Session::Frame& frame = session_.frame(n % session_.frames());
      for (std::size_t i = 0; i < session_.executable().inputs.size(); ++i) {
        const std::uint64_t bytes = frame.input(i).bytes();
        device_.port().charge(CpuKernel::kElementwise, bytes, {});
        DEPUTY_TRY(frame.input(i).write(device_.port().functional() ? inputs_[i] : std::vector<std::uint8_t>(bytes)));
      }
      DEPUTY_ASSIGN(fences_[n % fences_.size()], frame.submit({}));
      begun_ = n + 1;
      device_.port().wake_waiters();
    }
    return {};
  }

  base::Status consume(FrameTimeline& out) {
    for (; taken_ < frames_; ++taken_, device_.port().wake_waiters()) {
      const std::uint64_t n = taken_;
      DEPUTY_TRY(device_.wait_until([&] { return begun_ > n || over_; }, kForever));
      if (begun_ <= n) return {};  // the producer says why
      DEPUTY_TRY(device_.wait(fences_[n % fences_.size()], kForever));
      out.outputs.clear();
      for (std::size_t i = 0; i < session_.executable().outputs.size(); ++i) {
        DEPUTY_ASSIGN(auto bytes, session_.frame(n % session_.frames()).output(i).read());
        if (device_.port().functional()) out.outputs.push_back(std::move(bytes));
      }
    }
    return {};
  }

  Device& device_;
  Session& session_;
  const std::vector<std::vector<std::uint8_t>>& inputs_;
  std::uint64_t frames_, begun_ = 0, taken_ = 0;
  bool over_ = false;
  std::vector<Fence> fences_;
};

}  // namespace

base::Result<FrameTimeline> run_frames(const soc::SocConfig& config, const std::vector<std::uint8_t>& file, const std::string& name,
                                       const std::vector<std::vector<std::uint8_t>>& inputs, int frames, bool timing_only) {
  FrameTimeline out;
  out.frames = frames, out.in_flight = std::min(frames, 3);
  soc::Platform platform(config, {.timing_only = timing_only});
  DEPUTY_ASSIGN(auto record, platform.run([&](HwPort& port) -> base::Status {
    Device device(port, {.board = board_times(config, false)});
    DEPUTY_ASSIGN(auto session, Session::load(device, file, name, {.context = nullptr, .frames = out.in_flight}));
    return Pipeline(device, *session, inputs, static_cast<std::uint64_t>(frames)).go(out);
  }));
  if (!record.imbalances.empty())
    return base::Error{base::ErrorKind::kMismatch, name, "the books do not balance: " + record.imbalances[0],
                       "this is a defect of the simulator; please report it"};
  const double span = static_cast<double>(std::max<std::uint64_t>(out.to_ps - out.from_ps, 1));
  for (auto& [engine, intervals] : record.busy) {
    std::erase_if(intervals, [&](const soc::BusyInterval& i) { return i.end_ps <= out.from_ps || i.start_ps >= out.to_ps; });
    if (intervals.empty()) continue;
    out.utilisation[engine] = soc::busy_within(intervals, out.from_ps, out.to_ps) / span;
    out.busy[engine] = std::move(intervals);
  }
  return out;
}

std::string timeline_text(const FrameTimeline& t) {
  const double span = static_cast<double>(t.to_ps - t.from_ps);
  std::string out = fmt::format("\n  {} frames, {} in flight: {}, {:.1f} frames/s; a column is {}\n\n", t.frames, t.in_flight,
                                human_time(span / 1000), t.frames / span * 1e12, human_time(span / 1000 / kColumns));
  for (const auto& [engine, intervals] : t.busy) {
    std::string row;
    for (int c = 0; c < kColumns; ++c) {
      const auto at = [&](int column) { return t.from_ps + static_cast<std::uint64_t>(span * column / kColumns); };
      const double share = soc::busy_within(intervals, at(c), at(c + 1)) / static_cast<double>(std::max<std::uint64_t>(at(c + 1) - at(c), 1));
      row += share > 0.999 ? '#' : share >= 0.5 ? '+' : share > 0 ? '.' : ' ';
    }
    out += fmt::format("  {:<6} |{}| {:5.1f} %\n", engine, row, 100 * t.utilisation.at(engine));
  }
  return out;
}

}  // namespace deputy::tools
