#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "arch/byte_io.h"
#include "quantize/equalise.h"
#include "quantize/prepare.h"
#include "quantize/quantize.h"

namespace deputy::quantize {
namespace {

using delegate::Graph;
using delegate::kNoTensor;
using delegate::TensorId;

constexpr std::size_t kMostChannels = 65536;  ///< more are not kept apart
constexpr char kMagic[] = "deputy calibration 1";

struct State {
  std::string magic, key;
  std::uint64_t samples = 0, hash = 0;
  std::vector<TensorStatistics> statistics;
  template <class Self, class V>
  static void fields(Self& s, V&& v) {
    using base::Field;
    v(s.magic, Field{.name = "magic"});
    v(s.key, Field{.name = "key"});
    v(s.samples, Field{.name = "samples"});
    v(s.hash, Field{.name = "hash", .max = 1.9e19});
    v(s.statistics, Field{.name = "statistics"});
  }
};

}  // namespace

// FNV-1a, 64 bits.
std::uint64_t hash_start() { return 0xcbf29ce484222325u; }
std::uint64_t hash_samples(std::uint64_t hash, std::span<const Bytes> inputs) {
  for (const Bytes& input : inputs)
    for (const std::uint8_t byte : input) hash = (hash ^ byte) * 0x100000001b3u;
  return hash;
}

base::Status check_float(const Graph& graph) {
  for (const delegate::Tensor& t : graph.tensors)
    if (t.desc.quant.present() && t.desc.dtype != DType::kInt32)
      return base::Error{base::ErrorKind::kModel, graph.name,
                         fmt::format("it is quantised already: tensor '{}' is {}", t.desc.name,
                                     dtype_name(t.desc.dtype)),
                         "give the float model that it was made from"};
  return {};
}

base::Result<Calibration> Calibration::begin(Graph graph, const Options& options,
                                             std::span<const std::vector<Bytes>> first) {
  Calibration c;
  DEPUTY_TRY(check_float(graph));
  separate_weights(graph);
  c.folded_ = fold_scales(graph);
  fuse_activations(graph);
  remove_unused(graph);
  DEPUTY_TRY(Executor(graph, options.engine.numerics).check());
  if (options.equalise == Equalise::kOn) {
    DEPUTY_ASSIGN(const auto maxima, channel_maxima(graph, first));
    c.equalised_ = equalise(graph, maxima);
  }
  c.statistics_.resize(graph.tensors.size());
  c.sample_hash_ = hash_start();
  c.graph_ = std::move(graph);
  return c;
}

base::Status Calibration::add(std::span<const Bytes> inputs) {
  const auto observe = [&](TensorId id, std::span<const std::uint8_t> bytes) -> base::Status {
    const arch::TensorDesc& desc = graph_.tensor(id).desc;
    if (desc.dtype != DType::kFloat32 || bytes.empty()) return {};
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
    for (const float v : values)
      if (!std::isfinite(v))
        return base::Error{base::ErrorKind::kInput, desc.name,
                           fmt::format("sample {} makes a value of it {}", samples_,
                                       std::isnan(v) ? "NaN" : "infinite"),
                           "remove the sample, or correct the model"};
    const auto channels = static_cast<std::size_t>(desc.shape.empty() ? 1 : desc.shape.back());
    statistics_[static_cast<std::size_t>(id)].add(values, channels <= kMostChannels ? channels : 0);
    return {};
  };
  const auto outputs = Executor(graph_, Numerics::kFp32).run(inputs, observe);
  if (!outputs.ok()) return outputs.error();
  ++samples_;
  sample_hash_ = hash_samples(sample_hash_, inputs);
  return {};
}

base::Status Calibration::add_moments(std::span<const Bytes> inputs, bool held) {
  if (moments_.empty()) moments_ = InputMoments(graph_);
  return moments_.add(graph_, inputs, held);
}

std::vector<std::uint8_t> Calibration::save(const std::string& key) const {
  arch::ByteWriter writer;
  writer.put(State{kMagic, key, samples_, sample_hash_, statistics_});
  return std::move(writer.bytes());
}

bool Calibration::restore(std::span<const std::uint8_t> bytes, const std::string& key) {
  arch::ByteReader reader(bytes);
  State state = reader.get<State>();
  if (!reader.ok() || reader.remaining() || state.magic != kMagic || state.key != key ||
      state.statistics.size() != statistics_.size())
    return false;
  for (const TensorStatistics& s : state.statistics)
    if (!s.bins.empty() && s.bins.size() != TensorStatistics::kBins) return false;
  statistics_ = std::move(state.statistics), samples_ = state.samples, sample_hash_ = state.hash;
  return true;
}

}  // namespace deputy::quantize
