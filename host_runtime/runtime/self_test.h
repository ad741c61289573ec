// Does an engine that was out of service work again? A job of known result, through the engine's
// own queue.
#pragma once

#include "host_runtime/runtime/device.h"

namespace deputy::host_runtime {

/// The self-test's job.
JobLimits self_test_limits();

/// Copies a pattern with the engine and compares. Blocks, for a bounded time.
base::Status self_test(Device& device, EngineId engine);

}  // namespace deputy::host_runtime
