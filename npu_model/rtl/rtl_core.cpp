#include "npu_model/rtl/rtl_core.h"

#include <fmt/format.h>

#include "Vnpu.h"
#include "Vnpu___024root.h"
#include "Vnpu_small.h"
#include "Vnpu_small___024root.h"
#include "npu_model/rtl/rtl_model.h"

namespace deputy::npu_model {
namespace {

// The shapes that are built, as npu/CMakeLists.txt gives them to Verilator.
struct Shape {
  const char* name;
  std::int32_t oc_lanes, ic_lanes, pixels, accumulators, spm_bytes, bytes_per_cycle, ew_lanes;
};
constexpr Shape kDefault{"8 x 8 x 2", 8, 8, 2, 2048, 131072, 256, 1};
constexpr Shape kSmall{"4 x 4 x 1", 4, 4, 1, 512, 32768, 64, 2};

bool fits(const Shape& s, const arch::NpuConfig& c) {
  return c.serial.outputs == 0 && s.oc_lanes == c.mac.oc_lanes && s.ic_lanes == c.mac.ic_lanes &&
         s.pixels == c.mac.pixels && c.mac.dw_taps == 1 && s.accumulators == c.mac.accumulators &&
         s.spm_bytes == c.spm.bytes && s.bytes_per_cycle == c.spm.bytes_per_cycle &&
         c.vec.out_lanes == s.oc_lanes && c.vec.pool_lanes == s.oc_lanes &&
         s.ew_lanes == c.vec.ew_lanes;
}

std::string text(const Shape& s) {
  return fmt::format(
      "mac {{oc_lanes: {}, ic_lanes: {}, pixels: {}, dw_taps: 1, accumulators: {}}}, "
      "spm {{bytes: {}, bytes_per_cycle: {}}}, vec {{out_lanes: {}, pool_lanes: {}, ew_lanes: {}}}",
      s.oc_lanes, s.ic_lanes, s.pixels, s.accumulators, s.spm_bytes, s.bytes_per_cycle, s.oc_lanes,
      s.oc_lanes, s.ew_lanes);
}

}  // namespace

std::string rtl_refusal(const arch::NpuConfig& config) {
  if (fits(kDefault, config) || fits(kSmall, config)) return "";
  return fmt::format(
      "the RTL is built for these shapes of an array that is not bit-serial only: {}; {}",
      text(kDefault), text(kSmall));
}

std::unique_ptr<RtlCore> make_rtl_core(const arch::NpuConfig& config) {
  if (fits(kDefault, config)) return std::make_unique<RtlModel<Vnpu>>(config);
  DEPUTY_CHECK(fits(kSmall, config), "there is no RTL of this shape");
  return std::make_unique<RtlModel<Vnpu_small>>(config);
}

}  // namespace deputy::npu_model
