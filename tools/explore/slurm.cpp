#include "tools/explore/slurm.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

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

}  // namespace

base::Result<std::vector<std::string>> run_on_slurm(const ExploreCommand& command, const std::string& db) {
  namespace fs = std::filesystem;
  const int shards = command.shards > 0 ? command.shards : command.jobs;
  const std::string file = fs::absolute(db).string();
  std::string task = fmt::format("#!/bin/sh\n# One shard of an exploration; written by deputy explore --engine slurm.\nexec {} explore {} --db {}.shard-$SLURM_ARRAY_TASK_ID "
                                 "--shard $SLURM_ARRAY_TASK_ID/{} --jobs 1 --top 0",
                                 quoted(fs::read_symlink("/proc/self/exe").string()), quoted(fs::absolute(command.experiment).string()), quoted(file), shards);
  if (!command.method.empty()) task += " --method " + command.method;
  if (command.points > 0) task += fmt::format(" --points {}", command.points);
  if (command.seed >= 0) task += fmt::format(" --seed {}", command.seed);
  if (command.retry) task += " --retry";
  const std::string script = file + ".slurm.sh", log = file + ".slurm.%a.log";
  DEPUTY_TRY(write_text(script, task + "\n"));
  const std::vector<std::string> words = {"sbatch", "--wait", "--quiet", fmt::format("--array=0-{}", shards - 1), "--ntasks=1", "--cpus-per-task=1",
                                          "--job-name=deputy-explore", "--output=" + log, script};
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t process = -1;
  if (posix_spawnp(&process, "sbatch", nullptr, nullptr, argv.data(), environ) != 0)
    return base::Error{base::ErrorKind::kIo, "sbatch", "cannot be started", "is Slurm installed here? Or use --engine local"};
  int status = 0;
  waitpid(process, &status, 0);
  std::vector<std::string> out;
  for (int i = 0; i < shards; ++i) {
    out.push_back(fmt::format("{}.shard-{}", file, i));
    // Points that were refused are no failure, so the files say more than the tasks' exit codes.
    if (!fs::exists(out.back()))
      return base::Error{base::ErrorKind::kIo, out.back(), fmt::format("is missing; sbatch ended with code {}", WIFEXITED(status) ? WEXITSTATUS(status) : -1),
                         "look at " + log};
  }
  return out;
}

}  // namespace deputy::tools
