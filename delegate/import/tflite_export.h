// TFLite exporter: the importer's counterpart, for networks built in code and for tests.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "delegate/ir/graph.h"

namespace deputy::delegate {

/// Writes the graph as a .tflite file; equal graphs give equal bytes. Tensors and operators keep
/// their order, so import_tflite() of the result is the same graph with source indices counted
/// anew. Constants are aligned to 16 bytes. Errors: kModel when the graph breaks its invariants,
/// kUnsupported when the format cannot say it (pads that are neither SAME nor VALID).
base::Result<std::vector<std::uint8_t>> export_tflite(const Graph& graph);

}  // namespace deputy::delegate
