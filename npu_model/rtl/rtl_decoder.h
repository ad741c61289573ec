// The weight decoder of the load path as RTL (rtl/weight_decoder).
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "arch/isa.h"
#include "arch/weight_codec.h"

namespace deputy::npu_model {

class RtlDecoder {
 public:
  RtlDecoder();
  ~RtlDecoder();

  struct Result {
    arch::CodeFault fault = arch::CodeFault::kNone;
    std::uint64_t cycles =
        0;  ///< from the start to the last byte, with a stream that is always there
  };
  /// Decodes `stream` into `spm` as `op` says. Writes nothing outside op's output; after a fault it
  /// holds what came before.
  Result decode(const arch::LoadWeights& op, std::span<const std::uint8_t> stream,
                std::span<std::uint8_t> spm);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace deputy::npu_model
