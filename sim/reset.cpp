#include "sim/reset.h"

#include <systemc>
#include <vector>

#include "sim/process.h"

namespace sc_core {
extern sc_simcontext* sc_curr_simcontext;
extern sc_simcontext* sc_default_global_context;
}  // namespace sc_core

namespace deputy::sim {
namespace {

void collect(const std::vector<sc_core::sc_object*>& objects, std::vector<sc_core::sc_process_handle>& threads) {
  for (auto* object : objects) {
    sc_core::sc_process_handle handle(object);
    if (handle.valid() && handle.proc_kind() != sc_core::SC_METHOD_PROC_) threads.push_back(handle);
    collect(object->get_child_objects(), threads);
  }
}

}  // namespace

void reset_kernel() {
  delete sc_core::sc_curr_simcontext;
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
