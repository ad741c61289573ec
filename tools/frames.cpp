#include "tools/frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "host_runtime/runtime/session.h"
#include "soc/books.h"
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

// Frame n of the program is frame n mod in-flight of the session: free when the result before it
// has been taken.
class Pipeline {
 public:
  Pipeline(Device& device, Session& session, const std::vector<std::vector<std::uint8_t>>& inputs,
           std::uint64_t frames, const std::vector<std::uint64_t>& arrivals)
      : device_(device),
        session_(session),
        inputs_(inputs),
        arrivals_(arrivals),
        frames_(frames),
        fences_(session.frames()) {}

  base::Status go(FrameTimeline& out) {
    from_ps_ = out.from_ps = device_.port().now_ps();
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
      if (!arrivals_.empty()) device_.port().sleep_until(from_ps_ + arrivals_[n]);
      DEPUTY_TRY(
          device_.wait_until([&] { return over_ || n < taken_ + session_.frames(); }, kForever));
      if (over_) return {};
      Session::Frame& frame = session_.frame(n % session_.frames());
      for (std::size_t i = 0; i < session_.executable().inputs.size(); ++i) {
        const std::uint64_t bytes = frame.input(i).bytes();
        device_.port().charge(CpuKernel::kElementwise, bytes, {});
        DEPUTY_TRY(frame.input(i).write(
            device_.port().functional() ? inputs_[i] : std::vector<std::uint8_t>(bytes)));
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
      if (!arrivals_.empty())
        out.response_ps.push_back(device_.port().now_ps() - (from_ps_ + arrivals_[n]));
    }
    return {};
  }

  Device& device_;
  Session& session_;
  const std::vector<std::vector<std::uint8_t>>& inputs_;
  const std::vector<std::uint64_t>& arrivals_;  ///< from from_ps_; empty: no plan
  std::uint64_t frames_, begun_ = 0, taken_ = 0, from_ps_ = 0;
  bool over_ = false;
  std::vector<Fence> fences_;
};

}  // namespace

base::Result<std::vector<std::uint64_t>> arrivals(const ArrivalPlan& plan, int frames) {
  std::vector<std::uint64_t> out;
  if (plan.jitter_ps > plan.period_ps)
    return base::Error{base::ErrorKind::kUsage, "arrivals",
                       "a frame may be later than the next one",
                       "let the jitter be at most the period"};
  if (plan.period_ps == 0) return out;
  std::mt19937_64 bits(
      plan.seed);  // the same draws on every machine, which distributions do not promise
  for (int n = 0; n < frames; ++n)
    out.push_back(static_cast<std::uint64_t>(n) * plan.period_ps +
                  (plan.jitter_ps > 0 ? bits() % (plan.jitter_ps + 1) : 0));
  return out;
}

std::uint64_t FrameTimeline::response_at(double share) const {
  if (response_ps.empty()) return 0;
  std::vector<std::uint64_t> sorted = response_ps;
  std::ranges::sort(sorted);
  // A little less than the product, which floating point may have put above a whole number.
  const auto rank =
      static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size()) - 1e-9));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

base::Result<FrameTimeline> run_frames(const soc::SocConfig& config,
                                       const std::vector<std::uint8_t>& file,
                                       const std::string& name,
                                       const std::vector<std::vector<std::uint8_t>>& inputs,
                                       int frames, bool timing_only, const ArrivalPlan& plan) {
  FrameTimeline out;
  DEPUTY_ASSIGN(const auto planned, arrivals(plan, frames));
  out.frames = frames, out.in_flight = std::min(frames, 3);
  soc::Platform platform(config, {.timing_only = timing_only});
  DEPUTY_ASSIGN(auto record, platform.run([&](HwPort& port) -> base::Status {
    Device device(port, {.board = board_times(config, false)});
    DEPUTY_ASSIGN(auto session,
                  Session::load(device, file, name, {.context = nullptr, .frames = out.in_flight}));
    return Pipeline(device, *session, inputs, static_cast<std::uint64_t>(frames), planned).go(out);
  }));
  DEPUTY_TRY(soc::balanced(name, record.imbalances));
  const double span = static_cast<double>(std::max<std::uint64_t>(out.to_ps - out.from_ps, 1));
  for (auto& [engine, intervals] : record.busy) {
    std::erase_if(intervals, [&](const soc::BusyInterval& i) {
      return i.end_ps <= out.from_ps || i.start_ps >= out.to_ps;
    });
    if (intervals.empty()) continue;
    out.utilisation[engine] = soc::busy_within(intervals, out.from_ps, out.to_ps) / span;
    out.busy[engine] = std::move(intervals);
  }
  return out;
}

std::string timeline_text(const FrameTimeline& t) {
  const double span = static_cast<double>(t.to_ps - t.from_ps);
  std::string out = fmt::format(
      "\n  {} frames, {} in flight: {}, {:.1f} frames/s; a column is {}\n\n", t.frames, t.in_flight,
      human_time(span / 1000), t.frames / span * 1e12, human_time(span / 1000 / kColumns));
  if (!t.response_ps.empty())
    out += fmt::format(
        "  from coming to result: half of the frames within {}, 99 % within {}, all within {}\n\n",
        human_time(static_cast<double>(t.response_at(0.5)) / 1000),
        human_time(static_cast<double>(t.response_at(0.99)) / 1000),
        human_time(static_cast<double>(t.response_at(1)) / 1000));
  for (const auto& [engine, intervals] : t.busy) {
    std::string row;
    for (int c = 0; c < kColumns; ++c) {
      const auto at = [&](int column) {
        return t.from_ps + static_cast<std::uint64_t>(span * column / kColumns);
      };
      const double share = soc::busy_within(intervals, at(c), at(c + 1)) /
                           static_cast<double>(std::max<std::uint64_t>(at(c + 1) - at(c), 1));
      row += share > 0.999 ? '#' : share >= 0.5 ? '+' : share > 0 ? '.' : ' ';
    }
    out += fmt::format("  {:<6} |{}| {:5.1f} %\n", engine, row, 100 * t.utilisation.at(engine));
  }
  return out;
}

}  // namespace deputy::tools
