#include "soc/dram/measure.h"

#include <algorithm>
#include <deque>
#include <functional>

#include "soc/dram/controller.h"
#include "soc/dram/energy.h"

namespace deputy::soc::dram {
namespace {

constexpr std::uint64_t kBytes = 64 << 20;

struct Request {
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
  bool write = false;
};

// Runs requests, a window of them in flight: one leaves when there is room in the controller and
// the one `in_flight` places before it has completed. Returns the end of the last data.
std::uint64_t run(Controller& controller, std::uint64_t requests, std::size_t in_flight,
                  const std::function<Request(std::uint64_t)>& next) {
  std::deque<Controller::Ticket> flying;
  std::uint64_t now = 0, end = 0;
  for (std::uint64_t i = 0; i < requests; ++i) {
    if (flying.size() == in_flight) {
      const auto served = controller.finish(flying.front());
      flying.pop_front();
      now = std::max(now, served.end_ps), end = std::max(end, served.end_ps);
    }
    now = std::max(now, controller.accepts_at_ps());
    const Request request = next(i);
    flying.push_back(controller.submit(request.offset, request.bytes, request.write, now));
  }
  for (const auto ticket : flying) end = std::max(end, controller.finish(ticket).end_ps);
  return end;
}

// a[i] = b[i] + c[i]: two reads to a write, in three places of different banks, as buffers of
// different tensors mostly are.
Request triad(const Spec& spec, std::uint64_t i, std::uint32_t bytes, std::uint64_t memory) {
  const std::uint64_t place = i % 3 * (memory / 4 + 2 * static_cast<std::uint64_t>(spec.row_bytes));
  return {(place + i / 3 * bytes) % (memory - bytes), bytes, i % 3 == 2};
}

double share(const Spec& spec, const ControllerConfig& config, std::uint64_t requests,
             std::uint32_t bytes, std::size_t in_flight,
             const std::function<Request(std::uint64_t)>& next) {
  Controller controller(spec, config, kBytes);
  const std::uint64_t end = run(controller, requests, in_flight, next);
  return 100.0 * static_cast<double>(requests * bytes) * 1e6 /
         (static_cast<double>(end) * spec.peak_mb_per_s());
}

double stream(const Spec& spec, const ControllerConfig& config) {
  return share(spec, config, 20000, 512, 16, [](std::uint64_t i) {
    return Request{512 * i % kBytes, 512};
  });
}
double mixed(const Spec& spec, const ControllerConfig& config) {
  return share(spec, config, 24000, 64, 64,
               [&](std::uint64_t i) { return triad(spec, i, 64, kBytes); });
}
double random(const Spec& spec, const ControllerConfig& config) {
  const auto burst = static_cast<std::uint32_t>(spec.burst_bytes());
  std::uint64_t state = 1;
  return share(spec, config, 20000, burst, 64, [&](std::uint64_t) {
    state = state * 6364136223846793005u + 1442695040888963407u;  // Knuth's MMIX
    return Request{(state >> 20) % kBytes / burst * burst, burst};
  });
}

// One read of a burst at a time, long after the one before and before any refresh: closed, a hit, a
// row conflict.
double idle(const Spec& spec, const ControllerConfig& config, int which) {
  constexpr std::uint64_t kPause = 500'000;
  Controller controller(spec, config, kBytes);
  const AddressMap map(spec, config.mapping, kBytes);
  const auto burst = static_cast<std::uint32_t>(spec.burst_bytes());
  std::uint64_t other = 1;
  while (map.place(other).bank != map.place(0).bank || map.place(other).row == map.place(0).row)
    ++other;
  double out = 0;
  for (std::uint64_t i = 0; i <= static_cast<std::uint64_t>(which); ++i) {
    const std::uint64_t at = i * kPause / static_cast<std::uint64_t>(spec.tck_ps) *
                             static_cast<std::uint64_t>(spec.tck_ps);
    out = static_cast<double>(
              controller.finish(controller.submit(i == 2 ? other * burst : 0, burst, false, at))
                  .end_ps -
              at) *
          1e-3;
  }
  return out;
}

double pj_per_bit(const Spec& spec, const ControllerConfig& config, bool write) {
  constexpr std::uint64_t kRequests = 4000, kEach = 512;
  Controller controller(spec, config, kBytes);
  run(controller, kRequests, 8, [&](std::uint64_t) { return Request{0, kEach, write}; });
  return spent(spec, controller.counters()).commands_nj * 1e3 / (kRequests * kEach * 8);
}

double state_mw(const Spec& spec, Power power) {
  return energy_of(spec).state_mw[static_cast<std::size_t>(power)];
}

struct Row {
  const char* quantity;
  double (*measure)(const Spec&, const ControllerConfig&);
};
const Row kRows[] = {
    {"idle_hit_ns", [](const Spec& s, const ControllerConfig& c) { return idle(s, c, 1); }},
    {"idle_closed_ns", [](const Spec& s, const ControllerConfig& c) { return idle(s, c, 0); }},
    {"idle_conflict_ns", [](const Spec& s, const ControllerConfig& c) { return idle(s, c, 2); }},
    {"read_stream", stream},
    {"mixed_stream", mixed},
    {"random_bursts", random},
    {"read_pj_per_bit",
     [](const Spec& s, const ControllerConfig& c) { return pj_per_bit(s, c, false); }},
    {"write_pj_per_bit",
     [](const Spec& s, const ControllerConfig& c) { return pj_per_bit(s, c, true); }},
    {"activate_nj",
     [](const Spec& s, const ControllerConfig&) { return energy_of(s).activate_pj * 1e-3; }},
    {"active_mw",
     [](const Spec& s, const ControllerConfig&) { return state_mw(s, Power::kActive); }},
    {"precharged_mw",
     [](const Spec& s, const ControllerConfig&) { return state_mw(s, Power::kPrecharged); }},
    {"precharged_down_mw",
     [](const Spec& s, const ControllerConfig&) { return state_mw(s, Power::kPrechargedDown); }},
    {"self_refresh_mw",
     [](const Spec& s, const ControllerConfig&) { return state_mw(s, Power::kSelfRefresh); }},
};

}  // namespace

double sustained_mb_per_s(const Spec& spec, const ControllerConfig& config, std::uint64_t bytes) {
  constexpr std::uint64_t kRequests = 384;
  ControllerConfig steady = config;
  steady.postpone = 0;  // so short a run could put most of its refreshes off
  Controller controller(spec, steady, bytes);
  const std::uint64_t end =
      run(controller, kRequests, 8, [&](std::uint64_t i) { return triad(spec, i, 512, bytes); });
  return static_cast<double>(kRequests * 512) * 1e6 / static_cast<double>(end);
}

double idle_latency_ns(const Spec& s) { return (s.trcd + s.rl + s.burst_ck) * s.tck_ps * 1e-3; }

std::uint64_t longest_ps(const Spec& s, const ControllerConfig& c, std::uint64_t bursts) {
  const auto n = [](std::int64_t v) { return static_cast<double>(v); };
  // A burst that closes a row written to, opens its own behind four others and turns the bus
  // around.
  const double each = n(s.tras + s.wl + s.twr + s.trpab + s.trcd + s.tfaw + s.trrd_l) +
                      n(std::max(s.rl, s.wl)) +
                      n(s.burst_ck + s.twtr_l + s.trtw_gap + s.trtrs + s.tccd_l + s.trtp + s.tppd +
                        8 * s.command_ck);
  const double closing = n(s.tras + s.wl + s.burst_ck + s.twr + s.trpab);
  const bool per_bank = c.refresh == "per_bank", none = c.refresh == "none";
  const double refresh = n(per_bank ? s.trfc_pb : s.trfc) + closing;
  const double interval = n(per_bank ? s.trefi_pb : s.trefi);
  const double owed = n(c.postpone) * (per_bank ? n(s.banks) : 1) + 2;
  const double asleep = n(s.txp + s.tcke + s.txsr + s.tsr);
  // While the bursts are served, refreshes come due at their rate, of each rank; each closes rows
  // that have to be opened again.
  const double share = none ? 0 : std::min(0.9, n(s.ranks) * (refresh + n(s.trcd)) / interval);
  const double clocks =
      (static_cast<double>(bursts) * each + (none ? 0 : n(s.ranks) * owed * refresh) + asleep) /
      (1 - share);
  return static_cast<std::uint64_t>(clocks * s.tck_ps) + 1;
}

std::optional<double> measure(const Spec& spec, const ControllerConfig& config,
                              const std::string& quantity) {
  for (const Row& row : kRows)
    if (quantity == row.quantity) return row.measure(spec, config);
  return std::nullopt;
}

}  // namespace deputy::soc::dram
