// The DSP's part of an executable: the image of all kernels that its jobs use, among the constants,
// and the jobs' command lists.
#pragma once

#include <cstdint>
#include <vector>

#include "delegate/codegen/constant_pool.h"
#include "delegate/compile.h"
#include "delegate/ir/graph.h"

namespace deputy::delegate {

class DspJobs {
 public:
  /// A job for an operator that the DSP takes; its number in Executable::dsp_jobs.
  std::uint32_t add(const Op& op) {
    ops_.push_back(&op);
    return static_cast<std::uint32_t>(ops_.size()) - 1;
  }
  /// When every tensor has its place: image, tables and lists. kConfig: the image does not fit the
  /// program memory.
  base::Status finish(const Graph& graph, const CompileOptions& options, ConstantPool& constants,
                      arch::Executable& out) const;

 private:
  std::vector<const Op*> ops_;
};

}  // namespace deputy::delegate
