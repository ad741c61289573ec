// arch::OpAttrs, written as an operator's option table.
#pragma once

#include "base/result.h"
#include "delegate/ir/graph.h"
#include "tflite_generated.h"

namespace deputy::delegate {

/// The table's place in `builder`, and its type; NONE and 0 for operators without options.
struct WrittenOptions {
  tflite::BuiltinOptions type = tflite::BuiltinOptions::NONE;
  flatbuffers::Offset<void> table;
};
base::Result<WrittenOptions> write_options(flatbuffers::FlatBufferBuilder& builder,
                                           const Graph& graph, const Op& op);

tflite::TensorType tensor_type(DType type);

}  // namespace deputy::delegate
