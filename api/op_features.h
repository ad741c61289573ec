// The numbers of an operator that a quirk can name: the same ones that the constraint table limits.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "delegate/ir/graph.h"

namespace deputy::api {

struct Feature {
  const char* name;
  const char* doc;
  std::int64_t least;  ///< no operator has less
  /// Its values, one for each direction or map; empty where the operator has no such thing.
  std::vector<std::int64_t> (*values)(const delegate::Graph& graph, const delegate::Op& op);
};

std::span<const Feature> op_features();
const Feature* find_feature(std::string_view name);  ///< null when there is none

/// The type of the operator's first result.
DType op_type(const delegate::Graph& graph, const delegate::Op& op);

}  // namespace deputy::api
