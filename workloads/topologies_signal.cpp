// Networks over signals. One-dimensional layers are two-dimensional ones of height 1.
//
// Autoencoder: MLPerf Tiny's anomaly detector. TEMPONet (heart rate from PPG; Risso et al., 2021)
// and the ECG temporal convolutional network (ECG5000 beats): the published layer lists of the PIT
// project. EEGNet-8,2 (Lawhern et al., 2018) for 22 channels of 512 samples.
#include "workloads/builder.h"
#include "workloads/topologies.h"

namespace deputy::workloads {
namespace {

using arch::Activation;
using arch::Padding;

Window line(int kernel, int stride, int dilation, Activation activation,
            Padding padding = Padding::kSame) {
  return {.kernel_w = kernel,
          .stride_w = stride,
          .dilation_w = dilation,
          .padding = padding,
          .activation = activation};
}

TensorId halve(Builder& b, const std::string& name, TensorId x) {
  return b.average_pool(name, x, line(2, 2, 1, Activation::kNone, Padding::kValid));
}

/// A convolution that sees only the past.
TensorId causal(Builder& b, const std::string& name, TensorId x, int kernel, int dilation,
                Activation activation) {
  constexpr int kFilters = 11;
  if (kernel > 1) x = b.pad(name + "/past", x, 0, 0, (kernel - 1) * dilation, 0);
  return b.conv(name, x, kFilters, line(kernel, 1, dilation, activation, Padding::kValid));
}

}  // namespace

delegate::Graph build_autoencoder() {
  Builder b("autoencoder", 0xae64);
  TensorId x = b.input({1, 640}, -2.0f, 2.2f);
  const int units[] = {128, 128, 128, 128, 8, 128, 128, 128, 128};
  int number = 0;
  for (const int n : units)
    x = b.fully_connected("dense" + std::to_string(number++), x, n, Activation::kRelu);
  return b.finish({b.fully_connected("reconstruction", x, 640)});
}

delegate::Graph build_temponet() {
  Builder b("temponet", 0x7e30);
  TensorId x = b.input({1, 1, 256, 4}, -1.5f, 1.3f);
  const Activation relu = Activation::kRelu;
  x = b.conv("tcb00", x, 32, line(3, 1, 2, relu));
  x = b.conv("tcb01", x, 32, line(3, 1, 2, relu));
  x = halve(b, "pool0", b.conv("cb0", x, 64, line(5, 1, 1, relu)));
  x = b.conv("tcb10", x, 64, line(3, 1, 4, relu));
  x = b.conv("tcb11", x, 64, line(3, 1, 4, relu));
  x = halve(b, "pool1", b.conv("cb1", x, 128, line(5, 2, 1, relu)));
  x = b.conv("tcb20", x, 128, line(3, 1, 8, relu));
  x = b.conv("tcb21", x, 128, line(3, 1, 8, relu));
  // The published layer pads four on each side, more than SAME would: 32 samples give nine.
  x = b.pad("cb2/pad", x, 0, 0, 4, 4);
  x = halve(b, "pool2", b.conv("cb2", x, 128, line(5, 4, 1, relu, Padding::kValid)));
  x = b.reshape("flat", x, {1, 512});
  x = b.fully_connected("regr0", x, 256, relu);
  x = b.fully_connected("regr1", x, 128, relu);
  return b.finish({b.fully_connected("heart_rate", x, 1)});
}

delegate::Graph build_eegnet() {
  Builder b("eegnet", 0xee61);
  TensorId x = b.input({1, 22, 512, 1}, -1.0f, 1.4f);
  const Activation none = Activation::kNone;
  x = b.conv("temporal", x, 8, line(128, 1, 1, none));
  x = b.depthwise("spatial", x, 2, {.kernel_h = 22, .padding = Padding::kValid});
  x = b.elu("spatial/elu", x);
  x = b.average_pool("pool0", x, line(4, 4, 1, none, Padding::kValid));
  x = b.depthwise("separable/dw", x, 1, line(16, 1, 1, none));
  x = b.conv("separable/pw", x, 16, line(1, 1, 1, none));
  x = b.elu("separable/elu", x);
  x = b.average_pool("pool1", x, line(8, 8, 1, none, Padding::kValid));
  x = b.reshape("flat", x, {1, 256});
  return b.finish({b.softmax("probabilities", b.fully_connected("classes", x, 2))});
}

delegate::Graph build_ecg_tcn() {
  Builder b("ecg_tcn", 0xec69);
  TensorId x = b.input({1, 1, 140, 1}, -3.0f, 2.0f);
  x = b.conv("conv0", x, 2, line(11, 1, 1, Activation::kNone));
  for (int level = 0; level < 3; ++level) {
    const std::string name = "level" + std::to_string(level);
    const int dilation = 1 << level;
    TensorId y = causal(b, name + "/conv0", x, 11, dilation, Activation::kRelu);
    y = causal(b, name + "/conv1", y, 11, dilation, Activation::kRelu);
    if (level == 0) x = causal(b, name + "/shortcut", x, 1, 1, Activation::kNone);
    x = b.add(name + "/add", y, x, Activation::kRelu);
  }
  x = b.reshape("flat", x, {1, 1540});
  return b.finish({b.softmax("probabilities", b.fully_connected("classes", x, 5))});
}

}  // namespace deputy::workloads
