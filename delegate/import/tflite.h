// TFLite importer. The schema (tflite.fbs) is written from the format's published facts.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "delegate/ir/graph.h"

namespace deputy::delegate {

/// Reads a .tflite file. The flatbuffer is verified before anything is read, and every index, size
/// and enum after that; hostile bytes give an Error (kModel: malformed, kUnsupported: an op, type
/// or feature we do not take, named with its op and tensor), never undefined behaviour. Shapes are
/// static; pads resolved.
base::Result<Graph> import_tflite(std::span<const std::uint8_t> bytes, const std::string& name);

}  // namespace deputy::delegate
