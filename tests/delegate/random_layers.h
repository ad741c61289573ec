// Seeded single-operator int8 graphs of every kind the NPU takes, in awkward shapes.
#pragma once

#include <random>

#include "delegate/ir/graph.h"

namespace deputy::delegate::testing {

/// A valid graph of one operator; which kind follows from the seed.
Graph random_layer(unsigned seed);

/// Bytes for the graph's inputs.
std::vector<std::vector<std::uint8_t>> random_inputs(const Graph& graph, unsigned seed);

}  // namespace deputy::delegate::testing
