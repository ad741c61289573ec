// In place of rtl_core.cpp in a build without Verilator.
#include "base/check.h"
#include "npu_model/rtl/rtl_core.h"

namespace deputy::npu_model {

std::string rtl_refusal(const arch::NpuConfig&) {
  return "this build has no RTL: install Verilator (Debian: verilator), configure and build again";
}

std::unique_ptr<RtlCore> make_rtl_core(const arch::NpuConfig&) {
  DEPUTY_CHECK(false, "this build has no RTL");
}

}  // namespace deputy::npu_model
