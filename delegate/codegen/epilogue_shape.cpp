#include "delegate/codegen/epilogue_shape.h"

#include "arch/npu_timing.h"

namespace deputy::delegate {
namespace {

constexpr std::int64_t kTableBytes = 256;

template <class T>
double cycles(const T& op, const arch::NpuConfig& npu) {
  return static_cast<double>(arch::compute_cost(op, npu).cycles);
}
std::uint32_t u32(std::int64_t v) { return static_cast<std::uint32_t>(v); }

}  // namespace

std::vector<std::int64_t> epilogue_buffers(const EpilogueShape& s, std::int64_t h, std::int64_t w,
                                           std::int64_t c, std::int64_t channels,
                                           std::int64_t slots, std::int64_t map_slots) {
  const auto n = [](std::int64_t count) { return static_cast<std::size_t>(count); };
  std::vector<std::int64_t> out(n(s.tables), kTableBytes);
  out.insert(out.end(), n(s.vectors), channels);
  out.insert(out.end(), n(s.maps * map_slots), h * w * c);
  if (s.pools()) out.insert(out.end(), n(slots), s.stored_rows(h) * s.stored_columns(w) * c);
  return out;
}

double epilogue_cycles(const EpilogueShape& s, std::int64_t h, std::int64_t w, std::int64_t c,
                       const arch::NpuConfig& npu) {
  double total = 0;
  arch::Eltwise pass;
  pass.ofm_h = u32(h), pass.ofm_w = u32(w), pass.ofm_c = u32(c);
  if (s.passes) total += static_cast<double>(s.passes) * cycles(pass, npu);
  if (!s.pools()) return total;
  arch::Pool pool;
  pool.ofm_h = u32(s.stored_rows(h)), pool.ofm_w = u32(s.stored_columns(w)), pool.ofm_c = u32(c);
  pool.k_h = u32(s.pool_h), pool.k_w = u32(s.pool_w);
  total += cycles(pool, npu);
  pass.ofm_h = pool.ofm_h, pass.ofm_w = pool.ofm_w;
  return total + static_cast<double>(s.pooled_passes) * cycles(pass, npu);
}

}  // namespace deputy::delegate
