// Every knob of a SoC, as read from configs/soc/*.yaml.
#pragma once

#include <string>

#include "arch/npu_config.h"
#include "base/config.h"
#include "base/result.h"

namespace deputy::soc {

/// Groups "host", "noc", "sram", "dram", "dma", "npu" and the key "energy" (a file under configs/energy,
/// relative to the SoC file).
struct SocConfig {
  std::string name;
  arch::NpuConfig npu;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.name, Field{.name = "name", .doc = "shown in reports"});
    v(s.npu, Field{.name = "npu", .doc = "neural processing unit"});
  }
};

}  // namespace deputy::soc
