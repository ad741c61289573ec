// The bus's term of arch/progress_bound.h, from a board's configuration. No SystemC in this header.
#pragma once

#include <cstdint>
#include <optional>

#include "soc/soc_config.h"

namespace deputy::soc {

/// Bus masters of the board, and those of them behind the IOMMU: the platform checks that it has so
/// many.
inline constexpr std::uint64_t kBusMasters = 11, kTranslatedMasters = 6;
/// Those that a DSP adds.
inline constexpr std::uint64_t kDspBusMasters = 2, kDspTranslatedMasters = 1;

/// The longest a transaction takes from issue to completion when all bus masters compete for one
/// memory; nullopt where arbitration by priority lets others go first without end.
std::optional<std::uint64_t> longest_chunk_ps(const SocConfig& c);

/// The same for an engine whose accesses are translated: before its own transaction comes the
/// look-up, and a walk of two reads behind one walk for each of the other bus masters. An
/// INVALIDATE makes each walk start again, once: nobody gives back memory that an engine works on.
std::optional<std::uint64_t> longest_translated_ps(const SocConfig& c);

}  // namespace deputy::soc
