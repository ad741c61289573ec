// What a stream does with its frames: the program of the host, its DSP image and its signal, one
// class a chain.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dsp_kernels/image.h"
#include "host_runtime/runtime/dsp_work.h"
#include "host_runtime/runtime/session.h"
#include "tools/stream/scenario.h"

namespace deputy::tools {

/// The truth about a moment of the signal.
struct StreamLabel {
  std::int64_t sample = 0;
  int kind = 0;
};

/// What the sensor sees: samples in frames of equal size, and the labels.
struct StreamSignal {
  std::uint32_t frame_bytes = 0, samples_per_frame = 0;  ///< a sample: all channels, or an image
  double samples_per_second = 0;
  std::vector<std::vector<std::uint8_t>> frames;
  std::vector<StreamLabel> labels;
};

struct StreamDecision {
  std::int64_t sample = 0;  ///< what it is about
  int kind = 0;             ///< class with the highest score
  std::vector<std::int8_t> scores;
  std::uint64_t needed_ps = 0;  ///< when the last frame that it needs was in memory
  std::uint64_t decided_ps = 0;
};

/// What a chain works with; all outlive it.
struct ChainParts {
  host_runtime::Device* device = nullptr;
  std::shared_ptr<host_runtime::Context> context;
  std::shared_ptr<const host_runtime::DspFirmware> firmware;
  host_runtime::Session* session = nullptr;
  const StreamScenario* scenario = nullptr;
};

class Chain {
 public:
  virtual ~Chain() = default;
  virtual base::Status prepare(const ChainParts& parts) = 0;
  /// A frame whose first sample is number `sample` is in `raw`. When this returns, nobody needs
  /// `raw` any more.
  virtual base::Status frame(const host_runtime::Buffer& raw, std::int64_t sample,
                             std::uint64_t ready_ps) = 0;
  /// Samples are missing before number `sample`: what depended on them is given up.
  virtual base::Status gap(std::int64_t sample) = 0;
  /// An engine failed for good in frame(): go on with what comes.
  const std::vector<StreamDecision>& decisions() const { return decisions_; }
  std::uint64_t given_up() const { return given_up_; }

 protected:
  std::vector<StreamDecision> decisions_;
  std::uint64_t given_up_ =
      0;  ///< decisions that there will never be, because of gaps and failures
};

/// How a chain's decisions are held against the labels.
struct ChainInfo {
  const char* name;
  const char* doc;
  std::vector<std::string> classes;
  std::vector<dsp_kernels::KernelUse> kernels;
  double tolerance_s = 0;  ///< between a label and a decision about it
  double blind_s = 0;      ///< at both ends of a piece of signal nothing is decided
  base::Result<StreamSignal> (*signal)(const StreamScenario& scenario);
  std::unique_ptr<Chain> (*make)();
};
/// kConfig when there is none of this name.
base::Result<const ChainInfo*> find_chain(const std::string& name);

/// Waits for a fence as long as it may take at most.
base::Status settle(host_runtime::Device& device, const host_runtime::Fence& fence);

}  // namespace deputy::tools
