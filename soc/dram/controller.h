// A DRAM controller and the bank state of its devices, plain C++: requests in, command times out.
//
// The next command is always the one of the window that can be issued first; of several at the same
// clock a column command, then the oldest (first ready, first come first served, Rixner et al.,
// ISCA 2000). A row is not closed while a burst of the window wants it. A burst that was overtaken
// `overtakes` times goes next. Commands are decided in the order of their times, each from what has
// arrived by then; no event per clock exists, only a loop over commands.
//
// Constraints and their names are JEDEC's; what the standards count from the edges of differential
// clocks, WCK or DQS is rounded to clocks in the device's rows (spec.h). Not modelled: training,
// temperature, data bus inversion, masked writes.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

#include "soc/dram/address_map.h"
#include "soc/dram/command.h"
#include "soc/dram/spec.h"

namespace deputy::soc::dram {

enum class Power : std::uint8_t {
  kActive,
  kPrecharged,
  kActiveDown,
  kPrechargedDown,
  kSelfRefresh
};
inline constexpr int kPowerStates = 5;

struct Counters {
  std::uint64_t hits = 0, misses = 0,
                conflicts = 0;  ///< bursts: row open, bank closed, another row open
  std::uint64_t activates = 0, reads = 0, writes = 0, refreshes = 0, bank_refreshes = 0;
  std::uint64_t turnarounds = 0, overtaken = 0, power_downs = 0, self_refreshes = 0;
  std::array<Ck, kPowerStates> state{};  ///< clocks in each state, all ranks together
  Ck end = 0;                            ///< up to when states are counted, by close()
};

class Controller {
 public:
  using Ticket = std::uint64_t;
  /// When the first beat of a request was on the data bus, and when its last was over.
  struct Served {
    std::uint64_t first_data_ps = 0, end_ps = 0;
  };

  /// check(spec, config) must hold. `bytes`: of memory.
  Controller(const Spec& spec, const ControllerConfig& config, std::uint64_t bytes);

  /// A request that arrives at `arrival_ps`; arrivals must not decrease, nor lie before
  /// advance()'s.
  Ticket submit(std::uint64_t offset, std::uint32_t bytes, bool write, std::uint64_t arrival_ps);

  /// Decides every command that falls before `now_ps`: nothing that arrives later can change those.
  void advance(std::uint64_t now_ps);

  /// Whether the commands of a request are decided.
  bool decided(Ticket ticket) const { return requests_[ticket - first_ticket_].left == 0; }

  /// Decides until the request's commands are, from what has arrived so far; forgets the request.
  Served finish(Ticket ticket);

  /// When another request finds room in the window; 0: at once. Decides until there is.
  std::uint64_t accepts_at_ps();

  /// The end of the run: counts what happened up to then.
  void close(std::uint64_t end_ps);

  const Counters& counters() const { return counters_; }
  /// Every command from now on is appended there; null: none.
  void record(std::vector<TraceEntry>* trace) { trace_ = trace; }

 private:
  static constexpr Ck kNever = std::numeric_limits<Ck>::max() / 4, kLongAgo = -kNever;

  struct Bank {
    std::int64_t row = -1;  ///< -1: closed
    Ck activate_ready = 0, column_ready = 0, precharge_ready = 0, used = 0;
    std::int32_t wanted = 0;  ///< entries of the queue to the open row
  };
  struct Group {
    Ck read = kLongAgo, write = kLongAgo, activate = kLongAgo;
  };
  struct Rank {
    Power power = Power::kPrecharged;
    Ck since = 0, down = 0;  ///< in that state; of its last power-down or self-refresh
    Ck ready = 0;            ///< out of power-down
    Ck quiet = 0;            ///< data moved and written, refresh over
    Ck idle = 0;             ///< end of the last data
    std::array<Ck, 4> activates{kLongAgo, kLongAgo, kLongAgo, kLongAgo};
    std::uint64_t activated = 0;
    Ck activate = kLongAgo, read = kLongAgo, write = kLongAgo, precharge = kLongAgo;
    Ck due = 0, refresh_ready = 0;  ///< the next refresh: on time; not before
    std::uint64_t refreshed = 0;    ///< banks of this round of per-bank refreshes
    std::int32_t open = 0, queued = 0;
  };
  struct Entry {  ///< bursts of one request to one row
    Ticket ticket;
    Ck arrival;
    std::int64_t row;
    std::int32_t bank, rank, group, bursts,
        overtaken;  ///< bank and group count through the channel
    bool write, opened, conflict;
  };
  struct Request {
    std::int32_t left = 0;
    Ck first = kNever, end = 0;
    bool forgotten = false;
  };
  struct Choice {
    Ck at = kNever;
    Command command = Command::kRead;
    std::int32_t rank = 0, bank = -1, entry = -1;
  };

  bool step(Ck horizon);
  void admit();
  bool room() const { return queued_bursts_ < config_.window; }
  Choice choose() const;
  Ck column_at(const Entry& e, const Bank& b, const Rank& r) const;
  Ck activate_at(std::int32_t rank, std::int32_t group) const;
  void keep_house(std::int32_t rank, Choice& best) const;
  void refresh_all(std::int32_t rank, bool forced, Choice& best) const;
  void refresh_one(std::int32_t rank, Choice& best) const;
  void sleep(std::int32_t rank, Choice& best) const;
  Ck deadline(const Rank& r) const {
    return config_.refresh == "none" ? kNever : r.due + postponed_;
  }
  bool refresh_forced(const Rank& r) const { return now_ >= r.due + postponed_; }

  void issue(const Choice& c);
  void column(const Choice& c);
  void activated(const Choice& c);
  void close_row(std::int32_t bank, Ck at, Ck recovery);
  void enter(Rank& rank, Power power, Ck at);
  void settle(Rank& rank, Ck at) {
    enter(rank, rank.open > 0 ? Power::kActive : Power::kPrecharged, at);
  }

  Spec spec_;
  ControllerConfig config_;
  AddressMap map_;
  enum class Page : std::uint8_t { kOpen, kClosed, kTimeout } page_;
  enum class Refresh : std::uint8_t { kNone, kAll, kBank } refresh_;
  std::int32_t groups_, banks_;  ///< of a rank
  int burst_shift_;
  Ck interval_ = 0, postponed_ = kNever;

  std::vector<Bank> bank_;
  std::vector<Group> group_;
  std::vector<Rank> rank_;
  std::vector<Entry> queue_;      ///< in the window, oldest first
  std::deque<Entry> incoming_;    ///< not arrived yet, or no room
  std::deque<Request> requests_;  ///< from first_ticket_
  Ticket first_ticket_ = 0;
  std::int32_t queued_bursts_ = 0, waiting_bursts_ = 0;  ///< in the queue; there and incoming
  Ck now_ = 0, command_free_ = 0, bus_free_ = 0;
  std::int32_t last_rank_ = 0;
  bool last_write_ = false;
  Counters counters_;
  std::vector<TraceEntry>* trace_ = nullptr;
};

}  // namespace deputy::soc::dram
