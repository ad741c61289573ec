// Weights and channel parameters of one window operator: whether they go through the NPU's decoder,
// where they lie among the executable's constants, and the LOADs and LOADWs that fetch a step's
// blocks.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "arch/weight_codec.h"
#include "delegate/codegen/lower.h"
#include "delegate/codegen/window.h"

namespace deputy::delegate {

class WindowConstants {
 public:
  /// `params`: the records of all output channels. `shape` has weights.
  WindowConstants(Lowering& context, TensorId weights, std::vector<std::uint8_t> params,
                  const WindowShape& shape);

  /// Whether the weights would get smaller, by the whole tensor; then try a tiling of packed().
  bool may_pack() const { return weights_bits_ != 0; }
  /// The rates with the compressed sizes, for a shape that is packed or not.
  TransferRates rates(TransferRates raw, bool packed) const;

  /// Encodes the blocks of a tiling of the packed shape. False, and nothing is packed, when the
  /// load queue would not move fewer bytes in less time than without: choose a tiling of the plain
  /// shape then.
  bool pack(const WindowShape& packed, const Tiling& tiling, const TransferRates& raw);

  /// Fetches the code table; once, before the first weights. Only when pack() was true.
  void load_table(std::uint32_t spm);
  void load_weights(const WindowStep& step, std::uint32_t spm);
  void load_params(const WindowStep& step, std::uint32_t spm);

 private:
  using Bytes = std::vector<std::uint8_t>;
  struct Stream {
    MemoryRef at;
    std::int64_t bytes = 0;
  };
  Bytes block(const WindowStep& step) const;
  Stream store(const Bytes& bytes);
  void emit(const Stream& stream, std::uint32_t spm, std::int64_t bytes, std::int64_t planes,
            bool fixed_code, arch::Traffic traffic);

  Lowering& context_;
  const TensorId id_;
  const Bytes data_;  // int8 weights
  const Bytes params_;
  const WindowShape s_;
  arch::CodeLengths code_;
  std::uint64_t weights_bits_ = 0;  // of the whole tensor under code_; 0: not worth it
  double params_ratio_ = 1;         // compressed to plain
  bool packed_ = false;
  Bytes table_;  // the compressed table
  std::map<std::pair<std::int64_t, std::int64_t>, Bytes>
      blocks_;  // by first output and input channel
  std::map<std::pair<std::int64_t, std::int64_t>, Stream> stored_, stored_params_;
  std::uint32_t table_spm_ = 0;
};

}  // namespace deputy::delegate
