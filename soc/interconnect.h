// The interconnect: decodes addresses, arbitrates each memory's channel chunk by chunk, passes
// register accesses to peripherals. A hole in the map answers with an address error.
#pragma once

#include <tlm_utils/multi_passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "sim/fault_injector.h"
#include "sim/time.h"
#include "sim/trace.h"
#include "soc/host_cache.h"
#include "soc/memory.h"
#include "soc/run_record.h"
#include "soc/soc_config.h"

namespace deputy::soc {

class Interconnect : public sc_core::sc_module {
 public:
  Interconnect(sc_core::sc_module_name name, const NocConfig& config);
  ~Interconnect() override;

  /// Initiators bind here, in the order in which add_initiator() named them.
  tlm_utils::multi_passthrough_target_socket<Interconnect> targets;

  void add_initiator(const std::string& name, int priority);
  void add_memory(const std::string& name, Memory& memory);
  /// Planned faults: bus errors by initiator, ECC errors by memory. Null: none.
  void attach(sim::FaultInjector* injector) { faults_.attach(injector); }
  /// Records what each memory moves, at the time of the grant. After the memories are there. Null:
  /// does not.
  void attach(sim::Trace* trace);
  /// The host's cache, which sees what the other initiators do to the memories. Null: it is
  /// coherent with them.
  void attach(HostCache* cache) { cache_ = cache; }
  /// A register block at [base, base + size). Accesses must be one aligned 32-bit word.
  void add_peripheral(std::uint64_t base, std::uint64_t size,
                      tlm_utils::simple_initiator_socket<Interconnect>*& socket);

  /// initiator -> memory -> bytes, counted here.
  std::map<std::string, std::map<std::string, TrafficCount>> traffic() const;
  std::uint64_t bytes() const;

 private:
  struct Waiter {  // an initiator's place in a channel's queue; a thread waits in one place at a
                   // time
    int initiator = 0;
    std::uint64_t order = 0;
    sc_core::sc_event granted{};
  };
  struct Channel {  // one per memory
    std::string name;
    Memory* memory = nullptr;
    std::unique_ptr<tlm_utils::simple_initiator_socket<Interconnect>> socket;
    sc_core::sc_time free_at;
    Waiter* next = nullptr;  ///< chosen among the waiters, woken when the channel is free
    int last_granted = -1;
    int trace_memory = 0;
    std::vector<std::unique_ptr<Waiter>> places;  ///< by initiator
    std::vector<Waiter*> waiters;
    std::vector<TrafficCount> counted;  ///< by initiator
  };
  struct Peripheral {
    std::uint64_t base, size;
    std::unique_ptr<tlm_utils::simple_initiator_socket<Interconnect>> socket;
  };
  struct Initiator {
    std::string name;
    int priority;
    bool host;  ///< its accesses are the cache's own
  };

  void b_transport(int id, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  void to_memory(int id, Channel& channel, tlm::tlm_generic_payload& payload,
                 sc_core::sc_time& delay);
  sc_core::sc_time request_time() const {
    return clock_.cycles(static_cast<std::uint64_t>(config_.latency));
  }
  void acquire(int id, Channel& channel);
  void appoint(Channel& channel);
  Waiter* choose(Channel& channel);

  /// What is planned for this transaction: false when it ends here, with an error.
  bool inject(int id, Channel& channel, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);

  NocConfig config_;
  sim::FaultPoint faults_;
  HostCache* cache_ = nullptr;
  sim::Trace* trace_ = nullptr;
  sim::Clock clock_;
  enum class Policy { kFifo, kPriority, kRoundRobin } policy_;
  std::vector<Initiator> initiators_;
  std::vector<std::unique_ptr<Channel>> channels_;
  std::vector<Peripheral> peripherals_;
  std::uint64_t order_ = 0;
};

}  // namespace deputy::soc
