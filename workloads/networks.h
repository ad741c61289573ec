// The project's own networks: published topologies with seeded weights, so that any machine can
// rebuild them byte for byte. Trained networks are elsewhere; these are for timing, coverage and
// bit-exactness.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "delegate/ir/graph.h"

namespace deputy::workloads {

struct NetworkInfo {
  std::string name;         ///< "ds_cnn": what build_network() and the command line take
  std::string description;  ///< what it is for and where its topology comes from
  Shape input_shape;        ///< NHWC, int8
  std::uint64_t macs = 0;   ///< multiply-accumulates of one inference
};

/// All of them, smallest first.
std::vector<NetworkInfo> networks();

/// The int8 graph; the same bytes on every machine. Error (kUsage): no such name; the message lists
/// them.
base::Result<delegate::Graph> build_network(const std::string& name);

/// A camera's frame (640x480, three int8 channels) through crop and halving into
/// MobileNetV2-1.0-224; of `deputy bench runtime`. Not in the list: it is the last network there
/// with two operators more.
delegate::Graph build_camera_network();

/// ResNet-50 in int8, 3.86 G multiply-accumulates; of `deputy validate`, for timing. Not in the
/// list: building it takes seconds.
delegate::Graph build_validation_resnet50();

}  // namespace deputy::workloads
