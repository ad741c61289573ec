#include "tools/worker_pool.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "base/check.h"

namespace deputy::tools {
namespace {

// A message is its length in eight bytes, then its bytes.
bool write_all(int to, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t n = send(to, data, size, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n, size -= static_cast<std::size_t>(n);
  }
  return true;
}

bool write_message(int to, const std::string& text) {
  const std::uint64_t size = text.size();
  char head[sizeof size];
  std::memcpy(head, &size, sizeof size);
  return write_all(to, head, sizeof head) && write_all(to, text.data(), text.size());
}

bool read_all(int from, char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t n = read(from, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n, size -= static_cast<std::size_t>(n);
  }
  return true;
}

// The first message of what was received, taken out of it.
std::optional<std::string> take_message(std::string& received) {
  std::uint64_t size = 0;
  if (received.size() < sizeof size) return std::nullopt;
  std::memcpy(&size, received.data(), sizeof size);
  if (received.size() - sizeof size < size) return std::nullopt;
  std::string out = received.substr(sizeof size, size);
  received.erase(0, sizeof size + size);
  return out;
}

void limit(unsigned seconds) {
  const itimerval processor{{0, 0}, {static_cast<time_t>(seconds), 0}};
  setitimer(ITIMER_PROF, &processor, nullptr);
  alarm(10 * seconds);
}

}  // namespace

WorkerPool::WorkerPool(int workers, unsigned most_seconds, Work work, bool retry_killed)
    : workers_(static_cast<std::size_t>(workers)),
      most_seconds_(most_seconds),
      work_(std::move(work)),
      retry_killed_(retry_killed) {}

WorkerPool::~WorkerPool() {
  for (Worker& w : workers_) {
    if (w.process < 0) continue;
    if (w.job) kill(w.process, SIGKILL);
    close(w.socket);
    waitpid(w.process, nullptr, 0);
  }
}

void WorkerPool::serve(int socket) const noexcept {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // who is killed takes the workers along
  std::string job;
  for (std::uint64_t size; read_all(socket, reinterpret_cast<char*>(&size), sizeof size);) {
    job.resize(size);
    if (!read_all(socket, job.data(), size)) break;
    limit(most_seconds_);
    const std::string answer = work_(job);
    limit(0);
    if (!write_message(socket, answer)) break;
  }
  _exit(0);
}

void WorkerPool::start(Worker& worker) {
  int ends[2];
  std::fflush(nullptr);  // or the child would write it once more
  DEPUTY_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0,
               "no socket for a worker");
  worker.received.clear();
  const pid_t parent = getpid();
  worker.process = fork();
  DEPUTY_CHECK(worker.process >= 0, "no worker process");
  if (worker.process == 0) {
    for (const Worker& other : workers_)
      if (other.socket >= 0 && &other != &worker) close(other.socket);
    close(ends[0]);
    if (getppid() != parent) _exit(0);
    serve(ends[1]);
  }
  close(ends[1]);
  worker.socket = ends[0];
}

void WorkerPool::submit(std::size_t id, std::string job, const std::string& group) {
  const std::size_t number =
      group.empty() ? next_group_ : groups_.try_emplace(group, next_group_).first->second;
  if (number == next_group_) ++next_group_;
  waiting_[number].push_back({id, std::move(job), number, false});
  ++waiting_jobs_;
}

// The next job of the worker's group; else of the first group that no other worker is at; else of
// the first.
WorkerPool::Job WorkerPool::take(Worker& worker) {
  auto from = waiting_.find(worker.group);
  if (from == waiting_.end()) {
    const auto others = [&](const auto& entry) {
      return std::ranges::any_of(workers_,
                                 [&](const Worker& w) { return w.job && w.group == entry.first; });
    };
    from = std::ranges::find_if_not(waiting_, others);
    if (from == waiting_.end()) from = waiting_.begin();
  }
  Job out = std::move(from->second.front());
  from->second.pop_front();
  if (from->second.empty()) waiting_.erase(from);
  --waiting_jobs_, ++running_;
  worker.group = out.group;
  return out;
}

void WorkerPool::feed() {
  for (Worker& w : workers_) {
    if (w.job || waiting_.empty()) continue;
    if (w.process < 0) start(w);
    w.job = take(w);
    (void)write_message(w.socket, w.job->text);  // a worker that is gone is found by wait()
  }
}

std::optional<WorkerPool::Answer> WorkerPool::receive(Worker& worker) {
  char buffer[65536];
  const ssize_t n = read(worker.socket, buffer, sizeof buffer);
  if (n < 0 && errno == EINTR) return std::nullopt;
  if (n <= 0) return bury(worker);
  worker.received.append(buffer, static_cast<std::size_t>(n));
  auto text = take_message(worker.received);
  if (!text) return std::nullopt;
  Answer out{worker.job->id, Answer::End::kDone, std::move(*text)};
  worker.job.reset();
  --running_;
  return out;
}

std::optional<WorkerPool::Answer> WorkerPool::bury(Worker& worker) {
  close(worker.socket);
  int status = 0;
  waitpid(worker.process, &status, 0);
  Job job = std::move(*worker.job);
  worker = {};
  --running_;
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (signal == SIGKILL && retry_killed_ && !job.again) {
    job.again = true;
    waiting_[job.group].push_front(std::move(job));
    ++waiting_jobs_;
    return std::nullopt;
  }
  Answer out{job.id, Answer::End::kCrashed, ""};
  if (signal == SIGPROF) {
    out.end = Answer::End::kHung,
    out.text = fmt::format("still computing after {} s", most_seconds_);
  } else if (signal == SIGALRM) {
    out.end = Answer::End::kHung, out.text = fmt::format("not over after {} s", 10 * most_seconds_);
  } else if (signal != 0) {
    out.text = fmt::format("killed by signal {}", signal);
  } else {
    out.text = fmt::format("ended with exit code {}", WEXITSTATUS(status));
  }
  return out;
}

std::optional<WorkerPool::Answer> WorkerPool::wait() {
  while (left() > 0) {
    feed();
    std::vector<pollfd> from;
    for (const Worker& w : workers_)
      if (w.job) from.push_back({w.socket, POLLIN, 0});
    (void)poll(from.data(), from.size(), -1);
    for (Worker& w : workers_) {
      const auto ready = [&](const pollfd& p) { return p.fd == w.socket && p.revents != 0; };
      if (!w.job || std::ranges::none_of(from, ready)) continue;
      if (auto answer = receive(w)) {
        feed();  // before the caller thinks about the answer
        return answer;
      }
    }
  }
  return std::nullopt;
}

}  // namespace deputy::tools
