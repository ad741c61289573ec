// Kernels put together as an image for one DSP (arch/dsp_image.h).
#pragma once

#include <map>
#include <span>
#include <string>

#include "arch/dsp_config.h"
#include "arch/dsp_image.h"
#include "base/result.h"

namespace deputy::dsp_kernels {

/// A kernel with its parameters, and what the image calls it.
struct KernelUse {
  std::string name, kernel;
  std::map<std::string, std::int64_t> parameters;
};
/// Assembles each for the DSP's latencies. Errors name the kernel's line.
base::Result<arch::DspImage> build_image(std::span<const KernelUse> uses,
                                         const arch::DspConfig& config);

}  // namespace deputy::dsp_kernels
