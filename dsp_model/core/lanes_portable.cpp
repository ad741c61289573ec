#include <cstring>

#include "dsp_model/core/machine.h"

namespace deputy::dsp_model {
namespace {
using namespace deputy::arch;
#include "dsp_model/core/lanes.inc"
}  // namespace

void add_portable_lanes(HandlerTable& table) { add_lanes(table); }

}  // namespace deputy::dsp_model
