#include "sim/reset.h"

#include <systemc>
#include <vector>

#include "sim/process.h"

namespace sc_core {
extern sc_simcontext* sc_curr_simcontext;
extern sc_simcontext* sc_default_global_context;
}  // namespace sc_core

#if defined(__SANITIZE_ADDRESS__)
// libsystemc keeps its pool of timed notifications for ever and, a kernel later, loses sight of it.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:sc_core::sc_event_timed::allocate\n";
}
#endif

namespace deputy::sim {
namespace {

void collect(const std::vector<sc_core::sc_object*>& objects,
             std::vector<sc_core::sc_process_handle>& threads) {
  for (auto* object : objects) {
    sc_core::sc_process_handle handle(object);
    if (handle.valid() && handle.proc_kind() != sc_core::SC_METHOD_PROC_) threads.push_back(handle);
    collect(object->get_child_objects(), threads);
  }
}

}  // namespace

void reset_kernel() {
  // libsystemc's static events belong to the first kernel, and their destructors use it when the
  // process ends: that one must stay.
  static const sc_core::sc_simcontext* const first = sc_core::sc_curr_simcontext;
  if (sc_core::sc_curr_simcontext != first) delete sc_core::sc_curr_simcontext;
  sc_core::sc_curr_simcontext = nullptr;
  sc_core::sc_default_global_context = nullptr;
  reset_kernel_events();
}

void stop_all_threads() {
  std::vector<sc_core::sc_process_handle> threads;
  collect(sc_core::sc_get_top_level_objects(), threads);
  const auto self = sc_core::sc_get_current_process_handle();
  for (auto& thread : threads)
    if (!(thread == self) && !thread.terminated()) thread.kill();
}

}  // namespace deputy::sim
