#include "sim/process.h"

namespace deputy::sim {
namespace {
std::uint64_t g_events = 0;  // the SystemC kernel itself is one per process
}
std::uint64_t kernel_events() { return g_events; }
void reset_kernel_events() { g_events = 0; }
void count_kernel_event() { ++g_events; }
}  // namespace deputy::sim
