// ONNX exporter: the importer's counterpart, in QDQ form for integer tensors.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "delegate/ir/graph.h"

namespace deputy::delegate {

/// Writes the graph as an ONNX file of operator set 17, IR version 8; equal graphs give equal
/// bytes. Images are NCHW inside, with transposes only where a graph input or output, or an
/// operator on rows, needs NHWC. An integer tensor is a float one between QuantizeLinear and
/// DequantizeLinear (com.microsoft's for int16, which ONNX's own do not know before operator set
/// 21); weights and biases are integer initialisers before DequantizeLinear. Errors:
/// kModel when the graph breaks its invariants, kUnsupported when ONNX has no words for an operator
/// (named), or its own operators mean something else in operator set 17.
base::Result<std::vector<std::uint8_t>> export_onnx(const Graph& graph);

}  // namespace deputy::delegate
