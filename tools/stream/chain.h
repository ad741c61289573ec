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
  double value = 0;  ///< for chains that decide a number
};

/// How the sensor delivers: frames of equal size. A sample: all channels, or an image.
struct FrameShape {
  std::uint32_t frame_bytes = 0, samples_per_frame = 0;
  double samples_per_second = 0;
};

/// What the sensor sees, and the labels by time.
struct StreamSignal {
  std::vector<std::vector<std::uint8_t>> frames;
  std::vector<StreamLabel> labels;
};

struct StreamDecision {
  std::int64_t sample = 0;  ///< what it is about
  int kind = 0;             ///< class
  double value = 0;         ///< for chains that decide a number
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
  MemoryKind frames_in = MemoryKind::kSram;  ///< where the sensor's ring is
  std::uint32_t samples_per_frame = 0;
};

class Chain {
 public:
  virtual ~Chain() = default;
  virtual base::Status prepare(const ChainParts& parts) = 0;
  /// A frame whose first sample is number `sample` is in `raw`. When this returns, nobody needs
  /// `raw` any more. An error: an engine failed for good; gap() follows, and the stream goes on.
  virtual base::Status frame(const host_runtime::Buffer& raw, std::int64_t sample,
                             std::uint64_t ready_ps) = 0;
  /// Samples are missing before number `sample`: what depended on them is given up.
  virtual base::Status gap(std::int64_t sample) = 0;
  const std::vector<StreamDecision>& decisions() const { return decisions_; }
  std::uint64_t given_up() const { return given_up_; }

 protected:
  /// The class with the highest score of the session's first output, about `sample`; conclude() has
  /// the last word.
  base::Status decide(std::int64_t sample, std::uint64_t ready_ps);
  virtual void conclude(StreamDecision&) {}
  /// Of whole cache lines.
  base::Status make(host_runtime::Buffer& buffer, std::uint64_t bytes,
                    MemoryKind kind = MemoryKind::kSram);

  ChainParts p_;
  std::vector<StreamDecision> decisions_;
  std::uint64_t given_up_ =
      0;  ///< decisions that there will never be, because of gaps and failures
};

/// A job of the DSP for each frame; when enough has come in, the network looks at what it left.
class FrameChain : public Chain {
 public:
  base::Status prepare(const ChainParts& parts) final;
  base::Status frame(const host_runtime::Buffer& raw, std::int64_t sample,
                     std::uint64_t ready_ps) final;
  base::Status gap(std::int64_t) final { return restart(); }

 protected:
  virtual base::Status set_up() = 0;  ///< buffers and entries; p_ is there
  virtual std::uint64_t input_bytes() const = 0;
  virtual base::Status restart() = 0;  ///< nothing has come in yet
  virtual host_runtime::DspTask task(const host_runtime::Buffer& raw) = 0;
  /// The last task() is on its way: the window that it makes, or null while too little has come in.
  virtual const host_runtime::Buffer* take() = 0;

 private:
  host_runtime::Buffer copied_;
};

/// Rows in memory: where the first is, and from one to the next.
struct RowsAt {
  std::uint32_t at = 0, stride = 0;
};
arch::DspCommand transfer_rows(arch::DspCommandKind kind, std::uint8_t region, const RowsAt& memory,
                               const RowsAt& tcm, std::uint32_t row_bytes, std::uint32_t rows);

/// What a chain decides, and how that is held against the labels (stream_score.h).
enum class Judge {
  kClasses,   ///< the class of a moment
  kValue,     ///< a number; classes, if any, only sort the labels
  kEpisodes,  ///< two classes: a label of class 1 begins an episode, one of class 0 ends it
};

struct ChainInfo {
  const char* name;
  const char* doc;
  FrameShape shape;
  std::vector<std::string> classes;  ///< empty: numbers
  std::vector<dsp_kernels::KernelUse> kernels;
  double tolerance_s = 0;  ///< between a label and a decision about it
  double blind_s = 0;      ///< at both ends of a piece of signal nothing is decided
  base::Result<StreamSignal> (*signal)(const StreamScenario& scenario);
  std::unique_ptr<Chain> (*make)();
  Judge judge = Judge::kClasses;
  const char* unit = "";  ///< of kValue
};
/// kConfig when there is none of this name.
base::Result<const ChainInfo*> find_chain(const std::string& name);

/// Waits for a fence as long as it may take at most.
base::Status settle(host_runtime::Device& device, const host_runtime::Fence& fence);

}  // namespace deputy::tools
