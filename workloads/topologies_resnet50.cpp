// ResNet-50 as NVIDIA's performance sheet of NVDLA lists it (nvdla/hw,
// perf/NVDLA_OpenSource_Performance.xlsx, sheet ResNet50): He et al., 2016, with the stride in the
// first convolution of a stage. Layers bear the sheet's names.
#include "workloads/builder.h"
#include "workloads/topologies.h"

namespace deputy::workloads {
namespace {

using arch::Activation;

struct Stage {
  int number, blocks, filters, stride;
};

TensorId bottleneck(Builder& b, const std::string& name, TensorId x, const Stage& stage,
                    bool first) {
  const int stride = first ? stage.stride : 1;
  TensorId shortcut = x;
  if (first)
    shortcut =
        b.conv(name + "_branch1", x, 4 * stage.filters, square(1, stride, Activation::kNone));
  TensorId y = b.conv(name + "_branch2a", x, stage.filters, square(1, stride, Activation::kRelu));
  y = b.conv(name + "_branch2b", y, stage.filters, square(3, 1, Activation::kRelu));
  y = b.conv(name + "_branch2c", y, 4 * stage.filters, square(1, 1, Activation::kNone));
  return b.add(name + "_elwise", shortcut, y, Activation::kRelu);
}

}  // namespace

delegate::Graph build_resnet50() {
  Builder b("resnet50", 0x4e50);
  TensorId x = b.input({1, 224, 224, 3}, -1.0f, 1.1f);
  x = b.conv("Conv1", x, 64, square(7, 2, Activation::kRelu));
  x = b.max_pool("pool1", x, square(3, 2, Activation::kNone));
  for (const Stage& stage : {Stage{2, 3, 64, 1}, {3, 4, 128, 2}, {4, 6, 256, 2}, {5, 3, 512, 2}})
    for (int block = 0; block < stage.blocks; ++block) {
      const std::string name =
          "Res" + std::to_string(stage.number) + static_cast<char>('a' + block);
      x = bottleneck(b, name, x, stage, block == 0);
    }
  return b.finish({b.fully_connected("fc1000", b.global_mean("pool5", x), 1000)});
}

}  // namespace deputy::workloads
