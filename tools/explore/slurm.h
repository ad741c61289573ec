// An exploration as a job array of Slurm: each task runs one shard of the points into a result file
// of its own.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "tools/cli/commands.h"

namespace deputy::tools {

/// Submits the array, waits until it is over, and returns the shards' result files, which lie
/// beside `db` on a file system that the nodes share. A shard that was there before continues. kIo
/// when Slurm cannot be called, when a task did not come to its end (it was killed, or ran out of
/// its time), or when it ended with an error; points that were refused, crashed or hung are none.
base::Result<std::vector<std::string>> run_on_slurm(const ExploreCommand& command,
                                                    const std::string& db);

}  // namespace deputy::tools
