// The kernel sets that kernels.cpp chooses from; one source file each.
#pragma once

#include "npu_model/core/kernels.h"

namespace deputy::npu_model {

const Kernels& portable_kernels();
#if defined(__x86_64__)
const Kernels& avx2_kernels();    ///< call only where the host has AVX2
const Kernels& avx512_kernels();  ///< call only where the host has AVX-512 F, BW, VL, DQ and VNNI
#endif

}  // namespace deputy::npu_model
