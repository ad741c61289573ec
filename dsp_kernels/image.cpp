#include "dsp_kernels/image.h"

#include "dsp_kernels/kernels.h"

namespace deputy::dsp_kernels {

base::Result<arch::DspImage> build_image(std::span<const KernelUse> uses,
                                         const arch::DspConfig& config) {
  arch::DspImage out;
  out.tcm_bytes = static_cast<std::uint64_t>(config.tcm.bytes);
  for (const KernelUse& use : uses) {
    DEPUTY_ASSIGN(const auto program, build_kernel(use.kernel, {.parameters = use.parameters,
                                                                .latency = config.latency}));
    out.kernels.push_back({use.name, static_cast<std::uint32_t>(out.words.size())});
    out.words.insert(out.words.end(), program.words.begin(), program.words.end());
  }
  return out;
}

}  // namespace deputy::dsp_kernels
