// What has been found out, on disk: one row a run, written as soon as the run is over. A process
// that is killed at any moment loses only what was not over.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"

namespace deputy::explore {

/// How one workload ran at one point.
struct StoredRun {
  std::string key;         ///< digest of everything that it follows from
  std::string parameters;  ///< Point::id()
  std::string workload;
  std::string status;  ///< ok, refused, failed, crashed, hung
  std::string reason;  ///< empty when ok
  std::map<std::string, double> values;
};

/// A SQLite file with the tables run(key, parameters, workload, status, reason) and value(key,
/// name, value). One process at a time: another one is refused. Not to be used in a forked child.
class Store {
 public:
  /// Creates the file and its folder when they are not there. kIo when it is no such file or in
  /// use.
  static base::Result<Store> open(const std::string& path);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  base::Result<std::optional<StoredRun>> find(const std::string& key);
  /// What is there under the key stays. Returns after the row would survive the process's death
  /// (not the machine's).
  base::Status add(const StoredRun& run);
  /// Takes over what another store's file has and this one lacks. Equal keys are equal runs: a run
  /// that crashed or hung here gives way to one that came to an end there, and one that came to
  /// another end is a kMismatch. Takes over all or nothing.
  base::Status merge(const std::string& path);
  /// Forgets the runs that crashed or hung.
  base::Status forget_dead();
  base::Result<std::size_t> size();

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace deputy::explore
