// One function per network; networks.cpp lists them.
#pragma once

#include "delegate/ir/graph.h"

namespace deputy::workloads {

delegate::Graph build_ds_cnn();
delegate::Graph build_mobilenet_v1();
delegate::Graph build_resnet8();
delegate::Graph build_mobilenet_v2();
delegate::Graph build_camera_mobilenet_v2();
delegate::Graph build_resnet50();
delegate::Graph build_autoencoder();
delegate::Graph build_temponet();
delegate::Graph build_eegnet();
delegate::Graph build_ecg_tcn();

}  // namespace deputy::workloads
