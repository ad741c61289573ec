// The books of a run: what must add up, checked after every run from counts made in different
// places.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sim/energy.h"
#include "soc/run_record.h"
#include "soc/soc_config.h"

namespace deputy::soc {

/// Fills energy_nj from the record's counters and times.
void charge_energy(const SocConfig& config, RunRecord& record);

/// Appends a line to record.imbalances for everything that does not add up: bytes per initiator,
/// interconnect and memory; NPU times and per-operator sums; energy against a sum made another way.
void check_books(const SocConfig& config, RunRecord& record);

/// Appends the mistakes of cache maintenance.
void check_cache(RunRecord& record);

/// Whether a knob only prices what happens: a run with another value of it has the same events and
/// times, and account() makes the one's record the other's.
bool only_prices(const std::string& key);

/// Prices a whole record's events and checks its books, `cache_errors`: mistakes of cache
/// maintenance as well. What was said before, perhaps under other prices, is forgotten.
void account(const SocConfig& config, RunRecord& record, bool cache_errors);

/// What a run's imbalances are to whoever wanted its numbers: a kMismatch at `where` with the first
/// of them.
base::Status balanced(const std::string& where, const std::vector<std::string>& imbalances);

}  // namespace deputy::soc
