#include "soc/platform.h"

#include <chrono>
#include <exception>
#include <optional>

#include "sim/process.h"
#include "sim/reset.h"
#include "sim/time.h"
#include "soc/board.h"
#include "soc/books.h"

namespace deputy::soc {

struct Platform::Impl {
  SocConfig config;
  PlatformOptions options;
  std::unique_ptr<Board> board;
  bool ran = false;
};

Platform::Platform(const SocConfig& config, const PlatformOptions& options)
    : impl_(std::make_unique<Impl>(Impl{config, options, nullptr, false})) {
  impl_->board = std::make_unique<Board>("soc", config, options);
}

Platform::~Platform() {
  impl_->board.reset();
  sim::reset_kernel();
}

RunOutcome Platform::run_to_end(const std::function<base::Status(HwPort&)>& program) {
  DEPUTY_CHECK(!impl_->ran, "a platform runs one program");
  impl_->ran = true;
  Board& board = *impl_->board;
  if (board.values_missing)
    return {{},
            base::Error{base::ErrorKind::kConfig, "npu.engine",
                        "rtl computes values, it cannot leave them out",
                        "use npu.engine: tlm, or run without --timing-only"}};
  std::optional<base::Status> status;
  RunRecord record;
  board.program = [&] {
    try {
      status = program(board.port);
    } catch (const std::bad_alloc&) {
      status = base::Error{base::ErrorKind::kHardwareFault, "host program",
                           "out of memory on the simulating machine", ""};
    }
    record.end_ps = sim::to_ps(sc_core::sc_time_stamp());
    if (const std::string left = board.port.threads().unjoined(); !left.empty() && status->ok())
      status = base::Error{base::ErrorKind::kHardwareFault, "host program", left,
                           "join every thread before the program returns"};
    board.port.threads().stop();
    sim::stop_all_threads();
    sc_core::sc_stop();
  };
  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  const auto wall = std::chrono::steady_clock::now();
  try {
    sc_core::sc_start();
  } catch (const sc_core::sc_report& report) {
    return {{},
            base::Error{base::ErrorKind::kHardwareFault, "simulation", report.what(),
                        "this is a defect of the simulator"}};
  }
  record.sim_wall_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - wall).count();
  if (!status) {
    const std::string waits = board.port.threads().waits();
    record.end_ps = sim::to_ps(sc_core::sc_time_stamp());
    status = base::Error{base::ErrorKind::kHardwareFault, "simulation",
                         "nothing is left to happen, but the host program has not returned" +
                             (waits.empty() ? "" : ": " + waits),
                         "a wait without a deadline?"};
  }
  record.kernel_events = sim::kernel_events();
  board.dram.close(record.end_ps);
  collect(board, record);
  account(impl_->config, record, impl_->options.cache_errors);
  return {std::move(record), *std::move(status)};
}

base::Result<RunRecord> Platform::run(const std::function<base::Status(HwPort&)>& program) {
  RunOutcome outcome = run_to_end(program);
  if (!outcome.status.ok()) return outcome.status.error();
  return std::move(outcome.record);
}

}  // namespace deputy::soc
