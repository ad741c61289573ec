// The list of the project's own networks.
#include "workloads/networks.h"

#include "workloads/topologies.h"

namespace deputy::workloads {
namespace {

struct Row {
  NetworkInfo info;
  delegate::Graph (*build)();
};

const std::vector<Row>& rows() {
  static const std::vector<Row> kRows = {
      {{"autoencoder", "anomaly detection on machine sound (MLPerf Tiny)", {1, 640}, 264192},
       build_autoencoder},
      {{"ecg_tcn",
        "ECG beat classes, dilated causal convolutions (ECG5000)",
        {1, 1, 140, 1},
        979440},
       build_ecg_tcn},
      {{"ds_cnn", "keyword spotting, depthwise separable (MLPerf Tiny)", {1, 49, 10, 1}, 2656768},
       build_ds_cnn},
      {{"mobilenet_v1_025_96", "visual wake words (MLPerf Tiny)", {1, 96, 96, 3}, 7489664},
       build_mobilenet_v1},
      {{"eegnet",
        "EEG classes, 22 channels of 512 samples (EEGNet-8,2)",
        {1, 22, 512, 1},
        11780608},
       build_eegnet},
      {{"resnet8", "image classes, residual (MLPerf Tiny)", {1, 32, 32, 3}, 12501632},
       build_resnet8},
      {{"temponet", "heart rate from PPG and motion (TEMPONet)", {1, 1, 256, 4}, 13320320},
       build_temponet},
      {{"mobilenet_v2_224",
        "skin lesion classes (MobileNetV2-1.0-224)",
        {1, 224, 224, 3},
        299503232},
       build_mobilenet_v2},
  };
  return kRows;
}

}  // namespace

std::vector<NetworkInfo> networks() {
  std::vector<NetworkInfo> out;
  for (const Row& row : rows()) out.push_back(row.info);
  return out;
}

base::Result<delegate::Graph> build_network(const std::string& name) {
  std::string known;
  for (const Row& row : rows()) {
    if (row.info.name == name) return row.build();
    known += (known.empty() ? "" : ", ") + row.info.name;
  }
  return base::Error{base::ErrorKind::kUsage, "network '" + name + "'", "there is no such network",
                     "use one of: " + known};
}

delegate::Graph build_camera_network() { return build_camera_mobilenet_v2(); }

delegate::Graph build_validation_resnet50() { return build_resnet50(); }

}  // namespace deputy::workloads
