// Image and spectrogram networks.
//
// DS-CNN, MobileNetV1-0.25 and ResNet-8: the MLPerf Tiny reference models (mlcommons/tiny).
// MobileNetV2: the published block table (Sandler et al., 2018) with seven classes, as used for
// skin lesions.
#include "workloads/builder.h"
#include "workloads/topologies.h"

namespace deputy::workloads {
namespace {

using arch::Activation;
using arch::Padding;

/// One window over the whole image.
Window whole(const Shape& shape) {
  return {.kernel_h = shape[1],
          .kernel_w = shape[2],
          .stride_h = shape[1],
          .stride_w = shape[2],
          .padding = Padding::kValid};
}

TensorId classifier(Builder& b, TensorId features, int classes) {
  return b.softmax("probabilities", b.fully_connected("classes", features, classes));
}

}  // namespace

delegate::Graph build_ds_cnn() {
  Builder b("ds_cnn", 0xd5c0);
  TensorId x = b.input({1, 49, 10, 1}, -1.2f, 1.0f);
  x = b.conv("conv", x, 64,
             {.kernel_h = 10,
              .kernel_w = 4,
              .stride_h = 2,
              .stride_w = 2,
              .activation = Activation::kRelu});
  for (int i = 0; i < 4; ++i) {
    const std::string block = "block" + std::to_string(i);
    x = b.depthwise(block + "/dw", x, 1, square(3, 1, Activation::kRelu));
    x = b.conv(block + "/pw", x, 64, square(1, 1, Activation::kRelu));
  }
  x = b.average_pool("pool", x, whole(b.shape(x)));
  return b.finish({classifier(b, b.reshape("flat", x, {1, 64}), 12)});
}

delegate::Graph build_mobilenet_v1() {
  Builder b("mobilenet_v1_025_96", 0x3b11);
  TensorId x = b.input({1, 96, 96, 3}, -1.0f, 0.9f);
  x = b.conv("conv", x, 8, square(3, 2, Activation::kRelu6));
  struct Block {
    int filters, stride;
  };
  const Block blocks[] = {{16, 1},  {32, 2},  {32, 1},  {64, 2},  {64, 1},  {128, 2}, {128, 1},
                          {128, 1}, {128, 1}, {128, 1}, {128, 1}, {256, 2}, {256, 1}};
  int number = 0;
  for (const Block& block : blocks) {
    const std::string name = "block" + std::to_string(number++);
    x = b.depthwise(name + "/dw", x, 1, square(3, block.stride, Activation::kRelu6));
    x = b.conv(name + "/pw", x, block.filters, square(1, 1, Activation::kRelu6));
  }
  x = b.average_pool("pool", x, whole(b.shape(x)));
  return b.finish({classifier(b, b.reshape("flat", x, {1, 256}), 2)});
}

delegate::Graph build_resnet8() {
  Builder b("resnet8", 0x4e58);
  TensorId x = b.input({1, 32, 32, 3}, -1.0f, 1.1f);
  x = b.conv("conv", x, 16, square(3, 1, Activation::kRelu));
  for (int stage = 0; stage < 3; ++stage) {
    const std::string name = "stage" + std::to_string(stage);
    const int filters = 16 << stage, stride = stage == 0 ? 1 : 2;
    TensorId y = b.conv(name + "/conv0", x, filters, square(3, stride, Activation::kRelu));
    y = b.conv(name + "/conv1", y, filters, square(3, 1, Activation::kNone));
    if (stage > 0) x = b.conv(name + "/shortcut", x, filters, square(1, stride, Activation::kNone));
    x = b.add(name + "/add", x, y, Activation::kRelu);
  }
  x = b.average_pool("pool", x, whole(b.shape(x)));
  return b.finish({classifier(b, b.reshape("flat", x, {1, 64}), 10)});
}

namespace {

/// From the image of 224x224 to the probabilities.
TensorId mobilenet_v2(Builder& b, TensorId x) {
  x = b.conv("conv", x, 32, square(3, 2, Activation::kRelu6));
  struct Stage {
    int expansion, filters, repeats, stride;
  };
  const Stage stages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                          {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  int number = 0;
  for (const Stage& stage : stages) {
    for (int i = 0; i < stage.repeats; ++i) {
      const std::string name = "block" + std::to_string(number++);
      const int stride = i == 0 ? stage.stride : 1, channels = b.shape(x)[3];
      TensorId y = x;
      if (stage.expansion > 1)
        y = b.conv(name + "/expand", y, channels * stage.expansion,
                   square(1, 1, Activation::kRelu6));
      y = b.depthwise(name + "/dw", y, 1, square(3, stride, Activation::kRelu6));
      y = b.conv(name + "/project", y, stage.filters, square(1, 1, Activation::kNone));
      x = stride == 1 && channels == stage.filters ? b.add(name + "/add", x, y, Activation::kNone)
                                                   : y;
    }
  }
  x = b.conv("features", x, 1280, square(1, 1, Activation::kRelu6));
  return classifier(b, b.global_mean("mean", x), 7);
}

}  // namespace

delegate::Graph build_mobilenet_v2() {
  Builder b("mobilenet_v2_224", 0x3b22);
  return b.finish({mobilenet_v2(b, b.input({1, 224, 224, 3}, -1.0f, 0.95f))});
}

delegate::Graph build_camera_mobilenet_v2() {
  Builder b("camera_mobilenet_v2", 0x3b22);
  TensorId x = b.input({1, 480, 640, 3}, -1.0f, 0.95f);
  x = b.crop("crop", x, 16, 96, 448, 448);
  x = b.average_pool(
      "halve", x,
      {.kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2, .padding = Padding::kValid});
  return b.finish({mobilenet_v2(b, x)});
}

}  // namespace deputy::workloads
