// Field-by-field comparison of two graphs, for tests that expect them equal.
#pragma once

#include <string>

#include "delegate/ir/graph.h"

namespace deputy::delegate::testing {

/// The first difference, in words; empty when the graphs are equal. Names of the graphs themselves
/// are not compared (an importer names them after the file).
std::string difference(const Graph& a, const Graph& b);

}  // namespace deputy::delegate::testing
