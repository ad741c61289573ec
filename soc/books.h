// The books of a run: what must add up, checked after every run from counts made in different places.
#pragma once

#include "sim/energy.h"
#include "soc/run_record.h"
#include "soc/soc_config.h"

namespace deputy::soc {

/// Fills energy_nj from the record's counters and times.
void charge_energy(const SocConfig& config, RunRecord& record);

/// Appends a line to record.imbalances for everything that does not add up: bytes per initiator, interconnect
/// and memory; NPU times and per-operator sums; energy against a sum made another way.
void check_books(const SocConfig& config, RunRecord& record);

/// Appends the mistakes of cache maintenance.
void check_cache(RunRecord& record);

}  // namespace deputy::soc
