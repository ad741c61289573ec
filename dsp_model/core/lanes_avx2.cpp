// The lane loops compiled for AVX2. The headers come before the pragma: what they define may be
// shared with files that are compiled for any host.
#include <cstring>

#include "dsp_model/core/machine.h"

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx2")
namespace deputy::dsp_model {
namespace {
using namespace deputy::arch;
#include "dsp_model/core/lanes.inc"
}  // namespace

void add_avx2_lanes(HandlerTable& table) { add_lanes(table); }

}  // namespace deputy::dsp_model
#pragma GCC pop_options
#endif
