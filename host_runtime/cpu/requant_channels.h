// Requantisation of an accumulator row by output channel: shared by convolution, fully connected,
// transposed convolution and matrix product.
#pragma once

#include <cstdint>
#include <vector>

#include "host_runtime/cpu/op_call.h"

namespace deputy::host_runtime {

/// Which product rule gives the multiplier (arch/numerics.h).
enum class ProductRule : std::uint8_t { kConvolution, kFullyConnected };

class ChannelRequant {
 public:
  /// One multiplier per output channel; weights with a single scale share it.
  ChannelRequant(const arch::TensorDesc& in, const arch::TensorDesc& weights,
                 const arch::TensorDesc& out, std::int64_t channels, std::uint8_t activation,
                 ProductRule rule, Numerics mode);

  /// acc[i] is channel i's sum without bias; `bias` (may be null) has one value per channel.
  template <class T>
  void row(const std::int32_t* acc, const std::int32_t* bias, std::int64_t channels, T* out) const {
    switch (mode_) {
      case Numerics::kTflite:
        return row_in<Numerics::kTflite>(acc, bias, channels, out);
      case Numerics::kSingle:
        return row_in<Numerics::kSingle>(acc, bias, channels, out);
      case Numerics::kFp32:
        return row_in<Numerics::kFp32>(acc, bias, channels, out);
    }
  }
  std::int16_t wide(std::int64_t acc, std::int64_t channel) const {
    const std::int64_t v =
        arch::requantize_int64(acc, multipliers_[static_cast<std::size_t>(channel)]);
    return static_cast<std::int16_t>(arch::clamp_i32(v + zero_point_, range_.min, range_.max));
  }
  std::int32_t one(std::int32_t acc, std::int64_t channel) const {
    const std::int64_t v =
        arch::requantize(acc, multipliers_[static_cast<std::size_t>(channel)], mode_);
    return arch::clamp_i32(v + zero_point_, range_.min, range_.max);
  }

 private:
  template <Numerics kMode, class T>
  void row_in(const std::int32_t* acc, const std::int32_t* bias, std::int64_t channels,
              T* out) const {
    for (std::int64_t i = 0; i < channels; ++i) {
      const auto sum = static_cast<std::int32_t>(static_cast<std::uint32_t>(acc[i]) +
                                                 static_cast<std::uint32_t>(bias ? bias[i] : 0));
      const std::int64_t v =
          arch::requantize(sum, multipliers_[static_cast<std::size_t>(i)], kMode);
      out[i] = static_cast<T>(arch::clamp_i32(v + zero_point_, range_.min, range_.max));
    }
  }

  std::vector<arch::Requant> multipliers_;
  std::int32_t zero_point_;
  arch::ActivationRange range_;
  Numerics mode_;
};

/// The fused activation's range of an output of any quantised type.
arch::ActivationRange output_range(const arch::TensorDesc& out, std::uint8_t activation);

/// Weights of an int8/uint8/int16 layer: int8 (uint8 for uint8), one scale or one per channel of
/// dimension `axis`, and the bias's type and length.
base::Status expect_weights(const OpCall& c, std::size_t weights, std::size_t bias,
                            std::size_t axis);

/// values[i] - zero_point as int16.
std::vector<std::int16_t> widened(const arch::TensorView& view, std::int32_t zero_point);
/// Weights less their per-channel zero points; `channel_of(i)` period: channel = (i / inner) %
/// channels.
std::vector<std::int16_t> widened_weights(const arch::TensorView& view, std::int64_t inner,
                                          std::int64_t channels);

}  // namespace deputy::host_runtime
