// The DSP's kernels: assembly texts (asm/*.dsp), and for each one cases with their memory,
// arguments and the bytes that a plain C++ reference expects. A kernel takes its arguments in r1,
// r2, ... and ends with `halt`; what it reads and writes lies in the data memory, vectors aligned
// to 128 bytes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "dsp_asm/assembler.h"

namespace deputy::dsp_kernels {

/// Name -> assembly text.
const std::map<std::string, std::string>& kernel_sources();

/// The program of a kernel; an error of the parameters names the kernel's line.
base::Result<dsp_asm::Program> build_kernel(const std::string& name,
                                            const dsp_asm::Options& options);

struct Memory {
  std::uint32_t address = 0;
  std::vector<std::uint8_t> bytes;
};
struct KernelCase {
  std::string kernel;
  std::string what;
  std::map<std::string, std::int64_t> parameters;
  std::vector<std::uint32_t> arguments;  ///< r1, r2, ...
  std::vector<Memory> inputs, expected;
  std::int64_t outputs = 0;  ///< samples, bins, ...: what cycles are divided by
  std::string unit = "sample";
  /// Operations that the method needs in its busiest slot: no program of this method runs in fewer
  /// cycles.
  std::int64_t bound = 0;
  std::string bound_by;
};

/// How the cases' data are filled.
enum class Fill : std::uint8_t { kRandom, kLargest, kSmallest, kAlternating, kZero };
inline constexpr Fill kFills[] = {Fill::kRandom, Fill::kLargest, Fill::kSmallest,
                                  Fill::kAlternating, Fill::kZero};

/// Every kernel's cases, with data from `seed`.
std::vector<KernelCase> kernel_cases(std::uint64_t seed, Fill fill);

}  // namespace deputy::dsp_kernels
