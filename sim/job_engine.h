// What a queue manager needs of the engine behind it: run one job, abort it, say whether it moves.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace deputy::sim {

struct Job {
  std::uint64_t address = 0;  ///< command stream or first descriptor
  std::uint32_t bytes = 0;    ///< of the command stream
  std::span<const std::uint64_t> region_base;
  std::span<const std::uint32_t> region_bytes;
  std::uint32_t context = 0;  ///< the IOMMU's
  std::uint32_t number = 0;   ///< the driver's, from the ring's entry
};

/// How a job ended. `info` packs 7:0 opcode, 23:8 tag, 31:24 the engine's error cause.
struct JobEnd {
  bool failed = false;
  std::uint32_t info = 0;
  std::uint64_t address = 0;
};

class JobEngine {
 public:
  using Done = std::function<void(const JobEnd&)>;
  virtual ~JobEngine() = default;
  virtual bool busy() const = 0;
  /// Starts a job; the engine must not be busy. `done` is called once, when the last byte the job
  /// wrote is in memory or it has failed, and not at all after abort_job().
  virtual void run_job(const Job& job, Done done) = 0;
  /// Drops the job, if any; the engine is as after a reset.
  virtual void abort_job() = 0;
  /// Changes whenever the job has completed a part of its work.
  virtual std::uint32_t job_progress() const = 0;
};

}  // namespace deputy::sim
