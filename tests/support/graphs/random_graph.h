// Seeded random int8 and uint8 graphs: legal for the importer, awkward for the compiler.
#pragma once

#include <cstdint>
#include <vector>

#include "delegate/ir/graph.h"

namespace deputy::graphs {

/// A valid graph of one to about forty operators with at least one output; the same on every
/// machine. The seed's last digit sets the size: 0 to 5 small, 6 and 7 long, 8 middle-sized maps, 9
/// a single step; (seed / 10) % 4 == 3 makes it uint8.
delegate::Graph random_graph(std::uint64_t seed);

/// Bytes for the graph's inputs.
std::vector<std::vector<std::uint8_t>> random_inputs(const delegate::Graph& graph,
                                                     std::uint64_t seed);

}  // namespace deputy::graphs
