#include "dsp_kernels/kernels.h"

#include <fmt/format.h>

#include "dsp_kernels/data.h"

namespace deputy::dsp_kernels {

base::Result<dsp_asm::Program> build_kernel(const std::string& name,
                                            const dsp_asm::Options& options) {
  const auto found = kernel_sources().find(name);
  if (found == kernel_sources().end())
    return base::Error{base::ErrorKind::kUsage, "dsp_kernels",
                       fmt::format("there is no kernel '{}'", name), "dsp_kernels/asm holds them"};
  return dsp_asm::assemble(found->second, name + ".dsp", options);
}

std::vector<KernelCase> kernel_cases(std::uint64_t seed, Fill fill) {
  Source source(seed, fill);
  Cases cases;
  add_filter_cases(source, cases);
  add_resampling_cases(source, cases);
  add_signal_cases(source, cases);
  add_fft_cases(source, cases);
  add_matrix_cases(source, cases);
  add_fusion_cases(source, cases);
  add_mfcc_cases(source, cases);
  add_layer_cases(source, cases);
  add_exact_layer_cases(source, cases);
  add_image_cases(source, cases);
  add_ecg_cases(source, cases);
  return cases;
}

}  // namespace deputy::dsp_kernels
