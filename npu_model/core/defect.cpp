#include "npu_model/core/defect.h"

namespace deputy::npu_model {
namespace {

constexpr DefectInfo kDefects[] = {
    {Defect::kNone, "none", "sound silicon"},
    {Defect::kDepthwiseStride2, "dw-stride2",
     "DWCONV with a stride of exactly 2 in either direction inverts the lowest bit of each pixel's "
     "last channel"},
    {Defect::kConvDilation, "conv-dilation",
     "CONV with a dilation of 2 or more in either direction inverts the lowest bit of each pixel's "
     "first channel"},
    {Defect::kMaxPoolWide, "max-pool-wide",
     "POOL max over 5 or more rows inverts the lowest bit of each pixel's first channel"},
    {Defect::kSlowCompute, "slow-compute",
     "every compute instruction, so every tile, takes one cycle longer; its bytes are right"},
};

template <class T>
void invert(const T& op, std::uint32_t channel, std::span<std::uint8_t> spm) {
  for (std::uint64_t y = 0; y < op.ofm_h; ++y)
    for (std::uint64_t x = 0; x < op.ofm_w; ++x)
      spm[op.ofm_addr + y * op.ofm_row_stride + x * op.ofm_px_stride + channel] ^= 1;
}

}  // namespace

std::span<const DefectInfo> defects() { return kDefects; }

std::optional<Defect> defect_from_name(std::string_view name) {
  for (const DefectInfo& info : kDefects)
    if (name == info.name) return info.defect;
  return std::nullopt;
}

std::uint64_t defect_cycles(Defect defect) { return defect == Defect::kSlowCompute ? 1 : 0; }

void apply_defect(Defect defect, const arch::Operation& op, std::span<std::uint8_t> spm) {
  switch (defect) {
    case Defect::kNone:
    case Defect::kSlowCompute:
      return;
    case Defect::kDepthwiseStride2:
      if (const auto* d = std::get_if<arch::Depthwise>(&op);
          d && (d->stride_h == 2 || d->stride_w == 2))
        invert(*d, d->ofm_c - 1, spm);
      return;
    case Defect::kConvDilation:  // sums that stay in the accumulators are not outputs yet
      if (const auto* c = std::get_if<arch::Conv>(&op);
          c && (c->dil_h >= 2 || c->dil_w >= 2) && !c->acc_hold)
        invert(*c, 0, spm);
      return;
    case Defect::kMaxPoolWide:
      if (const auto* p = std::get_if<arch::Pool>(&op);
          p && p->k_h >= 5 && static_cast<arch::PoolMode>(p->mode) == arch::PoolMode::kMax)
        invert(*p, 0, spm);
      return;
  }
}

}  // namespace deputy::npu_model
