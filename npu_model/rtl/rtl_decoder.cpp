#include "npu_model/rtl/rtl_decoder.h"

#include <algorithm>
#include <cstring>

#include "Vweight_decoder.h"
#include "base/check.h"

namespace deputy::npu_model {

struct RtlDecoder::Impl {
  Vweight_decoder top;

  void clock() {
    top.clk = 0;
    top.eval();
    top.clk = 1;
    top.eval();
  }
};

RtlDecoder::RtlDecoder() : impl_(std::make_unique<Impl>()) {
  impl_->top.rst = 1;
  impl_->clock();
  impl_->clock();
  impl_->top.rst = 0;
}
RtlDecoder::~RtlDecoder() = default;

RtlDecoder::Result RtlDecoder::decode(const arch::LoadWeights& op,
                                      std::span<const std::uint8_t> stream,
                                      std::span<std::uint8_t> spm) {
  constexpr std::size_t kChunk = sizeof(Vweight_decoder::in_data);
  Vweight_decoder& top = impl_->top;
  top.fixed_code = static_cast<std::uint8_t>(op.fixed_code);
  if (!op.fixed_code)
    std::memcpy(&top.code_bytes[0], spm.data() + op.table_addr, arch::kCodeTableBytes);
  top.bytes = op.bytes, top.planes = static_cast<std::uint8_t>(op.planes);
  top.spm_addr = op.spm_addr, top.stream_bytes = op.stream_bytes;
  top.start = 1;
  impl_->clock();
  top.start = 0;
  top.in_valid = 1;
  Result result;
  for (std::size_t at = 0; !top.done;) {
    std::uint8_t chunk[kChunk] = {};
    if (at < stream.size())
      std::memcpy(chunk, stream.data() + at, std::min(kChunk, stream.size() - at));
    std::memcpy(&top.in_data[0], chunk, kChunk);
    top.clk = 0;
    top.eval();
    if (top.in_ready) at += kChunk;
    for (unsigned i = 0; i < 8; ++i) {
      if (!(top.out_en >> i & 1)) continue;
      const std::uint32_t bit = 26 * i;
      const std::uint64_t pair =
          top.out_addr[bit / 32] |
          (bit / 32 + 1 < 7 ? std::uint64_t{top.out_addr[bit / 32 + 1]} << 32 : 0);
      const std::uint64_t addr = pair >> bit % 32 & 0x3FFFFFF;
      DEPUTY_CHECK(addr >= op.spm_addr && addr < std::uint64_t{op.spm_addr} + op.bytes,
                   "the decoder writes elsewhere");
      spm[addr] = static_cast<std::uint8_t>(top.out_data >> (8 * i));
    }
    top.clk = 1;
    top.eval();
    ++result.cycles;
    DEPUTY_CHECK(result.cycles < 64 + 2 * std::uint64_t{op.bytes},
                 "the decoder does not come to an end");
  }
  result.fault = static_cast<arch::CodeFault>(top.fault);
  return result;
}

}  // namespace deputy::npu_model
