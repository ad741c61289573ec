// A campaign's worker processes. SystemC has one kernel a process, so each worker runs its share one after the other
// and writes a line for each; the order of results does not depend on how many workers there are.
#include <poll.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/check.h"
#include "tools/campaign.h"

namespace deputy::tools {
namespace {

struct Worker {
  pid_t process = -1;
  int pipe = -1;
  std::string text;        ///< received, not yet a whole line
  std::size_t next = 0;    ///< the run it is at
};

std::string line(const InjectionResult& r) {
  std::string text = r.text;
  std::ranges::replace_if(text, [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return fmt::format("{}\t{}\t{}\t{}\t{}\n", static_cast<int>(r.outcome), r.worst_ps, r.bound_ps, r.error_kind, text);
}

InjectionResult parse(const std::string& text) {
  InjectionResult out;
  int outcome = 0, at = 0;
  unsigned long long worst = 0, bound = 0;
  const int found = std::sscanf(text.c_str(), "%d\t%llu\t%llu\t%d\t%n", &outcome, &worst, &bound, &out.error_kind, &at);
  DEPUTY_CHECK(found == 4, "a worker's line is damaged");
  out.outcome = static_cast<CampaignOutcome>(outcome), out.worst_ps = worst, out.bound_ps = bound;
  out.text = text.substr(static_cast<std::size_t>(at));
  return out;
}

std::string death(int status, unsigned most_seconds) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF) return fmt::format("still computing after {} s", most_seconds);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) return fmt::format("not over after {} s", 10 * most_seconds);
  if (WIFSIGNALED(status)) return fmt::format("killed by signal {}", WTERMSIG(status));
  return fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

}  // namespace

std::vector<InjectionResult> Campaign::run_all(int workers) const {
  std::vector<InjectionResult> results(size());
  std::vector<Worker> pool(static_cast<std::size_t>(workers));
  const std::size_t stride = pool.size();
  const auto start = [&](Worker& w) {
    int ends[2];
    std::fflush(nullptr);
    DEPUTY_CHECK(pipe(ends) == 0, "no pipe for a worker");
    w.text.clear();
    w.process = fork();
    DEPUTY_CHECK(w.process >= 0, "no worker process");
    if (w.process == 0) {
      for (const Worker& other : pool)
        if (other.pipe >= 0) close(other.pipe);
      close(ends[0]);
      for (std::size_t i = w.next; i < size(); i += stride) {
        // Of the processor, so that a busy machine does not look like a hung run; and of the clock, for one that sleeps.
        const itimerval limit{{0, 0}, {static_cast<time_t>(most_seconds), 0}};
        setitimer(ITIMER_PROF, &limit, nullptr);
        alarm(10 * most_seconds);
        const std::string text = line(run(i));
        for (std::size_t done = 0; done < text.size();) {
          const ssize_t n = write(ends[1], text.data() + done, text.size() - done);
          if (n < 0) _exit(1);
          done += static_cast<std::size_t>(n);
        }
      }
      _exit(0);
    }
    close(ends[1]);
    w.pipe = ends[0];
  };
  for (std::size_t i = 0; i < pool.size(); ++i) {
    pool[i].next = i;
    if (i < size()) start(pool[i]);
  }
  // Reads what has come; false when the worker is gone.
  const auto receive = [&](Worker& w) {
    char buffer[4096];
    const ssize_t n = read(w.pipe, buffer, sizeof buffer);
    if (n <= 0) return n < 0 && errno == EINTR;
    w.text.append(buffer, static_cast<std::size_t>(n));
    for (std::size_t end; (end = w.text.find('\n')) != std::string::npos; w.text.erase(0, end + 1)) {
      results[w.next] = parse(w.text.substr(0, end));
      w.next += stride;
    }
    return true;
  };
  for (;;) {
    std::vector<pollfd> wait;
    for (const Worker& w : pool)
      if (w.pipe >= 0) wait.push_back({w.pipe, POLLIN, 0});
    if (wait.empty()) return results;
    (void)poll(wait.data(), wait.size(), -1);
    for (Worker& w : pool) {
      const auto ready = std::ranges::find_if(wait, [&](const pollfd& p) { return p.fd == w.pipe && p.revents != 0; });
      if (w.pipe < 0 || ready == wait.end() || receive(w)) continue;
      close(w.pipe);
      w.pipe = -1;
      int status = 0;
      waitpid(w.process, &status, 0);
      if (w.next >= size()) continue;
      results[w.next].outcome = CampaignOutcome::kCrash;
      results[w.next].text = "the process was " + death(status, most_seconds);
      if ((w.next += stride) < size()) start(w);
    }
  }
}

}  // namespace deputy::tools
