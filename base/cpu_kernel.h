// The kinds of work that a host CPU is charged for.
#pragma once

#include <cstdint>

namespace deputy {

/// Kinds of work the host CPU does, each with its own cost in the SoC's YAML.
enum class CpuKernel : std::uint8_t {
  kMacInt8 = 0,         ///< amount: multiply-accumulates of integer kernels
  kMacFloat = 1,        ///< amount: multiply-accumulates of float kernels
  kElementwise = 2,     ///< amount: elements of simple per-element arithmetic
  kTranscendental = 3,  ///< amount: elements needing exp, tanh, division ...
  kCopy = 4,            ///< amount: bytes moved without arithmetic
  kControl = 5,         ///< amount: 1 per dispatched operation
};
inline constexpr int kCpuKernelCount = 6;

}  // namespace deputy
