#include "npu_model/core/kernels.h"

#include "npu_model/core/kernel_sets.h"

namespace deputy::npu_model {

const Kernels* kernels_for(Isa isa) {
  switch (isa) {
    case Isa::kPortable:
      return &portable_kernels();
#if defined(__x86_64__)
    case Isa::kAvx2:
      return __builtin_cpu_supports("avx2") ? &avx2_kernels() : nullptr;
    case Isa::kAvx512Vnni:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                     __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                     __builtin_cpu_supports("avx512vnni")
                 ? &avx512_kernels()
                 : nullptr;
#endif
    default:
      return nullptr;
  }
}

Isa best_isa() {
  for (const Isa isa : {Isa::kAvx512Vnni, Isa::kAvx2})
    if (kernels_for(isa)) return isa;
  return Isa::kPortable;
}

}  // namespace deputy::npu_model
