// A second simulation in one process. SystemC keeps its kernel in a global that a finished
// simulation leaves unusable; Debian's 2.3.4 exports the pointers, so the kernel can be replaced by
// a fresh one.
#pragma once

namespace deputy::sim {

/// Throws away the SystemC kernel. Every module, event and signal must have been destroyed, and
/// every SC_THREAD ended or killed (stop_all_threads), before. The next module built starts a new
/// kernel.
void reset_kernel();

/// From inside an SC_THREAD, last thing before the simulation stops: unwinds every other thread
/// below the top-level objects, so that their locals are destroyed.
void stop_all_threads();

}  // namespace deputy::sim
