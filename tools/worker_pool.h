// Forked worker processes that answer jobs. SystemC has one kernel a process, so whatever runs many
// simulations at once does it this way; a job that crashes or never ends takes its worker along,
// nothing else.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace deputy::tools {

class WorkerPool {
 public:
  /// Runs in a child that was forked when a job was waiting: it sees what the parent had by then,
  /// and its own earlier jobs' leftovers. `job` and the answer may hold any bytes.
  using Work = std::function<std::string(const std::string& job)>;

  struct Answer {
    std::size_t id = 0;
    /// kDone: `text` is what Work returned. The others: how the process ended, in words.
    enum class End { kDone, kCrashed, kHung } end = End::kDone;
    std::string text;
  };

  /// A job may take `most_seconds` of processor time and ten times as many by the clock, so that a
  /// busy machine does not look like a hung job. `retry_killed`: a job whose worker got SIGKILL,
  /// which nobody sends to itself, is tried once more.
  WorkerPool(int workers, unsigned most_seconds, Work work, bool retry_killed = false);
  ~WorkerPool();  ///< ends workers, whatever they are at
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// `group`: jobs of one label gain from being done by one worker, which is given all it can be of
  /// them before others. Labels go in the order of their first jobs; without one a job is a group
  /// of its own. Which worker does what changes no answer.
  void submit(std::size_t id, std::string job, const std::string& group = "");
  /// Blocks until a job is over, whichever is first; nothing when none is left.
  std::optional<Answer> wait();

 private:
  std::size_t left() const { return waiting_jobs_ + running_; }

  struct Job {
    std::size_t id = 0;
    std::string text;
    std::size_t group = 0;
    bool again = false;
  };
  struct Worker {
    pid_t process = -1;
    int socket = -1;
    std::optional<Job> job;
    std::size_t group = SIZE_MAX;  ///< of its last job
    std::string received;
  };
  void start(Worker& worker);
  [[noreturn]] void serve(int socket) const noexcept;
  void feed();
  Job take(Worker& worker);
  std::optional<Answer> receive(Worker& worker);
  std::optional<Answer> bury(Worker& worker);

  std::vector<Worker> workers_;
  unsigned most_seconds_;
  Work work_;
  bool retry_killed_;
  std::map<std::size_t, std::deque<Job>> waiting_;  ///< by group, none empty
  std::map<std::string, std::size_t> groups_;       ///< by label, those that had one
  std::size_t next_group_ = 0, waiting_jobs_ = 0, running_ = 0;
};

}  // namespace deputy::tools
