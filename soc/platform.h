// A SoC built from YAML, and one host program run on it. No SystemC in this header.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "arch/npu_config.h"
#include "base/config.h"
#include "base/result.h"
#include "deputy/hw_port.h"
#include "soc/run_record.h"
#include "soc/soc_config.h"

namespace deputy::soc {

struct PlatformOptions {
  bool timing_only = false;  ///< move no data, compute no values; every cycle and byte still counts
  std::uint64_t seed = 1;
};

/// One platform exists at a time in a process (the SystemC kernel is global); destroying it makes room for
/// the next one. Memory contents live as long as the platform.
class Platform {
 public:
  Platform(const SocConfig& config, const PlatformOptions& options);
  ~Platform();
  Platform(const Platform&) = delete;
  Platform& operator=(const Platform&) = delete;

  /// Runs `program` as the host CPU's thread until it returns, once per platform. The error is the
  /// program's own, or kHardwareFault when the simulation ended without it returning.
  base::Result<RunRecord> run(const std::function<base::Status(HwPort&)>& program);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace deputy::soc
