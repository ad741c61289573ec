// What a device with its controller gives, measured by running the controller: for those who plan
// with it, and to hold it against figures from outside.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "soc/dram/spec.h"

namespace deputy::soc::dram {

/// 10^6 bytes a second of a stream of 512-byte requests, two reads to a write in three places,
/// eight in flight.
double sustained_mb_per_s(const Spec& spec, const ControllerConfig& config, std::uint64_t bytes);

/// Latency of a read of one burst to a bank that is closed, awake and long idle.
double idle_latency_ns(const Spec& spec);

/// The longest that a controller with work takes for so many bursts: each in the worst state of its
/// bank, refreshes as late as they may be, out of sleep.
std::uint64_t longest_ps(const Spec& spec, const ControllerConfig& config, std::uint64_t bursts);

/// A measurement by name; docs/dram.md describes them. Nullopt for a name that is none.
std::optional<double> measure(const Spec& spec, const ControllerConfig& config,
                              const std::string& quantity);

}  // namespace deputy::soc::dram
