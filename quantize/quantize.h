// Post-training quantisation: a float graph and samples in, an int8 graph out
// (docs/quantisation.md).
//
//   Calibration::begin(graph, options, some samples)   // prepares the graph
//   for (sample) c.add(sample);              // measures it
//   quantise(c, options)                     // the integer graph, and what was done
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "delegate/compile.h"
#include "delegate/import/onnx/onnx.h"
#include "quantize/executor.h"
#include "quantize/rewrite.h"

namespace deputy::quantize {

/// kAuto is for choose.h to settle; here it is kOff.
enum class Equalise : std::uint8_t { kAuto, kOn, kOff };

struct Options {
  RangeMethod method = RangeMethod::kMse;
  double percentile = 99.99;
  WeightOptions weights;
  Equalise equalise = Equalise::kAuto;
  bool float_io = true;
  /// Operators by kind, by a tensor they make, or by what the model's file calls them (its kind,
  /// its name); a trailing '*' stands for any rest.
  std::vector<std::string> keep_float;
  std::vector<delegate::SourceName> sources;  ///< by Op::source_index; empty: the file has no names
  /// Tensors of the prepared graph that are int16 with what shares their scale (mixed.h chooses
  /// them). The operators at them work on int16 maps and int8 weights.
  std::vector<delegate::TensorId> wide;
  delegate::CompileOptions engine;  ///< the NPU that must take the result, and its rounding
};

/// kModel when a graph is quantised already.
base::Status check_float(const delegate::Graph& graph);

/// A float graph, prepared, and what was seen of its tensors.
class Calibration {
 public:
  /// kModel: the graph is quantised already or has nothing to quantise. kUnsupported: the CPU lacks
  /// a kernel.
  /// `first`: some samples, which equalisation looks at (equalise.h).
  static base::Result<Calibration> begin(delegate::Graph graph, const Options& options,
                                         std::span<const std::vector<Bytes>> first = {});

  /// One sample: an array for each graph input. kInput: a value that is NaN or infinite, named.
  base::Status add(std::span<const Bytes> inputs);

  std::uint64_t samples() const { return samples_; }
  const delegate::Graph& graph() const { return graph_; }
  const std::vector<TensorStatistics>& statistics() const { return statistics_; }
  int equalised() const { return equalised_; }
  int folded() const { return folded_; }

  /// For Rounding::kCompensated, after or between calls of add(); not part of the state below.
  base::Status add_moments(std::span<const Bytes> inputs, bool held);
  const InputMoments& moments() const { return moments_; }

  /// The state as bytes, and back. `key`: of the model and everything that changes what is
  /// measured. restore() is false when the bytes are damaged or of something else; nothing has
  /// changed then.
  std::vector<std::uint8_t> save(const std::string& key) const;
  bool restore(std::span<const std::uint8_t> bytes, const std::string& key);
  /// Of all samples so far, in order: tells whether the files still hold what was measured.
  std::uint64_t sample_hash() const { return sample_hash_; }

 private:
  delegate::Graph graph_;
  std::vector<TensorStatistics> statistics_;
  InputMoments moments_;
  std::uint64_t samples_ = 0, sample_hash_;
  int equalised_ = 0, folded_ = 0;
};

std::uint64_t hash_samples(std::uint64_t hash, std::span<const Bytes> inputs);
std::uint64_t hash_start();

/// One operator of the float graph.
struct LayerRow {
  std::size_t op = 0;
  std::string name, kind;
  bool integer = false, wide = false;  ///< wide: on int16 maps
  std::string reason;                  ///< why it stays in floats
  std::string note;
  std::optional<double> compensated_db;  ///< by how much other rounding made its own error smaller
  delegate::TensorId tensor = delegate::kNoTensor;  ///< its first result, in the float graph
  Range seen, range;
  Quantisation quantisation;
};

struct Quantised {
  delegate::Graph graph;
  std::vector<delegate::TensorId> twin;  ///< see Rewritten
  std::vector<LayerRow> layers;
  std::vector<std::string> warnings;                              ///< of the calibration data
  std::uint64_t weight_bytes_before = 0, weight_bytes_after = 0;  ///< of layers that became integer
  std::uint64_t bias_bytes_before = 0, bias_bytes_after = 0;
};

/// Of every tensor, for int8.
std::vector<Range> choose_ranges(const Calibration& calibration, const Options& options);

/// kInput: no samples. kUnsupported: no operator can be an integer one; no engine takes an operator
/// on int16 that `wide` asks for. `ranges`: of choose_ranges() with the same options.
base::Result<Quantised> quantise(const Calibration& calibration, const Options& options);
base::Result<Quantised> quantise(const Calibration& calibration, const Options& options,
                                 const std::vector<Range>& ranges);

}  // namespace deputy::quantize
