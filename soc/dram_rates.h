// What a board's DRAM gives, whichever model it has: for the compiler's estimates and bounds. No
// SystemC in this header.
#pragma once

#include "soc/soc_config.h"

namespace deputy::soc {

/// 10^6 bytes a second at the pins, and of what a mixed stream sustains.
double dram_peak_mb_per_s(const DramConfig& config);
double dram_sustained_mb_per_s(const DramConfig& config);

/// From a request to its first burst when the bank is closed.
double dram_idle_latency_ns(const DramConfig& config);

/// Bytes that are moved at the least, aligned to themselves.
std::int32_t dram_burst_bytes(const DramConfig& config);

}  // namespace deputy::soc
