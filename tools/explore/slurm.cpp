#include "tools/explore/slurm.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>

#include "tools/files.h"

extern char** environ;

namespace deputy::tools {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// How a task ended, by the file that it writes then.
base::Status check_task(const std::string& shard, const std::string& log, int sbatch) {
  const auto bad = [&](std::string what) {
    return base::Error{base::ErrorKind::kIo, shard, std::move(what),
                       "look at " + log + " and at 'sacct'; submitted again, the shards continue"};
  };
  const auto text = read_file(shard + ".exit");
  if (!text.ok())
    return bad(fmt::format("its task did not come to an end; sbatch ended with code {}", sbatch));
  const int code = std::atoi(std::string(text->begin(), text->end()).c_str());
  using base::ErrorKind;  // with the last two every point has its verdict, and the caller says
                          // which
  if (code != 0 && code != static_cast<int>(ErrorKind::kMismatch) &&
      code != static_cast<int>(ErrorKind::kUnsupported))
    return bad(fmt::format("its task ended with exit code {}", code));
  if (!std::filesystem::exists(shard)) return bad("is missing");
  return {};
}

}  // namespace

base::Result<std::vector<std::string>> run_on_slurm(const ExploreCommand& command,
                                                    const std::string& db) {
  namespace fs = std::filesystem;
  const int shards = command.shards > 0 ? command.shards : command.jobs;
  const std::string file = fs::absolute(db).string();
  const std::string shard = fmt::format("{}.shard-", file);
  std::string task = fmt::format(
      "{} explore {} --db {}$SLURM_ARRAY_TASK_ID --shard $SLURM_ARRAY_TASK_ID/{} --jobs 1 --top 0",
      quoted(fs::read_symlink("/proc/self/exe").string()),
      quoted(fs::absolute(command.experiment).string()), quoted(shard), shards);
  if (!command.method.empty()) task += " --method " + command.method;
  if (command.points > 0) task += fmt::format(" --points {}", command.points);
  if (command.seed >= 0) task += fmt::format(" --seed {}", command.seed);
  if (command.retry) task += " --retry";
  const std::string script = file + ".slurm.sh", log = file + ".slurm.%a.log";
  DEPUTY_TRY(write_text(
      script, fmt::format("#!/bin/sh\n# One shard of an exploration; written by deputy explore "
                          "--engine slurm.\n{}\n"
                          "code=$?\necho $code > {}$SLURM_ARRAY_TASK_ID.exit\nexit $code\n",
                          task, quoted(shard))));
  for (int i = 0; i < shards; ++i)
    fs::remove(fmt::format("{}{}.exit", shard, i));  // of an earlier array
  const std::vector<std::string> words = {"sbatch",
                                          "--wait",
                                          "--quiet",
                                          fmt::format("--array=0-{}", shards - 1),
                                          "--ntasks=1",
                                          "--cpus-per-task=1",
                                          "--job-name=deputy-explore",
                                          "--output=" + log,
                                          script};
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t process = -1;
  if (posix_spawnp(&process, "sbatch", nullptr, nullptr, argv.data(), environ) != 0)
    return base::Error{base::ErrorKind::kIo, "sbatch", "cannot be started",
                       "is Slurm installed here? Or use --engine local"};
  int status = 0;
  waitpid(process, &status, 0);
  // sbatch ends with the worst of the tasks' codes, which says neither which nor why.
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  std::vector<std::string> out;
  for (int i = 0; i < shards; ++i) {
    out.push_back(fmt::format("{}{}", shard, i));
    DEPUTY_TRY(check_task(out.back(), fmt::format("{}.slurm.{}.log", file, i), code));
  }
  return out;
}

}  // namespace deputy::tools
