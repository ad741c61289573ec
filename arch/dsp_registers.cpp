#include "arch/dsp_registers.h"

namespace deputy::arch {
namespace {
#define DEPUTY_REGISTER_ROW(constant, name, offset, access, reset, mask, doc) \
  {name, offset, Access::access, reset, mask, doc},
constexpr RegisterInfo kDsp[] = {DEPUTY_DSP_REGISTERS(DEPUTY_REGISTER_ROW)};
#undef DEPUTY_REGISTER_ROW
}  // namespace

std::span<const RegisterInfo> dsp_registers() { return kDsp; }

std::string_view dsp_error_text(DspError error) {
  switch (error) {
    case DspError::kNone:
      return "no error";
    case DspError::kBadList:
      return "malformed command list";
    case DspError::kBadCommand:
      return "malformed command";
    case DspError::kRegionBounds:
      return "transfer leaves its region";
    case DspError::kTcmBounds:
      return "transfer leaves the data memory";
    case DspError::kNoRoom:
      return "the program is larger than the program memory";
    case DspError::kBus:
      return "bus error";
    case DspError::kProgram:
      return "the program faulted";
    case DspError::kParity:
      return "parity error in the command list";
    case DspError::kInternal:
      return "the engine's own checks failed";
  }
  return "unknown error";
}

}  // namespace deputy::arch
